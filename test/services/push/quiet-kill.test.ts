import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PushQuietState } from '../../../services/contracts/push/quiet.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { newBrowser, openPushService } from './push-service.ts';

it('sums up every message it has answered for through kill -9, once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quiet-kill-'));
  await using service = await openPushService();
  const options = { environment: { PUSH_WEB_PUSH_HOSTS: service.origin } };
  const browser = newBrowser(service.origin);
  const answered = new Set<string>();
  const quiet = (base: string, lines: readonly string[]) =>
    api<PushQuietState>(base, '/api/push/quiet', {
      method: 'PUT',
      body: JSON.stringify({ rules: [{ topics: '*', mode: 'normal', quiet: lines }] }),
    });
  try {
    {
      await using host = await startHostProcess(dataDir, options);
      const control = host.url('control');
      const order = { endpoint: browser.endpoint, ...browser.keys, topics: ['kill'] };
      await api(control, '/api/push/browsers', { method: 'PUT', body: JSON.stringify(order) });
      await quiet(control, ['00:00-24:00']);
      const publisher = async (): Promise<void> => {
        for (;;) {
          const request = { method: 'POST', headers: { authorization: adminAuthorization }, body: 'x' };
          const { id } = (await (await fetch(`${host.url('push')}/kill`, request)).json()) as { id: string };
          answered.add(id);
        }
      };
      const publishing = Promise.allSettled(Array.from({ length: 4 }, publisher));
      await expect.poll(() => answered.size, { timeout: 30_000 }).toBeGreaterThan(100);
      await host.kill();
      await publishing;
    }
    let held: number;
    {
      await using host = await startHostProcess(dataDir, options);
      const state = await api<PushQuietState>(host.url('control'), '/api/push/quiet');
      held = state.held[0]?.messages ?? 0;
      // What was committed and not answered any more counts too.
      expect(held).toBeGreaterThanOrEqual(answered.size);
      expect(held).toBeLessThanOrEqual(answered.size + 4);
      expect(service.received).toEqual([]);
      await quiet(host.url('control'), []);
      await host.kill();
    }
    await using host = await startHostProcess(dataDir, options);
    await expect.poll(() => service.received.length, { timeout: 30_000 }).toBeGreaterThan(0);
    // A delivery that the kill cut off may come again; what it says is the same.
    const told = new Set(service.received.map((each) => browser.open(each).message.message as string));
    expect([...told]).toEqual([`kill ${String(held)}`]);
    expect((await api<PushQuietState>(host.url('control'), '/api/push/quiet')).held).toEqual([]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 120_000);
