import { spawn } from 'node:child_process';
import { readLines } from '../../kit/lines.ts';
import type { Clock } from '../../contracts/service.ts';
import { buildCleanEnvironment } from '../../kit/clean-environment.ts';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { findProcessIdentity } from '../../kit/platform/process-identity.ts';
import {
  childrenEndWithParent,
  hasProcessGroups,
  killRemainingTree,
  signalTree,
  type TreeSignal,
} from '../../kit/platform/process-tree.ts';
import type { Proxies } from './network-policy.ts';

export interface RunOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Ends the process as Ctrl-C does, so that a recording is completed and playable. */
  readonly interrupt?: AbortSignal | undefined;
  /** Called with each decoded line without its line break. Lines that are too long are omitted. */
  readonly onLine: (line: string, from: 'stdout' | 'stderr') => void;
  /** Replaces the proxies of the environment and their exceptions. */
  readonly proxies?: Proxies | undefined;
  /**
   * Called with the child's identity after its start; a rejection stops the child. Not called where the system ends
   * children with their parent.
   */
  readonly onStart?: (identity: string) => Promise<void>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** True when the worker of the command ended. */
  readonly isWorkerLost?: true;
}

/** Time from SIGTERM to SIGKILL. */
export const termTimeoutMs = 5000;
/** Time from SIGINT to SIGKILL, in which ffmpeg closes its file. */
export const interruptTimeoutMs = 15_000;

/**
 * Runs a program and reads its lines. An abort ends it with the programs that it started (ffmpeg on a live stream).
 * Resolves after the last line.
 */
export async function runLines(
  file: string,
  args: readonly string[],
  options: RunOptions,
  platform: NodeJS.Platform = currentPlatform,
): Promise<Exit> {
  options.signal.throwIfAborted();
  const child = spawn(file, args, {
    env: buildEnvironment(options.proxies),
    detached: hasProcessGroups(platform),
    windowsHide: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const { pid } = child;
  if (pid === undefined) return await exited;

  let killTimer: Disposable | undefined;
  const end = (signal: TreeSignal, timeoutMs: number): void => {
    // The pid of a child that has exited may belong to another program, also while its output is still read.
    const signalRunning = (each: TreeSignal): void => {
      if (child.exitCode === null && child.signalCode === null) signalTree(pid, each, platform);
    };
    signalRunning(signal);
    killTimer ??= options.clock.after(timeoutMs, () => signalRunning('SIGKILL'));
  };
  const stop = (): void => end('SIGTERM', termTimeoutMs);
  const interrupt = (): void => end('SIGINT', interruptTimeoutMs);
  options.signal.addEventListener('abort', stop, { once: true });
  options.interrupt?.addEventListener('abort', interrupt, { once: true });
  readLines(child.stdout, (line) => options.onLine(line, 'stdout'));
  readLines(child.stderr, (line) => options.onLine(line, 'stderr'));
  try {
    if (options.onStart !== undefined && !childrenEndWithParent(platform)) {
      const identity = await findProcessIdentity(pid, platform);
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
    killTimer?.[Symbol.dispose]();
    killRemainingTree(pid, platform);
  }
}

const proxyNames = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'];

/** Builds the environment of the extractor; `proxies` replaces all other proxies. */
function buildEnvironment(proxies: Proxies | undefined): Record<string, string> {
  const cleanEnvironment = buildCleanEnvironment({ PYTHONIOENCODING: 'utf-8', PYTHONUTF8: '1', PYTHONUNBUFFERED: '1' });
  if (proxies === undefined) return cleanEnvironment;
  const withoutProxies = Object.entries(cleanEnvironment).filter(([name]) => !proxyNames.includes(name.toLowerCase()));
  return { ...Object.fromEntries(withoutProxies), ...proxies };
}
