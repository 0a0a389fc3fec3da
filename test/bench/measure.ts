import { readFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** CPU time a process has used, user and system, in seconds. Linux counts in ticks of 10 ms. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Process ids of a process and all that descend from it. */
function listProcessTree(pid: number): readonly number[] {
  const children = readProcFile(pid, `task/${pid}/children`).trim();
  return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => listProcessTree(Number(child))))];
}

/** A file about a process; empty for one that ended meanwhile. */
function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return '';
    throw error;
  }
}

/** CPU time of a process and its children, those that ended included, in seconds. */
export function treeCpuSeconds(pid: number): number {
  const ticks = listProcessTree(pid).map((each) => {
    const fields = readProcFile(each, 'stat').split(') ')[1]?.split(' ') ?? [];
    return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

/** Memory of a process and its children in MB (10^6 bytes), shared pages in proportion. */
export function treeMegabytes(pid: number): number {
  const sizes = listProcessTree(pid).map(
    (each) => /^Pss:\s+(\d+) kB/m.exec(readProcFile(each, 'smaps_rollup'))?.[1] ?? 0,
  );
  return sizes.reduce<number>((sum, size) => sum + Number(size) * 1024, 0) / 1e6;
}

/** Waits until a process and its children have done what they do behind their answers; ten seconds at most. */
export async function untilIdle(pid: number): Promise<void> {
  let before = treeCpuSeconds(pid);
  for (let look = 0; look < 40; look += 1) {
    await sleep(250);
    const used = treeCpuSeconds(pid);
    if (used - before < 0.02) return;
    before = used;
  }
}

/** Resident memory of a process in MB (10^6 bytes). */
export function residentMegabytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(line) * 1024) / 1e6;
}

/** Memory of a process in KB (10^3 bytes), pages that it shares with others in proportion. */
export function proportionalKilobytes(pid: number): number {
  const line = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return (Number(line) * 1024) / 1e3;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A fresh data folder for the time of `work`. */
export async function inFreshFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
