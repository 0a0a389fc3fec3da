import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { adminAuthorization } from '../support/host.ts';
import { startHostProcess } from '../support/host-process.ts';

const headers = { authorization: adminAuthorization };

it('is not ready during the drain time, answers requests, and ends streams and the process afterwards', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'drain-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  await using host = await startHostProcess(dataDir, { environment: { HOMEPORT_DRAIN_TIME: '3' } });
  const [control, push] = [host.url('control'), host.url('push')];
  const stream = await fetch(`${push}/hall/json`, { headers });
  const received: string[] = [];
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) received.push(decoder.decode(chunk));
  })().catch(() => undefined);
  await vi.waitFor(() => expect(received.join('')).toContain('"open"'));
  const exited = once(host.child, 'exit');

  host.child.kill('SIGTERM');
  await vi.waitFor(async () => {
    const ready = await fetch(`${control}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'unavailable', reason: 'draining' }]);
  });
  expect((await fetch(`${control}/health/live`)).status).toBe(200);
  expect((await fetch(`${push}/hall`, { method: 'POST', headers, body: 'still here' })).status).toBe(200);
  await vi.waitFor(() => expect(received.join('')).toContain('still here'));
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const [response] = (await once(get(`${control}/health/live`, { agent }), 'response')) as [{ headers: object }];
  expect(response.headers, 'persistent connections move to other hosts').toMatchObject({ connection: 'close' });

  await ended;
  expect(await exited).toEqual([0, null]);
}, 60_000);
