import * as m from '#messages/host-problems';
import { Worker } from 'node:worker_threads';
import { Problem } from '../../../../services/contracts/problem.ts';
import type { Clock, Log } from '../../../../services/contracts/service.ts';
import { getThreadFile } from '../../../../services/kit/limited-thread.ts';
import type { FromReader, ReadRequest, ReaderData, ReadPart } from './messages.ts';

const workerFile = getThreadFile('worker', import.meta.url);
/** Idle time after which the thread ends, since it uses several megabytes. */
const idleMs = 60_000;
/** Maximum number of queued reads; further ones are refused. */
const maxWaiting = 1000;

type Row = Record<string, unknown>;

interface Waiting {
  readonly request: ReadRequest;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
  readonly abandon: () => void;
  /** Rows received so far. */
  rows: Row[];
  /** Number of threads that crashed during this read. */
  crashes: number;
}

/**
 * Thread that reads SQLite files, one statement after another. It starts with the first read, and ends after a minute
 * without reads. When it crashes, a new thread repeats the current statement; a statement that crashed two threads is
 * refused.
 */
export class ReadThread implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #memoryMb: number;
  readonly #abandoned = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #waiting: Waiting[] = [];
  readonly #closing = new Map<string, () => void>();
  #current: Waiting | undefined;
  #worker: Worker | undefined;
  #idle: Disposable | undefined;
  #number = 0;
  #closed = false;

  /** `memoryMb`: memory for the rows of a read; the thread crashes when it exceeds it. */
  constructor(options: { readonly clock: Clock; readonly log: Log; readonly memoryMb?: number }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#memoryMb = options.memoryMb ?? 192;
  }

  /**
   * Returns the rows of a statement. An aborted signal removes a queued read, and ends a running one at its next row.
   * @throws Problem `database.busy`, `database.closed`, `database.too_large`, `database.reader_failed`; SQLite's own
   * errors; the signal's reason.
   */
  read(file: string, text: string, values: readonly unknown[], signal?: AbortSignal): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(buildClosedProblem());
      if (signal?.aborted === true) return reject(signal.reason as Error);
      if (this.#waiting.length >= maxWaiting) {
        const detail = m.tooManyReads;
        return reject(new Problem('database.busy', 503, detail));
      }
      this.#number = (this.#number % 0x7fffffff) + 1;
      const request = { read: this.#number, file, text, values };
      const abandon = (): void => this.#rejectWaiting(waiting);
      const waiting: Waiting = { request, resolve, reject, signal, abandon, rows: [], crashes: 0 };
      signal?.addEventListener('abort', abandon, { once: true });
      this.#waiting.push(waiting);
      this.#next();
    });
  }

  /** Closes a file once its current read has ended; queued reads are refused. */
  async release(file: string): Promise<void> {
    for (const waiting of this.#waiting.filter(({ request }) => request.file === file)) {
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      settle(waiting, () => waiting.reject(buildClosedProblem()));
    }
    if (this.#worker === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closing.set(file, resolve);
    this.#worker.ref();
    this.#worker.postMessage({ close: file });
    await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#waiting.splice(0)) settle(waiting, () => waiting.reject(buildClosedProblem()));
    await this.#end();
  }

  #next(): void {
    if (this.#current !== undefined) return;
    this.#current = this.#waiting.shift();
    if (this.#current === undefined) {
      this.#becomeIdle();
      return;
    }
    this.#idle?.[Symbol.dispose]();
    this.#idle = undefined;
    const worker = (this.#worker ??= this.#begin());
    worker.ref();
    worker.postMessage(this.#current.request);
  }

  /** Lets the process exit and ends the thread after a while when nothing is queued. */
  #becomeIdle(): void {
    if (this.#closing.size === 0) this.#worker?.unref();
    this.#idle ??= this.#clock.after(idleMs, () => {
      this.#idle = undefined;
      if (this.#current === undefined) {
        this.#end().catch((error: unknown) => this.#log.warn('read thread stop failed', { error }));
      }
    });
  }

  #begin(): Worker {
    const workerData: ReaderData = { abandoned: this.#abandoned };
    const worker = new Worker(workerFile, {
      name: 'reads',
      workerData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb, maxYoungGenerationSizeMb: 8 },
    });
    worker.on('message', (message: FromReader) => this.#onMessage(message));
    worker.on('error', (error) => this.#log.warn('read thread crashed', { error }));
    worker.on('exit', () => this.#ended(worker));
    return worker;
  }

  #onMessage(message: FromReader): void {
    if ('closed' in message) {
      this.#released(message.closed);
      if (this.#current === undefined) this.#becomeIdle();
      return;
    }
    const current = this.#current;
    if (current === undefined || current.request.read !== message.read) return;
    if ('code' in message) {
      this.#done(current, () => current.reject(failure(message)));
    } else if (this.#take(current, message)) {
      this.#done(current, () => current.resolve(current.rows));
    } else this.#worker?.postMessage({ more: message.read });
  }

  /** Returns whether this was the last part. */
  #take(current: Waiting, { rows, last }: ReadPart): boolean {
    // Structured clones turn the Buffers of the driver into Uint8Arrays.
    for (const row of rows) {
      for (const name in row) {
        const value = row[name];
        if (value instanceof Uint8Array) row[name] = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      }
    }
    if (current.rows.length === 0) current.rows = rows as Row[];
    else for (const row of rows) current.rows.push(row);
    return last;
  }

  #done(current: Waiting, answer: () => void): void {
    this.#current = undefined;
    settle(current, answer);
    this.#next();
  }

  #rejectWaiting(waiting: Waiting): void {
    const reason: unknown = waiting.signal?.reason;
    if (waiting === this.#current) Atomics.store(this.#abandoned, 0, waiting.request.read);
    else this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    waiting.reject(reason);
  }

  /** Handles the end of the thread, which is a crash unless it was released. */
  #ended(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const file of [...this.#closing.keys()]) this.#released(file);
    const current = this.#current;
    this.#current = undefined;
    if (current !== undefined) {
      current.crashes += 1;
      current.rows = [];
      if (current.signal?.aborted === true) settle(current, () => undefined);
      else if (current.crashes < 2 && !this.#closed) this.#waiting.unshift(current);
      else settle(current, () => current.reject(this.#closed ? buildClosedProblem() : buildCrashedProblem()));
    }
    if (!this.#closed) this.#next();
  }

  #released(file: string): void {
    this.#closing.get(file)?.();
    this.#closing.delete(file);
  }

  async #end(): Promise<void> {
    this.#idle?.[Symbol.dispose]();
    this.#idle = undefined;
    const worker = this.#worker;
    if (worker === undefined) return;
    await worker.terminate();
    this.#ended(worker);
  }
}

function settle({ signal, abandon }: Waiting, answer: () => void): void {
  signal?.removeEventListener('abort', abandon);
  answer();
}

/** Uses the same error as the group commit. */
export function buildClosedProblem(): Problem {
  return new Problem('database.closed', 503, m.databaseClosed);
}

function buildCrashedProblem(): Problem {
  const detail = m.readThreadFailed;
  return new Problem('database.reader_failed', 503, detail, { retryable: false });
}

function failure({ code, message }: { readonly code: string; readonly message: string }): Error {
  if (code !== 'too_large') return Object.assign(new Error(message), { code });
  const detail = m.readTooLarge;
  return new Problem('database.too_large', 413, detail, { cause: new Error(message), retryable: false });
}
