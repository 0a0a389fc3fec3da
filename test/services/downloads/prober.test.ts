import { expect, it, vi } from 'vitest';
import type { Context } from '../../../services/contracts/service.ts';
import type { Item } from '../../../services/downloads/domain/item.ts';
import type { Driver } from '../../../services/downloads/engine/driver.ts';
import type { Folders } from '../../../services/downloads/files/folders.ts';
import type { LiveUpdates } from '../../../services/downloads/reporting/live-updates.ts';
import type { DownloadMetrics } from '../../../services/downloads/reporting/metrics.ts';
import type { DownloadNotifier } from '../../../services/downloads/reporting/download-notifier.ts';
import { Prober } from '../../../services/downloads/run/prober.ts';
import { createFakeClock } from '../../support/clock.ts';

it('aborts probes of endless sites, so that others can run', async () => {
  const clock = createFakeClock(0);
  const probed: string[] = [];
  const driver = {
    probe: (item: Item, _folder: string, signal: AbortSignal) => {
      probed.push(item.uid);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    },
  } as unknown as Driver;
  const prober = new Prober({
    context: { clock } as unknown as Context,
    driver,
    folders: { create: (uid: string) => Promise.resolve(uid) } as unknown as Folders,
    reporting: { live: {} as LiveUpdates, metrics: {} as DownloadMetrics, notifier: {} as DownloadNotifier },
  });
  const probes = ['a', 'b', 'c', 'd'].map((uid) => prober.probe({ uid } as Item, new AbortController().signal));
  const ended = Promise.allSettled(probes.slice(0, 3));
  await vi.waitFor(() => expect(probed).toEqual(['a', 'b', 'c']));
  clock.advance(5 * 60_000);
  expect(await ended).toMatchObject(Array(3).fill({ reason: { code: 'downloads.engine_failed' } }));
  await vi.waitFor(() => expect(probed).toContain('d'));
  clock.advance(5 * 60_000);
  await expect(probes[3]).rejects.toMatchObject({ status: 502 });
});
