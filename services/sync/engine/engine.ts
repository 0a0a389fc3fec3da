import * as m from '#messages/sync-problems';
import { join } from 'node:path';
import { z } from 'zod';
import type { RunningChild } from '../../contracts/children.ts';
import type { Engine as InstalledEngine } from '../../contracts/control/engines.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { runOutsideRequests } from '../../kit/language.ts';
import { readLines } from '../../kit/lines.ts';
import { FailureProblem, failures } from '../domain/failures.ts';
import type { ConfigFile } from './config-file.ts';
import {
  EngineClient,
  type EngineAddress,
  type EngineCall,
  type EngineFile,
  type EngineResponse,
} from './engine-client.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/** Syncs have no time limit, because a disconnect shows their end. */
const maxCallDuration = '8760h';
const startTimeoutMs = 30_000;
const maxLineLength = 1024 * 1024;

/** Error about a file in the engine's log. */
export interface LoggedFileError {
  readonly name: string;
  readonly error: string;
}

export interface EngineOptions {
  readonly context: Pick<Context, 'children' | 'clock' | 'engines' | 'files' | 'log' | 'random'>;
  readonly config: ConfigFile;
  /** Returns the idle time in milliseconds after which the engine is stopped. */
  readonly idleMs: () => number;
  /** Returns the bandwidth limit at start in the format of `--bwlimit`; `off` without a limit. */
  readonly rate: () => string;
  readonly onFileError: (fileError: LoggedFileError) => void;
}

interface Running extends EngineAddress {
  readonly child: RunningChild;
}

const LogLine = z.looseObject({ level: z.string(), msg: z.string(), object: z.string().optional() });

/**
 * Runs `rclone rcd` as a private child process on a loopback port with new credentials for each start. The first call starts
 * it, and it is stopped when idle.
 */
