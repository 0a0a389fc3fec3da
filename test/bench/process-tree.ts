import { readdirSync, readFileSync } from 'node:fs';
import { proportionalKilobytes } from './measure.ts';

/** Returns a process and all its running descendants. */
function tree(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = Number(readStat(name)[1]);
    if (/^\d+$/.test(name) && parent > 0) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  // The list grows during the iteration.
  const pids = [root];
  for (const pid of pids) pids.push(...(children.get(pid) ?? []));
  return pids;
}

/** Returns the CPU time of a process tree in seconds, including ended processes that were waited for. */
export function treeCpuSeconds(root: number): number {
  const ticks = tree(root).flatMap((pid) => readStat(String(pid)).slice(11, 15));
  return ticks.reduce((sum, each) => sum + Number(each), 0) / 100;
}

/** Returns the CPU time of the ended children of this process, in seconds. */
export function endedChildrenCpuSeconds(): number {
  const [user = 0, system = 0] = readStat('self').slice(13, 15);
  return (Number(user) + Number(system)) / 100;
}

/** Returns the memory of a process tree in MB (10^6 bytes), with shared pages in proportion. */
export function treeMegabytes(root: number): number {
  return tree(root).reduce((sum, pid) => sum + proportionalKilobytes(pid), 0) / 1000;
}

/** Returns the fields from the third on: state, parent, … Empty for an ended process. */
function readStat(name: string): readonly string[] {
  try {
    return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
}
