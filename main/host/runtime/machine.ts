import { statfs } from 'node:fs/promises';
import { cpus, freemem, totalmem } from 'node:os';
import type { Machine } from '../../../services/contracts/control/overview.ts';
import type { Clock } from '../../../services/contracts/service.ts';

/** ms between two looks at the processors; within less there may be no tick at all. */
const shortest = 1000;

/** Time of all processors since the machine started. */
interface Ticks {
  readonly busy: number;
  readonly all: number;
}

/**
 * Tells what is left of the machine; `folder`: on whose disk. Whoever asks within a second is told the same: each question would
 * otherwise shorten the time that the next one measures.
 */
export function machineWatch(
  folder: string,
  clock: Pick<Clock, 'now'>,
  ticks: () => Ticks = processorTicks,
): () => Promise<Machine> {
  let [before, at] = [ticks(), clock.now()];
  let cpu = 0;
  const told = async (): Promise<Machine> => ({
    cpu,
    memory: { total: totalmem(), free: freemem(), own: process.memoryUsage.rss() },
    disk: await diskOf(folder),
  });
  return async () => {
    const now = clock.now();
    // The clock may have been put back.
    if (Math.abs(now - at) >= shortest) {
      const next = ticks();
      const all = next.all - before.all;
      // The clock may have been put on, or the machine have slept: of a few ticks nothing can be told.
      if (all >= 0 && all < shortest) return told();
      cpu = all < 0 ? 0 : Math.min(1, (next.busy - before.busy) / all);
      [before, at] = [next, now];
    }
    return told();
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

async function diskOf(folder: string): Promise<Machine['disk']> {
  try {
    const { bsize, blocks, bavail } = await statfs(folder);
    return { total: bsize * blocks, free: bsize * bavail };
  } catch {
    // Some network file systems do not tell; then nothing is shown.
    return null;
  }
}
