import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { currentPlatform } from './current-platform.ts';

const execFileAsync = promisify(execFile);
/** PowerShell takes seconds to start on a busy computer. */
const queryTimeoutMs = 15_000;

/** `unknown`: a process with this id runs, but the system does not report when it started. */
export type ProcessState = 'running' | 'ended' | 'unknown';

/**
 * Returns `<pid>/<start time>` of a running process, on Windows with the path of its program, since a pid alone is
 * reused. Undefined when there is no such process, or when the system does not report it.
 */
export async function findProcessIdentity(
  pid: number,
  platform: NodeJS.Platform = currentPlatform,
): Promise<string | undefined> {
  try {
    if (platform === 'linux') return await findByProc(pid);
    return platform === 'win32' ? await findByPowerShell(pid) : await findByPs(pid);
  } catch {
    return undefined; // No such process, or no such tool.
  }
}

/** Returns the state of the process with an identity of {@link findProcessIdentity}. */
export async function findProcessState(
  identity: string,
  platform: NodeJS.Platform = currentPlatform,
): Promise<ProcessState> {
  const pid = Number.parseInt(identity, 10);
  if (!isProcessAlive(pid)) return 'ended';
  const current = await findProcessIdentity(pid, platform);
  // The identity has no start time when PowerShell was not available, or an earlier version stored it.
  if (platform === 'win32' && (current === undefined || /^\d+\/?$/.test(identity))) return 'unknown';
  return current === identity ? 'running' : 'ended';
}

/** Returns whether the process with this identity certainly runs. */
export async function isRunning(identity: string, platform: NodeJS.Platform = currentPlatform): Promise<boolean> {
  return (await findProcessState(identity, platform)) === 'running';
}

/** Returns whether any process has this id at present. */
export function isProcessAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function findByProc(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses and may contain anything; the start time is the 22nd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : `${pid}/${fields[19]}`;
}

/** The form of `lstart` depends on the language and the time zone of the environment. */
async function findByPs(pid: number): Promise<string | undefined> {
  const { stdout } = await execFileAsync('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], {
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
  });
  const [, state = 'Z', startedAt = ''] = /^(\S+)\s+(.+)$/.exec(stdout.trim()) ?? [];
  return state.startsWith('Z') ? undefined : `${pid}/${startedAt}`;
}

async function findByPowerShell(pid: number): Promise<string | undefined> {
  const query =
    `Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}' | ` +
    "ForEach-Object { $_.CreationDate.ToFileTimeUtc().ToString() + '/' + $_.ExecutablePath }";
  const { stdout } = await execFileAsync('powershell', ['-NoProfile', '-NonInteractive', '-Command', query], {
    timeout: queryTimeoutMs,
    windowsHide: true,
  });
  const [, startedAt, path = ''] = /^(\d+)\/(.*)$/m.exec(stdout.trim()) ?? [];
  return startedAt === undefined ? undefined : `${pid}/${startedAt}/${path.trim()}`;
}
