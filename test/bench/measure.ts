import { readFileSync } from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns the CPU time of a process, user and system, in seconds. Linux counts in ticks of 10 ms. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Returns the ids of a process and its descendants. */
function listProcessTree(pid: number): readonly number[] {
  const children = readProcFile(pid, `task/${pid}/children`).trim();
  return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => listProcessTree(Number(child))))];
}

/** Reads a file of a process; empty if the process has ended. */
function readProcFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return '';
    throw error;
  }
}

/** Returns the CPU time of a process and its children, including ended ones, in seconds. */
export function treeCpuSeconds(pid: number): number {
  const ticks = listProcessTree(pid).map((each) => {
    const fields = readProcFile(each, 'stat').split(') ')[1]?.split(' ') ?? [];
    return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index] ?? 0), 0);
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

/** Returns the memory of a process and its children in MB (10^6 bytes), with shared pages in proportion. */
export function treeMegabytes(pid: number): number {
  const sizes = listProcessTree(pid).map(
    (each) => /^Pss:\s+(\d+) kB/m.exec(readProcFile(each, 'smaps_rollup'))?.[1] ?? 0,
  );
  return sizes.reduce<number>((sum, size) => sum + Number(size) * 1024, 0) / 1e6;
}

/** Waits until a process and its children are idle, at most ten seconds. */
export async function untilIdle(pid: number): Promise<void> {
  let before = treeCpuSeconds(pid);
  for (let attempt = 0; attempt < 40; attempt += 1) {
    await sleep(250);
    const used = treeCpuSeconds(pid);
    if (used - before < 0.02) return;
    before = used;
  }
}

/** Returns the resident memory of a process in MB (10^6 bytes). */
export function residentMegabytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(line) * 1024) / 1e6;
}

/** Returns the memory of a process in KB (10^3 bytes), with shared pages in proportion. */
export function proportionalKilobytes(pid: number): number {
  const line = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return (Number(line) * 1024) / 1e3;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Runs `work` with a new data folder, which is deleted afterwards. */
export async function inFreshFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
