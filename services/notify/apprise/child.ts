import { tmpdir } from 'node:os';
import { z } from 'zod';
import type { EngineLibrary, Engines } from '../../contracts/control/engines.ts';
import type { Clock } from '../../contracts/service.ts';
import { EngineChild } from '../../kit/engine-child.ts';

const script = new URL('worker.py', import.meta.url);

const Reply = z.looseObject({ id: z.int() });

/** The child ended, or could not be used any more, before it answered. */
export class LibraryProcessError extends Error {
  override readonly name = 'ChildGone';
}

export interface LibraryProcessOptions {
  readonly engines: Pick<Engines, 'start'>;
  readonly clock: Clock;
  /** Where files that are sent along lie, and schemes that are never opened. */
  readonly initialRequest: { readonly folders: readonly string[]; readonly refused: readonly string[] };
}

interface PendingRequest {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (reason: Error) => void;
}

/** One Python that has imported the library, and carries out jobs side by side; see worker.py. */
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

  /** Starts one and resolves once it is ready. @throws Error when this Python cannot import it. */
  static async open(
    library: EngineLibrary,
    { engines, clock, initialRequest }: LibraryProcessOptions,
  ): Promise<LibraryProcess> {
    return new LibraryProcess(
      await EngineChild.open(library, { engines, clock, script, folder: tmpdir(), firstRequest: initialRequest }),
      clock,
    );
  }

  /** Release of the library. */
  get version(): string {
    return this.#child.version;
  }

  /** False once it has ended, or is not to be given anything new. */
  get isUsable(): boolean {
    return this.#child.usable && !this.#isRetiring;
  }

  /** How many jobs it has. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Has it carry out a job. @throws ChildGone, or the signal's reason: its thread goes on then, and only the end of it all stops it. */
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

  /** Gives it nothing new, and ends it when it has answered the rest or after so many ms. */
  retire(graceMs: number): void {
    this.#isRetiring = true;
    if (this.#pending.size === 0) this.kill();
    else this.#clock.after(graceMs, () => this.kill());
  }

  /** Ends it at once, whatever it does. */
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
