import { statfs } from 'node:fs/promises';
import { cpus, freemem, totalmem } from 'node:os';
import type { Machine } from '../../../services/contracts/control/api.ts';

interface Ticks {
  readonly busy: number;
  readonly all: number;
}

/** Tells what is left of the machine; `folder`: on whose disk. */
export function machineWatch(folder: string): () => Promise<Machine> {
  let before = ticks();
  return async () => {
    const now = ticks();
    const all = now.all - before.all;
    const cpu = all <= 0 ? 0 : Math.min(1, (now.busy - before.busy) / all);
    before = now;
    return {
      cpu,
      memory: { total: totalmem(), free: freemem(), own: process.memoryUsage.rss() },
      disk: await diskOf(folder),
    };
  };
}

function ticks(): Ticks {
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
