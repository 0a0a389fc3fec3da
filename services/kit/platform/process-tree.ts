import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

/**
 * Returns `<pid>/<start time>` of a running process, since a pid alone can be reused. Undefined when there is no such
 * process.
 */
export async function findProcessIdentity(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux') {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      // The second field is the program's name in parentheses and may contain anything; the start time is the 22nd.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : `${pid}/${fields[19]}`;
    }
    if (process.platform === 'win32') return isAlive(pid) ? `${pid}/` : undefined;
    const { stdout } = await execFileAsync('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return `${pid}/${stdout.trim()}`;
  } catch {
    return undefined; // No such process.
  }
}

/** Returns whether the process with this identity still runs. */
export async function isRunning(identity: string): Promise<boolean> {
  return (await findProcessIdentity(Number.parseInt(identity, 10))) === identity;
}

/** Sends a signal to a child process and its descendants. Does nothing when the group has ended. */
export function signalGroup(pid: number, signal: 'SIGHUP' | 'SIGINT' | 'SIGKILL' | 'SIGQUIT' | 'SIGTERM'): void {
  if (process.platform === 'win32') {
    // Windows has no process groups; taskkill ends the process tree.
    spawn('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true, stdio: 'ignore' }).on(
      'error',
      () => undefined,
    );
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
