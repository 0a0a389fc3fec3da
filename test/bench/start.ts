import { setTimeout as sleep } from 'node:timers/promises';
import { startHostProcess } from '../support/host-process.ts';
import { cpuSeconds, inFreshFolder, percentile, residentMegabytes } from './measure.ts';
import type { BenchOptions } from './run.ts';

/** Measures the start and the idle memory of the real program with all services, each round on the same data folder. */
export function benchStart({ quick, print }: BenchOptions): Promise<void> {
  const rounds = quick ? 2 : 5;
  const idleMs = quick ? 6000 : 15_000;
  return inFreshFolder(async (folder) => {
    const cpu: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await using host = await startHostProcess(folder);
      cpu.push(cpuSeconds(host.child.pid ?? 0));
      await host.stop();
    }
    print({
      what: 'host opens with all services ready (CPU, median)',
      measured: percentile(cpu, 0.5),
      unit: 's',
      goal: { at: 'most', value: 1 },
    });
    await using host = await startHostProcess(folder);
    const pid = host.child.pid ?? 0;
    await sleep(idleMs);
    const before = cpuSeconds(pid);
    await sleep(idleMs);
    const idleCpu = (cpuSeconds(pid) - before) / (idleMs / 1000);
    print(
      { what: 'idle host (resident)', measured: residentMegabytes(pid), unit: 'MB', goal: { at: 'most', value: 130 } },
      { what: 'idle host (share of one core)', measured: idleCpu * 100, unit: '%' },
    );
  });
}
