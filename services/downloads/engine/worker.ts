import { mkdtemp } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { EngineLibrary, Engines } from '../../contracts/control/engines.ts';
import type { Clock, Log } from '../../contracts/service.ts';
import { EngineChild } from '../../kit/engine-child.ts';
import { readLines } from '../../kit/lines.ts';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import { findProcessIdentity } from '../../kit/platform/process-identity.ts';
import { killRemainingTree, signalTree, type TreeSignal } from '../../kit/platform/process-tree.ts';
import { getForkEnvironment } from './fork-environment.ts';
import { interruptTimeoutMs, termTimeoutMs, type Exit, type RunOptions } from './process-runner.ts';
import type { NetworkPolicy } from './network-policy.ts';

const script = new URL('worker.py', import.meta.url);
/** Time limit for the output streams of an ended child. */
const streamTimeoutMs = 2000;

const WorkerMessage = z.union([
  z.object({ id: z.int(), pid: z.int() }),
  z.object({ id: z.int(), code: z.int() }),
  z.object({ id: z.int(), signal: z.string() }),
]);

interface Job {
  readonly options: RunOptions;
  readonly started: (pid: number) => void;
  readonly ended: (exit: Exit) => void;
  /** Open output streams. */
  readonly openStreams: Set<string>;
  exit: Exit | undefined;
}

const lostExit: Exit = { code: null, signal: 'SIGKILL', isWorkerLost: true };

/** Python process with yt-dlp loaded, which runs each command in a fork; see worker.py. */
export class Worker implements AsyncDisposable {
  readonly #child: EngineChild;
  readonly #server: Server;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #jobs = new Map<number, Job>();
  readonly #closed: Promise<void>;
  #next = 1;
  #onIdle: () => void = () => undefined;

