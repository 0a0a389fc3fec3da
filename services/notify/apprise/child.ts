import { tmpdir } from 'node:os';
import { z } from 'zod';
import type { EngineLibrary, Engines } from '../../contracts/control/engines.ts';
import type { Clock } from '../../contracts/service.ts';
import { EngineChild } from '../../kit/engine-child.ts';

const script = new URL('worker.py', import.meta.url);

const Reply = z.looseObject({ id: z.int() });

/** The process exited or became unusable before it answered. */
export class LibraryProcessError extends Error {
  override readonly name = 'ChildGone';
}

export interface LibraryProcessOptions {
  readonly engines: Pick<Engines, 'start'>;
  readonly clock: Clock;
  /** Folders that contain attachments, and schemes that are never opened. */
  readonly initialRequest: { readonly folders: readonly string[]; readonly refused: readonly string[] };
}

interface PendingRequest {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (reason: Error) => void;
}

/** Python process that has imported the library and processes several requests at the same time; see worker.py. */
export class LibraryProcess implements AsyncDisposable {
  readonly #child: EngineChild;
  readonly #clock: Clock;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #closed: Promise<void>;
  #nextId = 1;
  #isRetiring = false;

  private constructor(child: EngineChild, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    child.onAnswer = (answer) => this.#handleReply(answer);
    this.#closed = child.ended.then(() => this.#rejectAll());
  }

  /**
   * Starts a process and resolves when it is ready.
   *
   * @throws Error if Python cannot import the library.
   */
  static async open(
    library: EngineLibrary,
    { engines, clock, initialRequest }: LibraryProcessOptions,
  ): Promise<LibraryProcess> {
    return new LibraryProcess(
      await EngineChild.open(library, { engines, clock, script, folder: tmpdir(), firstRequest: initialRequest }),
      clock,
    );
  }

  /** Version of the library. */
  get version(): string {
    return this.#child.version;
  }

  /** False after the process has exited or is to be replaced. */
  get isUsable(): boolean {
    return this.#child.usable && !this.#isRetiring;
  }

  /** Number of requests in progress. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /**
   * Sends a request and returns the validated reply.
   *
   * @throws LibraryProcessError, or the reason of the signal. After an abort the thread continues in Python until its
   * process ends.
   */
  async request<T>(
    command: { readonly op: string; readonly [field: string]: unknown },
    answer: z.core.$ZodType<T>,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    if (!this.isUsable) throw new LibraryProcessError('The engine has ended.');
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'));
    signal.addEventListener('abort', abort, { once: true });
    this.#pending.set(id, { resolve, reject });
    try {
      this.#child.send({ ...command, id });
      const parsed = z.safeParse(answer, await promise);
      if (parsed.success) return parsed.data;
      throw new LibraryProcessError('The engine gave an answer that cannot be read.');
    } finally {
      this.#pending.delete(id);
      signal.removeEventListener('abort', abort);
      if (this.#isRetiring && this.#pending.size === 0) this.kill();
    }
  }

  /** Accepts no new requests, and ends the process after the last reply or after this time. */
  retire(graceMs: number): void {
    this.#isRetiring = true;
    if (this.#pending.size === 0) this.kill();
    else this.#clock.after(graceMs, () => this.kill());
  }

  /** Ends the process immediately. */
  kill(): void {
    this.#child.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]();
    await this.#closed;
  }

  #handleReply(answer: unknown): void {
    const reply = Reply.safeParse(answer);
    if (reply.success) this.#pending.get(reply.data.id)?.resolve(answer);
  }

  #rejectAll(): void {
    for (const { reject } of this.#pending.values()) reject(new LibraryProcessError('The engine ended unexpectedly.'));
  }
}
