import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer as createHttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';

const headers = { authorization: adminAuthorization };
const delaySeconds = 14;

/** Browser push service that counts received messages. */
async function openPushVendor() {
  const names: string[] = [];
  const server = createHttpServer((request, response) => {
    names.push(String(request.headers['topic']));
    request.resume();
    response.writeHead(201).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { names, address: `http://127.0.0.1:${String(port)}`, [Symbol.dispose]: () => server.close() };
}

it('keeps files, delayed messages, sequences and web push across kill -9', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'push-kill-'));
  using vendor = await openPushVendor();
  const environment = { PUSH_WEB_PUSH_HOSTS: JSON.stringify([vendor.address]), NTFY_BASE_URL: 'https://push.example' };
  const body = new Uint8Array(200_000).fill(102);
  const acknowledged = { files: [] as any[], planned: new Map<string, any>(), plain: [] as any[] };
  const startedAt = Date.now();
  try {
    {
      await using host = await startHostProcess(dataDir, { environment });
      const base = host.url('push');
      const browser = createECDH('prime256v1');
      const order = {
        endpoint: `${vendor.address}/send/1`,
        auth: randomBytes(16).toString('base64url'),
        p256dh: browser.generateKeys().toString('base64url'),
        topics: ['plain'],
      };
      const subscribed = await fetch(`${base}/v1/webpush`, { method: 'POST', headers, body: JSON.stringify(order) });
      expect(await subscribed.text()).toContain('success');

      const sendRequest = async (
        path: string,
        overrides: Record<string, string>,
        content: string | Uint8Array<ArrayBuffer>,
      ): Promise<any> =>
        (
          await fetch(`${base}${path}`, { method: 'POST', headers: { ...headers, ...overrides }, body: content })
        ).json();
      const repeatUntilKilled = async (work: (index: number) => Promise<void>): Promise<void> => {
        for (let index = 0; ; index += 1) await work(index);
      };
      const working = Promise.allSettled([
        repeatUntilKilled(
          async () => void acknowledged.files.push(await sendRequest('/files', { filename: 'a.bin' }, body)),
        ),
        repeatUntilKilled(async (index) => {
          // Each one replaces the previous one.
          const message = await sendRequest('/planned/one', { in: `${String(delaySeconds)}s` }, `p${String(index)}`);
          acknowledged.planned.set('one', message);
        }),
        repeatUntilKilled(async (index) => {
          const name = `s${String(index)}`;
          acknowledged.planned.set(
            name,
            await sendRequest(`/planned/${name}`, { in: `${String(delaySeconds)}s` }, name),
          );
        }),
        repeatUntilKilled(
          async (index) => void acknowledged.plain.push(await sendRequest('/plain', {}, `w${String(index)}`)),
        ),
      ]);
      await expect.poll(() => acknowledged.files.length, { timeout: 20_000 }).toBeGreaterThan(10);
      await host.kill();
      await working;
    }
    await using host = await startHostProcess(dataDir, { environment });
    const base = host.url('push');
    const poll = async (topic: string): Promise<any[]> =>
      (await (await fetch(`${base}/${topic}/json?poll=1`, { headers })).text())
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));

    const files = await poll('files');
    for (const { id, attachment } of acknowledged.files) {
      expect(files.filter((entry) => entry.id === id)).toHaveLength(1);
      const file = await fetch(`${base}${new URL(String(attachment.url)).pathname}`);
      expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.from(body))).toBe(true);
    }
    // At most the upload in progress has no message; it is deleted after an hour.
    expect(listStored(dataDir).length - files.length).toBeLessThanOrEqual(1);

    const polled = await poll('plain');
    for (const { id } of acknowledged.plain) expect(polled.filter((entry) => entry.id === id)).toHaveLength(1);
    // A delivery may have been sent before the kill and again afterwards, under the same name.
    await expect.poll(() => new Set(vendor.names).size, { timeout: 30_000 }).toBe(polled.length);
    expect(vendor.names.length - polled.length).toBeLessThanOrEqual(8);

    await expect
      .poll(async () => (await poll('planned')).length, { timeout: 40_000 })
      .toBeGreaterThanOrEqual(acknowledged.planned.size);
    const planned = await poll('planned');
    expect(new Set(planned.map(({ id }) => id)).size).toBe(planned.length);
    for (const [name, { id }] of acknowledged.planned) {
      const matching = planned.filter((entry) => entry.sequence_id === name);
      expect(matching, name).toHaveLength(1);
      // The last unanswered message may have replaced it.
      if (name !== 'one') expect(matching[0].id).toBe(id);
    }
    for (const { time } of planned) expect(time * 1000).toBeGreaterThan(startedAt + (delaySeconds - 1) * 1000);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 120_000);

function listStored(dataDir: string): readonly string[] {
  return readdirSync(join(dataDir, 'push', 'attachments')).filter((name) => !name.startsWith('.'));
}