  private constructor(options: { child: EngineChild; server: Server; folder: string; clock: Clock; log: Log }) {
    this.#child = options.child;
    this.#server = options.server;
    this.#folder = options.folder;
    this.#clock = options.clock;
    options.child.onAnswer = (input) => {
      const message = WorkerMessage.safeParse(input).data;
      if (message === undefined) options.log.warn('yt-dlp worker message invalid');
      else this.#handleMessage(message);
    };
    options.server.on('connection', (socket) => this.#connect(socket));
    this.#closed = options.child.ended.then(() => this.#failAll());
  }

  /**
   * Starts a worker and resolves when it is ready.
   * @throws Error when Python cannot import yt-dlp
   */
  static async open(
    library: EngineLibrary,
    { engines, clock, log }: { engines: Pick<Engines, 'start'>; clock: Clock; log: Log },
  ): Promise<Worker> {
    await using cleanup = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'homeport-'));
    cleanup.defer(() => removeTree(folder));
    const server = createServer({ pauseOnConnect: true });
    cleanup.defer(() => void server.close());
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(join(folder, 's'), resolve));
    const onErrorLine = (line: string): void =>
      log.debug('yt-dlp worker output received', { line: line.slice(0, 500) });
    const child = await EngineChild.open(library, {
      ...{ engines, clock, script, folder, onErrorLine },
      environment: getForkEnvironment(),
    });
    cleanup.move();
    return new Worker({ child, server, folder, clock, log });
  }

  /** Version of yt-dlp. */
  get version(): string {
    return this.#child.version;
  }

  /** False after it ended: the next command needs another worker. */
  get usable(): boolean {
    return this.#child.usable;
  }

  /** Runs a command like {@link runLines}. */
  async run(args: readonly string[], options: RunOptions, { allowInternal, proxies }: NetworkPolicy): Promise<Exit> {
    options.signal.throwIfAborted();
    if (!this.usable) return lostExit;
    const id = this.#next++;
    let pid: number | undefined;
    let killTimer: Disposable | undefined;
    const end = (signal: TreeSignal, timeoutMs: number): void => {
      // Called again when the pid is known.
      if (pid === undefined) return;
      const groupLeader = pid;
      signalTree(groupLeader, signal);
      killTimer ??= this.#clock.after(timeoutMs, () => signalTree(groupLeader, 'SIGKILL'));
    };
    const stop = (): void => end('SIGTERM', termTimeoutMs);
    const interrupt = (): void => end('SIGINT', interruptTimeoutMs);
    options.signal.addEventListener('abort', stop, { once: true });
    options.interrupt?.addEventListener('abort', interrupt, { once: true });
    try {
      const { promise: exited, resolve: ended } = Promise.withResolvers<Exit>();
      const { promise: running, resolve: started } = Promise.withResolvers<number>();
      this.#jobs.set(id, { options, started, ended, openStreams: new Set(['out', 'err']), exit: undefined });
      const job = { id, argv: args, socket: join(this.#folder, 's'), internal: allowInternal, proxies };
      this.#child.send(job);
      pid = await Promise.race([running, exited.then(() => undefined)]);
      if (options.signal.aborted) stop();
      else if (options.interrupt?.aborted === true) interrupt();
      const identity = pid === undefined ? undefined : await findProcessIdentity(pid);
      if (identity !== undefined) {
        await options.onStart?.(identity).catch(async (error: unknown) => {
          stop();
          await exited;
          throw error;
        });
      }
      return await exited;
    } finally {
      this.#jobs.delete(id);
      if (this.#jobs.size === 0) this.#onIdle();
      options.signal.removeEventListener('abort', stop);
      options.interrupt?.removeEventListener('abort', interrupt);
      killTimer?.[Symbol.dispose]();
      if (pid !== undefined) killRemainingTree(pid);
    }
  }

  /** Limits the total speed of all children in bytes per second, including running ones. */
  limit(rate: number | null): void {
    if (this.usable) this.#child.send({ rate: rate ?? 0 });
  }

  /** Ends the worker after its last command. */
  async end(): Promise<void> {
    if (this.#jobs.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this[Symbol.asyncDispose]();
  }

  /** Ends the worker and its commands. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]();
    await this.#closed;
  }

  #handleMessage(message: z.infer<typeof WorkerMessage>): void {
    const job = this.#jobs.get(message.id);
    if (job === undefined) return;
    if ('pid' in message) return job.started(message.pid);
    job.exit =
      'code' in message
        ? { code: message.code, signal: null }
        : { code: null, signal: message.signal as NodeJS.Signals };
    settleJob(job);
    // The child may have been killed before it connected.
    this.#clock.after(streamTimeoutMs, () => {
      job.openStreams.clear();
      settleJob(job);
    });
  }

  /** Connects the output of a child; the first line identifies it. */
  #connect(socket: Socket): void {
    socket.on('error', () => undefined);
    let header = Buffer.alloc(0);
    const read = (chunk: Buffer): void => {
      header = Buffer.concat([header, chunk]);
      const end = header.indexOf(0x0a);
      if (end < 0) return;
      socket.off('data', read);
      const [id = '', name = ''] = header.toString('latin1', 0, end).split(' ');
      const job = this.#jobs.get(Number(id));
      if (job === undefined) return void socket.destroy();
      socket.unshift(header.subarray(end + 1));
      readLines(socket, (line) => job.options.onLine(line, name === 'out' ? 'stdout' : 'stderr'));
      socket.once('close', () => {
        job.openStreams.delete(name);
        settleJob(job);
      });
    };
    socket.on('data', read);
    socket.resume();
  }

  /** Fails all commands after the worker ended. */
  async #failAll(): Promise<void> {
    for (const job of this.#jobs.values()) job.ended(job.exit ?? lostExit);
    this.#server.close();
    await removeTree(this.#folder);
  }
}

function settleJob({ exit, openStreams, ended }: Job): void {
  if (exit !== undefined && openStreams.size === 0) ended(exit);
}
