import { statfs } from 'node:fs/promises';
import { cpus, freemem, totalmem } from 'node:os';
import type { Machine } from '../../../services/contracts/control/overview.ts';
import type { Clock } from '../../../services/contracts/service.ts';

/** Minimum ms between two readings of the processor times, which advance in ticks. */
const minIntervalMs = 1000;

/** Time of all processors since the computer started. */
interface Ticks {
  readonly busy: number;
  readonly all: number;
}

/**
 * Creates a function that returns the free resources of the computer, with the disk of `folder`. Calls within a
 * second share a result, since each reading would shorten the measured interval.
 */
export function createMachineMonitor(
  folder: string,
  clock: Pick<Clock, 'now'>,
  ticks: () => Ticks = processorTicks,
): () => Promise<Machine> {
  let [before, measuredAt] = [ticks(), clock.now()];
  let cpu = 0;
  const getResult = async (): Promise<Machine> => ({
    cpu,
    memory: { total: totalmem(), free: freemem(), own: process.memoryUsage.rss() },
    disk: await readDisk(folder),
  });
  return async () => {
    const now = clock.now();
    // The clock may have been set back.
    if (Math.abs(now - measuredAt) >= minIntervalMs) {
      const next = ticks();
      const all = next.all - before.all;
      // The clock was set forward or the computer resumed from sleep: the interval has too few ticks.
      if (all >= 0 && all < minIntervalMs) return getResult();
      cpu = all < 0 ? 0 : Math.min(1, (next.busy - before.busy) / all);
      [before, measuredAt] = [next, now];
    }
    return getResult();
  };
}

function processorTicks(): Ticks {
  let [busy, all] = [0, 0];
  for (const { times } of cpus()) {
    const { user, nice, sys, irq, idle } = times;
    busy += user + nice + sys + irq;
    all += user + nice + sys + irq + idle;
  }
  return { busy, all };
}

async function readDisk(folder: string): Promise<Machine['disk']> {
  try {
    const { bsize, blocks, bavail } = await statfs(folder);
    return { total: bsize * blocks, free: bsize * bavail };
  } catch {
    // Some network file systems do not report it.
    return null;
  }
}
