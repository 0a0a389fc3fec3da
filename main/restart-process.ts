import * as m from '#messages/command-line';
import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { currentPlatform } from '../services/kit/platform/current-platform.ts';
import { isProcessAlive } from '../services/kit/platform/process-identity.ts';

/** Exit code that requests a restart from the parent process, like EX_TEMPFAIL of sysexits. */
const restartExitCode = 75;
/** Variable with the pid of the process that the new instance replaces. */
const predecessorVariable = 'HOMEPORT_PREDECESSOR';
const predecessorTimeoutMs = 10_000;
const pollIntervalMs = 50;

/**
 * Replaces this process by a new instance of the program with the same arguments and output, so that no running work
 * remains. Windows cannot replace a process: there the new instance gets another process id, and waits for the end of
 * this one. Electron's process exits, and the desktop app restarts it.
 */
export function restartProcess(reason: string, platform: NodeJS.Platform = currentPlatform): never {
  const text = platform === 'win32' ? m.restartingInBackground({ reason }) : m.restarting({ reason });
  process.stderr.write(`${text}\n`);
  if ('electron' in process.versions) process.exit(restartExitCode);
  const args = [...process.execArgv, ...process.argv.slice(1)];
  if (platform !== 'win32') process.execve?.(process.execPath, [process.execPath, ...args], process.env);
  process.exit(startSuccessor(args) ? 0 : restartExitCode);
}

/** Waits until the process that this one replaces has ended and released its data folder and ports. */
export async function waitForPredecessor(environment: NodeJS.ProcessEnv = process.env): Promise<void> {
  const pid = Number(environment[predecessorVariable]);
  delete environment[predecessorVariable];
  const deadline = performance.now() + predecessorTimeoutMs;
  while (isProcessAlive(pid) && performance.now() < deadline) await setTimeout(pollIntervalMs);
}

/** Starts a process that outlives this one; returns false when it does not start. */
function startSuccessor(args: readonly string[]): boolean {
  // An instance that npm started ends with its parent; the new one has no such parent.
  const { npm_lifecycle_event: _event, ...environment } = process.env;
  const child = spawn(process.execPath, args, {
    env: { ...environment, [predecessorVariable]: String(process.pid) },
    // Otherwise Windows ends it together with this process.
    detached: true,
    stdio: 'inherit',
    windowsHide: true,
  });
  child.unref();
  return child.pid !== undefined;
}
