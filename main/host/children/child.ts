import * as m from '#messages/host-problems';
import { spawn, type ChildProcessWithoutNullStreams, type SpawnOptionsWithoutStdio } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { ChildExit, ChildOptions, RunningChild } from '../../../services/contracts/children.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import { buildCleanEnvironment } from '../../../services/kit/clean-environment.ts';
import { findProcessIdentity } from '../../../services/kit/platform/process-identity.ts';
import {
  childrenEndWithParent,
  hasProcessGroups,
  killRemainingTree,
  signalTree,
  type TreeSignal,
} from '../../../services/kit/platform/process-tree.ts';
import type { Orphans } from './orphans.ts';

const defaultStop = { signal: 'SIGTERM', graceMs: 5000 } as const;

interface StartOptions {
  readonly clock: Clock;
  readonly orphans: Orphans;
  /** Called once the program and its descendants have ended. */
  readonly ended: () => void;
  readonly platform: NodeJS.Platform;
}

/** See `Children.start`. */
export async function startChild(
  order: ChildOptions,
  { clock, orphans, ended, platform }: StartOptions,
): Promise<RunningChild> {
  order.signal?.throwIfAborted();
  const process_ = spawnFor(order, platform);
  const pid = await spawned(process_, order);
  const exited = toExit(process_, pid, platform).finally(() => {
    orphans.forget(pid);
    order.signal?.removeEventListener('abort', abort);
    ended();
  });
  // The `exited` promise reports a program that ends during a write.
  process_.stdin.on('error', () => undefined);
  const child = new Child(pid, { process: process_, exited, stop: order.stop ?? defaultStop, clock, platform });
  const abort = (): void => void child.stop();
  order.signal?.addEventListener('abort', abort, { once: true });
  if (order.signal?.aborted === true) abort();
  if (order.shortLived !== true && !childrenEndWithParent(platform)) {
    // Without a reader, Node would discard the output of a program that ends before the first read.
    using _held = bufferOutput(process_);
    const identity = await findProcessIdentity(pid, platform);
    if (identity !== undefined && !child.hasEnded) orphans.record(pid, identity);
  }
  return child;
}

interface ChildParts {
  readonly process: ChildProcessWithoutNullStreams;
  readonly exited: Promise<ChildExit>;
  readonly stop: NonNullable<ChildOptions['stop']>;
  readonly clock: Clock;
  readonly platform: NodeJS.Platform;
}

class Child implements RunningChild {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  readonly #parts: ChildParts;
  readonly #process: ChildProcessWithoutNullStreams;
  #stopping: Promise<ChildExit> | undefined;
  hasEnded = false;

  constructor(pid: number, parts: ChildParts) {
    this.pid = pid;
    this.#parts = parts;
    this.#process = parts.process;
    this.exited = parts.exited.finally(() => (this.hasEnded = true));
  }

  get stdin() {
    return this.#process.stdin;
  }

  get stdout() {
    return this.#process.stdout;
  }

  get stderr() {
    return this.#process.stderr;
  }

  kill(signal: 'SIGHUP' | 'SIGINT' | 'SIGKILL' | 'SIGTERM'): void {
    this.#signal(signal);
  }

  stop(): Promise<ChildExit> {
    return (this.#stopping ??= this.#end());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #end(): Promise<ChildExit> {
    if (this.hasEnded) return await this.exited;
    const { stop, clock } = this.#parts;
    this.#signal(stop.signal);
    // Unread output must not delay the end of the streams.
    this.#process.stdout.resume();
    this.#process.stderr.resume();
    using _late = clock.after(stop.graceMs, () => this.#signal('SIGKILL'));
    return await this.exited;
  }

  /** The pid of a process that has exited may belong to another one, also while its streams are still open. */
  #signal(signal: TreeSignal): void {
    const { exitCode, signalCode } = this.#process;
    if (exitCode === null && signalCode === null) signalTree(this.pid, signal, this.#parts.platform);
  }
}

function spawnFor(
  { file, args, environment, folder, user, inheritedFolder }: ChildOptions,
  platform: NodeJS.Platform,
): ChildProcessWithoutNullStreams {
  const options: SpawnOptionsWithoutStdio = {
    env: buildCleanEnvironment(environment),
    ...(folder === undefined ? {} : { cwd: folder }),
    ...user,
    detached: hasProcessGroups(platform),
    windowsHide: true,
  };
  if (inheritedFolder === undefined) return spawn(file, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
  const descriptor = openSync(inheritedFolder, 'r');
  try {
    const stdio = ['pipe', 'pipe', 'pipe', descriptor] as const;
    return spawn(file, args, { ...options, stdio: [...stdio] }) as ChildProcessWithoutNullStreams;
  } finally {
    closeSync(descriptor);
  }
}

/** Buffers the output until it is read; a listener for `readable` makes Node wait. */
function bufferOutput({ stdout, stderr }: ChildProcessWithoutNullStreams): Disposable {
  const wait = (): undefined => undefined;
  for (const stream of [stdout, stderr]) stream.on('readable', wait);
  return {
    [Symbol.dispose]: () => {
      for (const stream of [stdout, stderr]) stream.off('readable', wait);
    },
  };
}

async function spawned(process_: ChildProcessWithoutNullStreams, { name, file }: ChildOptions): Promise<number> {
  try {
    await once(process_, 'spawn');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const format = isMissing ? m.programNotFound : m.programNotStarted;
    throw new Problem('child.missing', 503, () => format({ name, file }), { cause: error });
  }
  if (process_.pid === undefined) throw new Problem('child.missing', 503, () => m.programNotStarted({ name, file }));
  return process_.pid;
}

/** Ends the remaining descendants with their parent; they could keep the streams open. */
function toExit(process_: ChildProcessWithoutNullStreams, pid: number, platform: NodeJS.Platform): Promise<ChildExit> {
  return new Promise((resolve) => {
    process_.once('exit', () => killRemainingTree(pid, platform));
    process_.once('close', (code, signal) => resolve({ code, signal }));
  });
}
