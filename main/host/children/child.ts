import { spawn, type ChildProcessWithoutNullStreams, type SpawnOptionsWithoutStdio } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { ChildExit, ChildOptions, RunningChild } from '../../../services/contracts/children.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import { buildCleanEnvironment } from '../../../services/kit/clean-environment.ts';
import { findProcessIdentity, signalGroup } from '../../../services/kit/platform/process-tree.ts';
import type { Orphans } from './orphans.ts';

const defaultStop = { signal: 'SIGTERM', graceMs: 5000 } as const;

/** See `Children.start`. `ended` is called once the program and its group have ended. */
export async function startChild(
  order: ChildOptions,
  { clock, orphans, ended }: { readonly clock: Clock; readonly orphans: Orphans; readonly ended: () => void },
): Promise<RunningChild> {
  order.signal?.throwIfAborted();
  const process_ = spawnFor(order);
  const pid = await spawned(process_, order);
  const exited = toExit(process_, pid).finally(() => {
    orphans.forget(pid);
    order.signal?.removeEventListener('abort', abort);
    ended();
  });
  // The `exited` promise reports a program that ends during a write.
  process_.stdin.on('error', () => undefined);
  const child = new Child(pid, process_, exited, order.stop ?? defaultStop, clock);
  const abort = (): void => void child.stop();
  order.signal?.addEventListener('abort', abort, { once: true });
  if (order.signal?.aborted === true) abort();
  if (order.shortLived !== true) {
    // Without a reader, Node would discard the output of a program that ends before the first read.
    using _held = bufferOutput(process_);
    const identity = await findProcessIdentity(pid);
    if (identity !== undefined && !child.hasEnded) orphans.record(pid, identity);
  }
  return child;
}

class Child implements RunningChild {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #stop: NonNullable<ChildOptions['stop']>;
  readonly #clock: Clock;
  #stopping: Promise<ChildExit> | undefined;
  hasEnded = false;

  constructor(
    pid: number,
    process_: ChildProcessWithoutNullStreams,
    exited: Promise<ChildExit>,
    stop: NonNullable<ChildOptions['stop']>,
    clock: Clock,
  ) {
    this.pid = pid;
    this.#process = process_;
    this.#stop = stop;
    this.#clock = clock;
    this.exited = exited.finally(() => (this.hasEnded = true));
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
    if (!this.hasEnded) signalGroup(this.pid, signal);
  }

  stop(): Promise<ChildExit> {
    return (this.#stopping ??= this.#end());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #end(): Promise<ChildExit> {
    if (this.hasEnded) return await this.exited;
    signalGroup(this.pid, this.#stop.signal);
    // Unread output must not delay the end of the streams.
    this.#process.stdout.resume();
    this.#process.stderr.resume();
    using _late = this.#clock.after(this.#stop.graceMs, () => signalGroup(this.pid, 'SIGKILL'));
    return await this.exited;
  }
}

function spawnFor({
  file,
  args,
  environment,
  folder,
  user,
  inheritedFolder: inheritedFolder,
}: ChildOptions): ChildProcessWithoutNullStreams {
  const options: SpawnOptionsWithoutStdio = {
    env: buildCleanEnvironment(environment),
    ...(folder === undefined ? {} : { cwd: folder }),
    ...user,
    detached: process.platform !== 'win32',
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
    const reason = isMissing ? 'there is no such program' : 'it could not be started';
    throw new Problem('child.missing', 503, `${name} (${file}): ${reason}.`, { cause: error });
  }
  if (process_.pid === undefined) throw new Problem('child.missing', 503, `${name} (${file}) could not be started.`);
  return process_.pid;
}

/** Ends the remaining processes of the group with its leader; they could keep the streams open. */
function toExit(process_: ChildProcessWithoutNullStreams, pid: number): Promise<ChildExit> {
  return new Promise((resolve) => {
    process_.once('exit', () => signalGroup(pid, 'SIGKILL'));
    process_.once('close', (code, signal) => resolve({ code, signal }));
  });
}
