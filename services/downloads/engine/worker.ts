import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { EngineLibrary, Engines } from '../../contracts/control/engines.ts';
import type { Clock, Log } from '../../contracts/service.ts';
import { EngineChild } from '../../kit/engine-child.ts';
import { readLines } from '../../kit/lines.ts';
import { findProcessIdentity, signalGroup } from '../../kit/process-group.ts';
import { closingMs, patienceMs, type Exit, type RunOptions } from './process-runner.ts';
import type { Way } from './network-policy.ts';

const script = new URL('worker.py', import.meta.url);
/** A child that has ended without its streams has none. */
const streamsMs = 2000;

const Answer = z.union([
  z.object({ id: z.int(), pid: z.int() }),
  z.object({ id: z.int(), code: z.int() }),
  z.object({ id: z.int(), signal: z.string() }),
]);

interface Job {
  readonly options: RunOptions;
  readonly started: (pid: number) => void;
  readonly ended: (exit: Exit) => void;
  /** Output streams that have not ended yet. */
  readonly open: Set<string>;
  exit: Exit | undefined;
}

const gone: Exit = { code: null, signal: 'SIGKILL', lost: true };

/** One Python that has imported yt-dlp, and runs each command in a fork of itself; see worker.py. */
export class Worker implements AsyncDisposable {
  readonly #child: EngineChild;
  readonly #server: Server;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #jobs = new Map<number, Job>();
  readonly #closed: Promise<void>;
  #next = 1;
  #idle: () => void = () => undefined;

  private constructor(parts: { child: EngineChild; server: Server; folder: string; clock: Clock; log: Log }) {
    this.#child = parts.child;
    this.#server = parts.server;
    this.#folder = parts.folder;
    this.#clock = parts.clock;
    parts.child.onAnswer = (given) => {
      const answer = Answer.safeParse(given).data;
      if (answer === undefined) parts.log.warn('the worker of yt-dlp said what is no answer');
      else this.#take(answer);
    };
    parts.server.on('connection', (socket) => this.#connect(socket));
    this.#closed = parts.child.ended.then(() => this.#fail());
  }

  /** Starts one and resolves once it is ready. @throws Error when this Python cannot import it. */
  static async open(
    library: EngineLibrary,
    { engines, clock, log }: { engines: Pick<Engines, 'start'>; clock: Clock; log: Log },
  ): Promise<Worker> {
    await using opening = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'homeport-'));
    opening.defer(() => rm(folder, { recursive: true, force: true }));
    const server = createServer({ pauseOnConnect: true });
    opening.defer(() => void server.close());
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(join(folder, 's'), resolve));
    const onComplaint = (line: string): void => log.debug('yt-dlp worker', { line: line.slice(0, 500) });
    const child = await EngineChild.open(library, { engines, clock, script, folder, onErrorLine: onComplaint });
    opening.move();
    return new Worker({ child, server, folder, clock, log });
  }

  /** Release of the engine. */
  get version(): string {
    return this.#child.version;
  }

  /** False once it has ended: the next command needs another one. */
  get usable(): boolean {
    return this.#child.usable;
  }

  /** As {@link runLines}. */
  async run(args: readonly string[], options: RunOptions, { internal, proxies }: Way): Promise<Exit> {
    options.signal.throwIfAborted();
    if (!this.usable) return gone;
    const id = this.#next++;
    let pid: number | undefined;
    let killing: Disposable | undefined;
    const stop = (): void => {
      // Before the number is known, this is called again with it.
      if (pid === undefined) return;
      const leader = pid;
      signalGroup(leader, 'SIGTERM');
      killing ??= this.#clock.after(patienceMs, () => signalGroup(leader, 'SIGKILL'));
    };
    const interrupt = (): void => {
      if (pid === undefined) return;
      const leader = pid;
      signalGroup(leader, 'SIGINT');
      killing ??= this.#clock.after(closingMs, () => signalGroup(leader, 'SIGKILL'));
    };
    options.signal.addEventListener('abort', stop, { once: true });
    options.interrupt?.addEventListener('abort', interrupt, { once: true });
    try {
      const { promise: exited, resolve: ended } = Promise.withResolvers<Exit>();
      const { promise: running, resolve: started } = Promise.withResolvers<number>();
      this.#jobs.set(id, { options, started, ended, open: new Set(['out', 'err']), exit: undefined });
      const job = { id, argv: args, socket: join(this.#folder, 's'), internal, proxies };
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
      if (this.#jobs.size === 0) this.#idle();
      options.signal.removeEventListener('abort', stop);
      options.interrupt?.removeEventListener('abort', interrupt);
      killing?.[Symbol.dispose]();
      // The leader is gone; whatever it left behind goes too.
      if (pid !== undefined) signalGroup(pid, 'SIGKILL');
    }
  }

  /** Bounds what all its children fetch together, in bytes a second; what runs follows at once. */
  limit(rate: number | null): void {
    if (this.usable) this.#child.send({ rate: rate ?? 0 });
  }

  /** Ends it once it has nothing more to do. */
  async end(): Promise<void> {
    if (this.#jobs.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this[Symbol.asyncDispose]();
  }

  /** Ends it and what it runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]();
    await this.#closed;
  }

  #take(answer: z.infer<typeof Answer>): void {
    const job = this.#jobs.get(answer.id);
    if (job === undefined) return;
    if ('pid' in answer) return job.started(answer.pid);
    job.exit =
      'code' in answer ? { code: answer.code, signal: null } : { code: null, signal: answer.signal as NodeJS.Signals };
    settle(job);
    // Killed before it could connect.
    this.#clock.after(streamsMs, () => {
      job.open.clear();
      settle(job);
    });
  }

  /** A child's output: the first line says whose it is. */
  #connect(socket: Socket): void {
    socket.on('error', () => undefined);
    let head = Buffer.alloc(0);
    const read = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(0x0a);
      if (end < 0) return;
      socket.off('data', read);
      const [id = '', name = ''] = head.toString('latin1', 0, end).split(' ');
      const job = this.#jobs.get(Number(id));
      if (job === undefined) return void socket.destroy();
      socket.unshift(head.subarray(end + 1));
      readLines(socket, (line) => job.options.onLine(line, name === 'out' ? 'stdout' : 'stderr'));
      socket.once('close', () => {
        job.open.delete(name);
        settle(job);
      });
    };
    socket.on('data', read);
    socket.resume();
  }

  /** The worker is gone: so is, or soon will be, what it ran. */
  async #fail(): Promise<void> {
    for (const job of this.#jobs.values()) job.ended(job.exit ?? gone);
    this.#server.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function settle({ exit, open, ended }: Job): void {
  if (exit !== undefined && open.size === 0) ended(exit);
}
