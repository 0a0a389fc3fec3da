import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { RunningChild } from '../../contracts/children.ts';
import type { Engine as FoundEngine } from '../../contracts/control/engines.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { readLines } from '../../kit/lines.ts';
import type { ConfigFile } from './config-file.ts';

/** A year: a sync takes as long as it takes, and we see its end. */
const noLimit = '8760h';
const startWithinMs = 30_000;
const longestLine = 1024 * 1024;
/** An answer of the engine that we must hold as a whole. */
const largestAnswer = 512 * 1024 * 1024;

/** What the engine answered. */
export interface EngineAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Bytes of it as it came. */
  readonly length?: number;
}

/** What the engine says of a failure. */
export function errorOf({ error }: EngineAnswer['body']): string {
  return typeof error === 'string' ? error : 'rclone failed';
}

export interface EngineCall {
  /** Cuts the call off. */
  readonly signal?: AbortSignal;
  /** The call is not begun once this is aborted, however long the engine takes to start. */
  readonly unless?: AbortSignal;
  /** In place of JSON: a body as it comes, with its headers and the address's query. */
  readonly stream?: { readonly body: Readable; readonly headers: Record<string, string>; readonly query: string };
}

/** An error about a file, as the engine's log has it. */
export interface FileComplaint {
  readonly name: string;
  readonly error: string;
}

export interface EngineOptions {
  readonly context: Pick<Context, 'children' | 'clock' | 'engines' | 'files' | 'log' | 'random'>;
  readonly config: ConfigFile;
  /** ms without any work after which it is stopped. */
  readonly idleMs: () => number;
  /** Limit of all transfers together at its start, as `--bwlimit` takes it; `off` for none. */
  readonly rate: () => string;
  readonly onComplaint: (complaint: FileComplaint) => void;
}

interface Running {
  readonly child: RunningChild;
  readonly port: number;
  readonly authorization: string;
}

const LogLine = z.looseObject({ level: z.string(), msg: z.string(), object: z.string().optional() });

/**
 * `rclone rcd` as a private child: on a loopback port of its own with credentials made for each start, started by the first
 * call that needs it and stopped when there is nothing to do.
 */
