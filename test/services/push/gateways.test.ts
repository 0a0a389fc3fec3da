import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { admin, openRig, type Rig } from './rig.ts';

const notification = (pushkey: unknown) => JSON.stringify({ notification: { devices: [{ pushkey }], counts: {} } });
const topic = 'upABCDEFGHIJKL';

describe('Matrix gateway', () => {
  it('publishes the notification unchanged, rejects foreign keys, and requires write permission', async () => {
    await using rig = await openRig();
    const base = rig.host.url('push');
    const path = '/_matrix/push/v1/notify';
    const post = (body: string, headers = { authorization: admin } as Record<string, string>) =>
      rig.ask('POST', path, headers, body);
    const body = notification(`${base}/${topic}?up=1`);
    expect((await post(body)).text).toBe('{"rejected":[]}\n');
    expect(await rig.poll(`/${topic}/json?poll=1`)).toMatchObject([{ message: body }]);
    for (const key of [`${base}evil.example/x`, `${base}/a/b`, `${base}/`, 'https://x.example/y']) {
      expect(JSON.parse((await post(notification(key))).text)).toEqual({ rejected: [key] });
    }
    for (const wrong of ['', 'no', '{}', '[]', notification(''), notification(7), '{"notification":{"devices":[]}}']) {
      expect(JSON.parse((await post(wrong)).text)).toMatchObject({ code: 40019 });
    }
    expect(JSON.parse((await post(notification('x'.repeat(5000)))).text)).toMatchObject({ code: 41302 });
    expect(JSON.parse((await post(body, {})).text)).toMatchObject({ code: 40301 });
    expect((await rig.ask('DELETE', path)).status).toBe(404);
  });
});

describe('UnifiedPush', () => {
  it('lets visitors publish only to its topics when it is enabled', async () => {
    await using rig = await openRig({ environment: { PUSH_UNIFIED_PUSH: 'true' } });
    expect((await rig.ask('POST', `/${topic}?up=1`, {}, Buffer.from([1, 255]))).status).toBe(200);
    expect(await rig.poll(`/${topic}/json?poll=1`)).toMatchObject([{ message: 'Af8=', encoding: 'base64' }]);
    for (const other of ['up', 'upABCDEFGHIJKLM', 'alerts', 'upABCDEFGH-JKL']) {
      expect((await rig.ask('POST', `/${other}?up=1`, {}, 'x')).status).toBe(403);
    }
    expect((await rig.ask('GET', `/${topic}/json?poll=1`)).status).toBe(403);
  });

  it('truncates text longer than a message', async () => {
    await using rig = await openRig();
    const message = await rig.publish(`/${topic}?up=1`, 'ä'.repeat(5000));
    expect(Buffer.byteLength(message.message)).toBe(4096);
    expect(message).not.toHaveProperty('attachment');
    expect((await rig.publish('/g', ' x '.repeat(3), { 'Content-Encoding': 'aes128gcm' })).message).toBe(' x  x  x ');
  });
});

describe('upstream server', () => {
  it('receives a hash of the topic and the id of each message, also after an outage', async () => {
    const requests: { url: string; id: string; authorization: string | undefined; body: string }[] = [];
    let down = true;
    const upstream = createServer((request: IncomingMessage, response) => {
      const chunks: Buffer[] = [];
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const { authorization, 'x-poll-id': id } = request.headers;
          if (!down)
            requests.push({
              url: request.url ?? '',
              id: String(id),
              authorization,
              body: String(Buffer.concat(chunks)),
            });
          response.writeHead(down ? 503 : 200).end();
          down = false;
        });
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const clock = createFakeClock();
    try {
      await using rig = await openRig({
        clock,
        environment: {
          NTFY_BASE_URL: 'https://push.home.lan',
          NTFY_UPSTREAM_BASE_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
          NTFY_UPSTREAM_ACCESS_TOKEN: 'tk_0123456789abcdefghijklmnopqrs',
        },
      });
      await rig.publish('/phone', 'not cached', { Cache: 'no' });
      const { id } = await rig.publish('/phone', 'secret text');
      await expect.poll(() => down).toBe(false);
      await expect
        .poll(() => {
          clock.advance(10_000);
          return requests;
        })
        .toEqual([
          {
            url: `/${createHash('sha256').update('https://push.home.lan/phone').digest('hex')}`,
            id,
            authorization: 'Bearer tk_0123456789abcdefghijklmnopqrs',
            body: '',
          },
        ]);
    } finally {
      upstream.close();
    }
  });
});

it('is no longer notified after a message expired', async () => {
  const clock = createFakeClock();
  await using rig = await openRig({ clock });
  const short = await rig.publish('/door', 'open', { Expire: '10m' });
  expect(short.expires).toBe(short.time + 600);
  const long = await rig.publish('/door', 'kept', { 'X-Expire': '2 days' });
  expect(long.expires).toBe(long.time + 12 * 3600);
  const { text } = await rig.ask('POST', '/', { authorization: admin }, '{"topic":"door","expire":"1h"}');
  expect(JSON.parse(text).expires).toBe(short.time + 3600);
  clock.advance(601_000);
  expect(await rig.poll('/door/json?poll=1')).toHaveLength(2);
  const wrong = await rig.ask('POST', '/door', { authorization: admin, Expire: 'soon' }, 'x');
  expect(JSON.parse(wrong.text)).toMatchObject({ code: 40000 });
});

describe('template file', () => {
  it('takes precedence over a built-in template and is validated', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'push-templates-'));
    const folder = join(dataDir, 'push', 'templates');
    mkdirSync(folder, { recursive: true });
    try {
      await using rig: Rig = await openRig({ dataDir });
      const publish = async (name: string, body = '{"n":"x","p":"high"}') => {
        const { text } = await rig.ask('POST', `/tpl?template=${name}`, { authorization: admin }, body);
        return JSON.parse(text);
      };
      writeFileSync(
        join(folder, 'mine.yml'),
        "title: 'Hi {{ .n }}'\nmessage: |\n  a\n  {{ .n }}\npriority: '{{ .p }}'\n",
      );
      writeFileSync(join(folder, 'grafana.yml'), 'message: own');
      writeFileSync(join(folder, 'broken.yml'), 'title: [');
      writeFileSync(join(folder, 'wrong.yml'), 'title: {a: 1}');
      expect(await publish('mine')).toMatchObject({ title: 'Hi x', message: 'a\nx', priority: 4 });
      expect(await publish('grafana')).toMatchObject({ message: 'own' });
      expect(await publish('broken')).toMatchObject({ code: 40048 });
      expect(await publish('wrong')).toMatchObject({ code: 40048 });
      expect(await publish('..%2fmine')).toMatchObject({ code: 40047 });
      expect(await publish('mine', '{"n":"x","p":"9"}')).toMatchObject({ code: 40007 });
      expect(await publish('mine', `{"n":"${'x'.repeat(5000)}","p":""}`)).toMatchObject({ code: 40041 });
      expect(await publish('mine', `{"n":"${'x'.repeat(140_000)}"}`)).toMatchObject({ code: 41303 });
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
