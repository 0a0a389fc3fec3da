import { spawn } from 'node:child_process';
import { readLines } from '../../kit/lines.ts';
import type { Clock } from '../../contracts/service.ts';
import { buildCleanEnvironment } from '../../kit/clean-environment.ts';
import { findProcessIdentity, signalGroup } from '../../kit/process-group.ts';
import type { Proxies } from './network-policy.ts';

export interface RunOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Ends it as Ctrl-C would: a recording is brought to an end that can be played. */
  readonly interrupt?: AbortSignal | undefined;
  /** One whole line, decoded, without its end. A line too long to be kept is left out. */
  readonly onLine: (line: string, from: 'stdout' | 'stderr') => void;
  /** In place of the proxies that the environment names, and of what it excepts from them. */
  readonly proxies?: Proxies | undefined;
  /** Called with the child's identity as soon as it runs; a rejection stops the child. */
  readonly onStart?: (identity: string) => Promise<void>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It ended with the worker that ran it, through no fault of its own. */
  readonly lost?: true;
}

/** From SIGTERM to SIGKILL. */
export const patienceMs = 5000;
/** From SIGINT to SIGKILL: ffmpeg closes its file. */
export const closingMs = 15_000;

/**
 * Runs a program in a process group of its own and reads its lines. An abort ends the whole group: what the program
 * started (ffmpeg on a live stream) would otherwise go on for ever. Resolves after the last line.
 */
export async function runLines(file: string, args: readonly string[], options: RunOptions): Promise<Exit> {
  options.signal.throwIfAborted();
  const child = spawn(file, args, {
    env: environment(options.proxies),
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const { pid } = child;
  if (pid === undefined) return await exited;

  let killing: Disposable | undefined;
  const stop = (): void => {
    signalGroup(pid, 'SIGTERM');
    killing ??= options.clock.after(patienceMs, () => signalGroup(pid, 'SIGKILL'));
  };
  const interrupt = (): void => {
    signalGroup(pid, 'SIGINT');
    killing ??= options.clock.after(closingMs, () => signalGroup(pid, 'SIGKILL'));
  };
  options.signal.addEventListener('abort', stop, { once: true });
  options.interrupt?.addEventListener('abort', interrupt, { once: true });
  readLines(child.stdout, (line) => options.onLine(line, 'stdout'));
  readLines(child.stderr, (line) => options.onLine(line, 'stderr'));
  try {
    if (options.onStart !== undefined) {
      const identity = await findProcessIdentity(pid);
      if (identity !== undefined) {
        await options.onStart(identity).catch(async (error: unknown) => {
          stop();
          await exited;
          throw error;
        });
      }
    }
    return await exited;
  } finally {
    options.signal.removeEventListener('abort', stop);
    options.interrupt?.removeEventListener('abort', interrupt);
    killing?.[Symbol.dispose]();
    // The leader is gone; whatever it left behind goes too.
    signalGroup(pid, 'SIGKILL');
  }
}

const proxyNames = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];

/** What the extractor needs of our environment; with `proxies` these alone lead out. */
function environment(proxies: Proxies | undefined): Record<string, string> {
  const clean = buildCleanEnvironment({ PYTHONIOENCODING: 'utf-8', PYTHONUTF8: '1', PYTHONUNBUFFERED: '1' });
  if (proxies === undefined) return clean;
  const kept = Object.entries(clean).filter(([name]) => !proxyNames.includes(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...proxies };
}
