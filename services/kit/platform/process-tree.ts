import { spawn } from 'node:child_process';
import { currentPlatform } from './current-platform.ts';

/** Signals that a process tree can receive. */
export type TreeSignal = 'SIGHUP' | 'SIGINT' | 'SIGKILL' | 'SIGQUIT' | 'SIGTERM';

/**
 * Returns whether a child can lead a process group, which receives signals with all descendants; the value of
 * `detached` of `spawn`. On Windows `detached` opens a console window instead.
 */
export function hasProcessGroups(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform !== 'win32';
}

/** Returns whether a program can close in order when it receives a signal. On Windows, every signal ends it at once. */
export function hasSignals(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform !== 'win32';
}

/**
 * Returns whether the system ends children together with their parent. On Windows libuv assigns them to a job object
 * that ends with the process that created it, so they need no record for the time after a crash.
 */
export function childrenEndWithParent(platform: NodeJS.Platform = currentPlatform): boolean {
  return platform === 'win32';
}

/**
 * Sends a signal to a child and its descendants; on Windows, which has no signals, it ends them. The child must still
 * run: Windows reuses process ids immediately, and the id of an ended child may belong to another program.
 */
export function signalTree(pid: number, signal: TreeSignal, platform: NodeJS.Platform = currentPlatform): void {
  if (hasProcessGroups(platform)) return signalGroup(pid, signal);
  const options = { windowsHide: true, stdio: 'ignore' } as const;
  // A failure shows as a child that continues to run.
  spawn('taskkill', ['/PID', String(pid), '/T', '/F'], options).on('error', () => undefined);
}

/**
 * Kills the descendants of a child that has ended. The id of a process group is not reused while the group has
 * members; Windows has no groups, and nothing is ended there.
 */
export function killRemainingTree(pid: number, platform: NodeJS.Platform = currentPlatform): void {
  if (hasProcessGroups(platform)) signalGroup(pid, 'SIGKILL');
}

/** ESRCH: the group has ended. macOS reports EPERM for a group in which only zombies remain. */
function signalGroup(pid: number, signal: TreeSignal): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
