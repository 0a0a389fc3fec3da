import type { ChildProcess } from 'node:child_process';

const processIds = new Set<number>();

/**
 * Registers a forked process of this program until it ends. Listeners that trust programs on this computer
 * do not count it as one of them.
 */
export function registerForkedProcess(child: ChildProcess): void {
  const { pid } = child;
  // A process that could not be started has no ID.
  if (pid === undefined) return;
  processIds.add(pid);
  child.once('exit', () => processIds.delete(pid));
}

/** Returns the IDs of the forked processes that are running. */
export function getForkedProcessIds(): ReadonlySet<number> {
  return processIds;
}