export class Engine implements AsyncDisposable {
  readonly #options: EngineOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #running: Promise<Running> | undefined;
  #current: Running | undefined;
  #calls = 0;
  #idle: Disposable | undefined;
  #closed = false;
  /** What clients have set since it runs, path and input: a fresh process gets it again. */
  readonly #kept = new Map<string, Readonly<Record<string, unknown>>>();

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  /** Whether there is an rclone on this machine that is recent enough. */
  async isThere(): Promise<boolean> {
    return (await this.#options.context.engines.find('rclone')).path !== null;
  }

  /** @throws Problem `sync.engine_missing`, `sync.engine_failed` (503), `sync.engine_gone` (502); the signal's reason. */
  async call(path: string, input: object, options: EngineCall = {}): Promise<EngineAnswer> {
    this.#idle?.[Symbol.dispose]();
    this.#calls += 1;
    try {
      const running = await unlessAborted(this.#up(), options.unless ?? options.signal);
      return await this.#ask(running, path, input, options);
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.#rest();
    }
  }

  /** The same, but only of an engine that runs, and without keeping it: for those who just look. */
  async look(path: string, input: object): Promise<EngineAnswer | undefined> {
    if (this.#current === undefined) return undefined;
    try {
      return await this.#ask(this.#current, path, input, {});
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }

  /** The same, but of an engine that is still starting as well, so that a changed setting reaches it. */
  async adjust(path: string, input: object): Promise<void> {
    await this.#running?.catch(() => undefined);
    await this.look(path, input);
  }

  /** Makes a setting no longer outlive the process. */
  forget(key: string): void {
    this.#kept.delete(key);
  }

  /** Makes a setting outlive the process. */
  keep(key: string, path: string, input: Readonly<Record<string, unknown>>): void {
    this.#kept.set(key, { path, input });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#idle?.[Symbol.dispose]();
    await this.#stop();
    this.#agent.destroy();
  }

  #rest(): void {
    this.#idle?.[Symbol.dispose]();
    if (this.#running === undefined || this.#closed) return;
    this.#idle = this.#options.context.clock.after(this.#options.idleMs(), () => {
      if (this.#calls === 0) void this.#stop();
    });
  }

  async #stop(): Promise<void> {
    const running = await this.#running?.catch(() => undefined);
    this.#running = undefined;
    this.#current = undefined;
    await running?.child.stop();
  }

  async #up(): Promise<Running> {
    if (this.#closed) throw new Problem('sync.stopped', 503, 'File sync is stopping.');
    this.#running ??= this.#start();
    try {
      return await this.#running;
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }

  async #start(): Promise<Running> {
    const { context, config, rate } = this.#options;
    const found = await this.#installed();
    if (found.path === null) throw new Problem('sync.engine_missing', 503, found.remedy ?? 'rclone is missing.');
    const password = await config.open(found.path);
    const [user, pass] = [context.random.text(24), context.random.text(40)];
    const child = await context.children.start({
      name: 'engine',
      file: found.path,
      args: [
        'rcd',
        ...['--rc-addr', '127.0.0.1:0', '--rc-server-read-timeout', noLimit, '--rc-server-write-timeout', noLimit],
        ...['--use-json-log', '--log-level', 'NOTICE', '--stats', '0', '--ask-password=false'],
        ...['--cache-dir', join(context.files, 'cache')],
        ...['--bwlimit', rate()],
      ],
      environment: {
        RCLONE_CONFIG: config.path,
        RCLONE_CONFIG_PASS: password,
        RCLONE_RC_USER: user,
        RCLONE_RC_PASS: pass,
      },
      folder: context.files,
    });
    const port = await this.#portOf(child);
    context.children.registerAddress(child, `http://127.0.0.1:${String(port)}`);
    const authorization = `Basic ${Buffer.from(`${user}:${pass}`).toString('base64')}`;
    const running: Running = { child, port, authorization };
    void child.exited.then(() => {
      if (this.#current === running) {
        this.#current = undefined;
        this.#running = undefined;
      }
    });
    for (const { path, input } of this.#kept.values()) {
      await this.#ask(running, String(path), input as object, {});
    }
    this.#current = running;
    return running;
  }

  /** Waits for an installation that is running or due, which a client cannot hasten anyway. */
  async #installed(): Promise<FoundEngine> {
    const { engines } = this.#options.context;
    const found = await engines.find('rclone');
    if (found.path !== null) return found;
    await engines.settled('rclone');
    return await engines.find('rclone');
  }

  async #portOf(child: RunningChild): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    using _late = this.#options.context.clock.after(startWithinMs, () => reject(new Error('it did not get ready')));
    let last = 'it ended at once';
    child.stdout.resume();
    readLines(
      child.stderr,
      (text) => {
        const line = LogLine.safeParse(parsed(text));
        if (!line.success) return;
        const { level, msg, object } = line.data;
        const port = /^Serving remote control on http:\/\/127\.0\.0\.1:(\d+)\//.exec(msg)?.[1];
        if (port !== undefined) resolve(Number(port));
        else if (level === 'error' && object !== undefined) this.#options.onComplaint({ name: object, error: msg });
        else if (level === 'critical') last = msg.slice(0, 300);
      },
      longestLine,
    );
    void child.exited.then(() => reject(new Error(last)));
    try {
      return await promise;
    } catch (cause) {
      await child.stop();
      const reason = cause instanceof Error ? cause.message : '';
      throw new Problem('sync.engine_failed', 503, `rclone does not start: ${reason}.`, { cause });
    }
  }

  #ask(running: Running, path: string, input: object, { signal, stream }: EngineCall): Promise<EngineAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<EngineAnswer>();
    const text = stream === undefined ? JSON.stringify(input) : '';
    const gone = (cause: unknown): void => {
      if (signal?.aborted === true) reject(signal.reason as Error);
      else reject(new Problem('sync.engine_gone', 502, 'rclone ended in the middle of it.', { cause }));
    };
    const sent = httpRequest(
      {
        host: '127.0.0.1',
        port: running.port,
        agent: this.#agent,
        method: 'POST',
        path: `/${path}${stream?.query ?? ''}`,
        headers: {
          authorization: running.authorization,
          ...(stream?.headers ?? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        },
        ...(signal === undefined ? {} : { signal }),
      },
      (reply) => {
        answerOf(reply).then(resolve, gone);
      },
    );
    sent.once('error', gone);
    if (stream === undefined) sent.end(text);
    else {
      stream.body.once('error', (error) => sent.destroy(error));
      stream.body.pipe(sent);
    }
    return promise;
  }
}

async function answerOf(reply: IncomingMessage): Promise<EngineAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  // By events, since iterating over it takes a tenth of a millisecond, and most calls take no longer than a few.
  reply.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > largestAnswer) reply.destroy(new Error('the answer is too large'));
    else chunks.push(chunk);
  });
  reply
    .once('end', resolve)
    .once('error', reject)
    .once('close', () => reject(new Error('the answer broke off')));
  await ended;
  const body = parsed(Buffer.concat(chunks).toString('utf8'));
  if (typeof body !== 'object' || body === null) throw new Error('the answer is no JSON');
  return { status: reply.statusCode ?? 502, body: body as Record<string, unknown>, length };
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
