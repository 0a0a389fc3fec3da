import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PushQuietState } from '../../../services/contracts/push/quiet.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { newBrowser, openPushService } from './push-service.ts';

it('includes every acknowledged message once in the digest across kill -9', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quiet-kill-'));
  await using service = await openPushService();
  const options = { environment: { PUSH_WEB_PUSH_HOSTS: service.origin } };
  const browser = newBrowser(service.origin);
  const acknowledged = new Set<string>();
  const setQuietHours = (base: string, lines: readonly string[]) =>
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
      await setQuietHours(control, ['00:00-24:00']);
      const publisher = async (): Promise<void> => {
        for (;;) {
          const request = { method: 'POST', headers: { authorization: adminAuthorization }, body: 'x' };
          const { id } = (await (await fetch(`${host.url('push')}/kill`, request)).json()) as { id: string };
          acknowledged.add(id);
        }
      };
      const publishing = Promise.allSettled(Array.from({ length: 4 }, publisher));
      await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThan(100);
      await host.kill();
      await publishing;
    }
    let heldCount: number;
    {
      await using host = await startHostProcess(dataDir, options);
      const state = await api<PushQuietState>(host.url('control'), '/api/push/quiet');
      heldCount = state.held[0]?.messages ?? 0;
      // Messages that were committed but not acknowledged count, too.
      expect(heldCount).toBeGreaterThanOrEqual(acknowledged.size);
      expect(heldCount).toBeLessThanOrEqual(acknowledged.size + 4);
      expect(service.received).toEqual([]);
      await setQuietHours(host.url('control'), []);
      await host.kill();
    }
    await using host = await startHostProcess(dataDir, options);
    await expect.poll(() => service.received.length, { timeout: 30_000 }).toBeGreaterThan(0);
    // A delivery interrupted by the kill may be repeated with the same text.
    const texts = new Set(service.received.map((entry) => browser.open(entry).message.message as string));
    expect([...texts]).toEqual([`kill ${String(heldCount)}`]);
    expect((await api<PushQuietState>(host.url('control'), '/api/push/quiet')).held).toEqual([]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 120_000);