export class Engine implements AsyncDisposable {
  readonly #options: EngineOptions;
  readonly #client = new EngineClient();
  #running: Promise<Running> | undefined;
  #current: Running | undefined;
  #calls = 0;
  #idle: Disposable | undefined;
  #closed = false;
  /** Calls that changed settings of the engine, by key: a new process receives them again. */
  readonly #repeatedCalls = new Map<string, Readonly<Record<string, unknown>>>();

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  /** Returns true if a recent enough rclone is installed. */
  async isInstalled(): Promise<boolean> {
    return (await this.#options.context.engines.find('rclone')).path !== null;
  }

  /**
   * Calls the engine and starts it if necessary.
   * @throws Problem `sync.engine_missing`, `sync.engine_failed` (503), `sync.engine_gone` (502); the signal's reason.
   */
  async call(path: string, input: object, options: EngineCall = {}): Promise<EngineResponse> {
    this.#idle?.[Symbol.dispose]();
    this.#calls += 1;
    try {
      const running = await rejectOnAbort(this.#ensureRunning(), options.startSignal ?? options.signal);
      return await this.#client.request(running, path, input, options);
    } finally {
      this.#calls -= 1;
      if (this.#calls === 0) this.#startIdleTimer();
    }
  }

  /**
   * Reads a file, or the range that the header `Range` names. The engine counts as busy until the body has ended.
   * @throws Problem like {@link call}.
   */
  async readFile(fs: string, remote: string, range: string | undefined): Promise<EngineFile> {
    this.#idle?.[Symbol.dispose]();
    this.#calls += 1;
    const release = (): void => {
      this.#calls -= 1;
      if (this.#calls === 0) this.#startIdleTimer();
    };
    try {
      const file = await this.#client.requestFile(await this.#ensureRunning(), { fs, remote, range });
      file.body.once('close', release);
      return file;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Calls the engine only if it runs, without extending its idle time. Returns undefined otherwise. */
  async callIfRunning(path: string, input: object): Promise<EngineResponse | undefined> {
    if (this.#current === undefined) return undefined;
    try {
      return await this.#client.request(this.#current, path, input, {});
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  }

  /** Calls the engine if it runs or is starting, so that a changed setting reaches it. */
  async callIfStarted(path: string, input: object): Promise<void> {
    await this.#running?.catch(() => undefined);
    await this.callIfRunning(path, input);
  }

  /** Stops repeating a call after a restart of the engine. */
  removeRepeatedCall(key: string): void {
    this.#repeatedCalls.delete(key);
  }

  /** Repeats a call after each restart of the engine. */
  addRepeatedCall(key: string, path: string, input: Readonly<Record<string, unknown>>): void {
    this.#repeatedCalls.set(key, { path, input });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#idle?.[Symbol.dispose]();
    await this.#stop();
    this.#client.close();
  }

  #startIdleTimer(): void {
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

  async #ensureRunning(): Promise<Running> {
    if (this.#closed) throw new Problem('sync.stopped', 503, m.stopping);
    // All callers share this start, so its failure must not be in the language of the first one.
    this.#running ??= runOutsideRequests(() => this.#start());
    try {
      return await this.#running;
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }

  async #start(): Promise<Running> {
    const { context, config, rate } = this.#options;
    const installed = await this.#findInstalled();
    if (installed.path === null) throw toMissingProblem(installed);
    const password = await config.open(installed.path);
    const [user, pass] = [context.random.text(24), context.random.text(40)];
    const child = await context.children.start({
      name: 'engine',
      file: installed.path,
      args: [
        'rcd',
        ...[
          '--rc-addr',
          '127.0.0.1:0',
          '--rc-server-read-timeout',
          maxCallDuration,
          '--rc-server-write-timeout',
          maxCallDuration,
        ],
        ...['--use-json-log', '--log-level', 'NOTICE', '--stats', '0', '--ask-password=false'],
        ...['--cache-dir', join(context.files, 'cache')],
        ...['--bwlimit', rate()],
        // Sends files to the pages, with ranges for players.
        '--rc-serve',
      ],
      environment: {
        RCLONE_CONFIG: config.path,
        RCLONE_CONFIG_PASS: password,
        RCLONE_RC_USER: user,
        RCLONE_RC_PASS: pass,
      },
      folder: context.files,
    });
    const port = await this.#readPort(child);
    context.children.registerAddress(child, `http://127.0.0.1:${String(port)}`);
    const authorization = `Basic ${Buffer.from(`${user}:${pass}`).toString('base64')}`;
    const running: Running = { child, port, authorization };
    void child.exited.then(() => {
      if (this.#current === running) {
        this.#current = undefined;
        this.#running = undefined;
      }
    });
    for (const { path, input } of this.#repeatedCalls.values()) {
      await this.#client.request(running, String(path), input as object, {});
    }
    this.#current = running;
    return running;
  }

  /** Waits for a running or pending installation, because clients cannot speed it up. */
  async #findInstalled(): Promise<InstalledEngine> {
    const { engines } = this.#options.context;
    const installed = await engines.find('rclone');
    if (installed.path !== null) return installed;
    await engines.settled('rclone');
    return await engines.find('rclone');
  }

  async #readPort(child: RunningChild): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    using _timeout = this.#options.context.clock.after(startTimeoutMs, () => reject(new StartError('not_ready')));
    let lastError = new StartError('ended');
    child.stdout.resume();
    readLines(
      child.stderr,
      (text) => {
        const line = LogLine.safeParse(parseJson(text));
        if (!line.success) return;
        const { level, msg, object } = line.data;
        const port = /^Serving remote control on http:\/\/127\.0\.0\.1:(\d+)\//.exec(msg)?.[1];
        if (port !== undefined) resolve(Number(port));
        else if (level === 'error' && object !== undefined) this.#options.onFileError({ name: object, error: msg });
        else if (level === 'critical') lastError = new StartError('reported', msg.slice(0, 300));
      },
      maxLineLength,
    );
    void child.exited.then(() => reject(lastError));
    try {
      return await promise;
    } catch (cause) {
      await child.stop();
      if (!(cause instanceof StartError)) throw cause;
      const { cause: startCause, reason } = cause;
      throw new FailureProblem(503, failures.engineFailed.create({ cause: startCause, reason }), { cause });
    }
  }
}

/** Reason why the engine did not start. */
class StartError extends Error {
  override readonly cause: 'ended' | 'not_ready' | 'reported';
  /** Text of the engine; empty if it reported none. */
  readonly reason: string;

  constructor(cause: StartError['cause'], reason = '') {
    super(reason === '' ? cause : reason);
    this.cause = cause;
    this.reason = reason;
  }
}

/** Returns the problem of a missing engine, whose remedy each reader gets in their language. */
function toMissingProblem(installed: InstalledEngine): FailureProblem {
  const text = (): string => installed.remedy ?? m.engineMissing();
  return new FailureProblem(503, { ...failures.engineMissing.create({}), error: text() }, { text });
}

async function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
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
