import { tmpdir } from 'node:os';
import { z } from 'zod';
import type { EngineLibrary, Engines } from '../../contracts/control/engines.ts';
import type { Clock } from '../../contracts/service.ts';
import { EngineChild } from '../../kit/engine-child.ts';

const script = new URL('worker.py', import.meta.url);

const Reply = z.looseObject({ id: z.int() });

/** The child ended, or could not be used any more, before it answered. */
export class ChildGone extends Error {
  override readonly name = 'ChildGone';
}

export interface ChildParts {
  readonly engines: Pick<Engines, 'start'>;
  readonly clock: Clock;
  /** Where files that are sent along lie, and schemes that are never opened. */
  readonly order: { readonly folders: readonly string[]; readonly refused: readonly string[] };
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (reason: Error) => void;
}

/** One Python that has imported the library, and carries out jobs side by side; see worker.py. */
export class Child implements AsyncDisposable {
  readonly #child: EngineChild;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  readonly #closed: Promise<void>;
  #next = 1;
  #ending = false;

  private constructor(child: EngineChild, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    child.onAnswer = (answer) => this.#take(answer);
    this.#closed = child.ended.then(() => this.#fail());
  }

  /** Starts one and resolves once it is ready. @throws Error when this Python cannot import it. */
  static async open(library: EngineLibrary, { engines, clock, order }: ChildParts): Promise<Child> {
    return new Child(
      await EngineChild.open(library, { engines, clock, script, folder: tmpdir(), firstRequest: order }),
      clock,
    );
  }

  /** Release of the library. */
  get version(): string {
    return this.#child.version;
  }

  /** False once it has ended, or is not to be given anything new. */
  get usable(): boolean {
    return this.#child.usable && !this.#ending;
  }

  /** How many jobs it has. */
  get busy(): number {
    return this.#waiting.size;
  }

  /** Has it carry out a job. @throws ChildGone, or the signal's reason: its thread goes on then, and only the end of it all stops it. */
  async ask<T>(
    job: { readonly op: string; readonly [field: string]: unknown },
    answer: z.core.$ZodType<T>,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    if (!this.usable) throw new ChildGone('The engine has ended.');
    const id = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'));
    signal.addEventListener('abort', stop, { once: true });
    this.#waiting.set(id, { resolve, reject });
    try {
      this.#child.send({ ...job, id });
      const parsed = z.safeParse(answer, await promise);
      if (parsed.success) return parsed.data;
      throw new ChildGone('The engine gave an answer that cannot be read.');
    } finally {
      this.#waiting.delete(id);
      signal.removeEventListener('abort', stop);
      if (this.#ending && this.#waiting.size === 0) this.kill();
    }
  }

  /** Gives it nothing new, and ends it when it has answered the rest or after so many ms. */
  retire(graceMs: number): void {
    this.#ending = true;
    if (this.#waiting.size === 0) this.kill();
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

  #take(answer: unknown): void {
    const reply = Reply.safeParse(answer);
    if (reply.success) this.#waiting.get(reply.data.id)?.resolve(answer);
  }

  #fail(): void {
    for (const { reject } of this.#waiting.values()) reject(new ChildGone('The engine ended unexpectedly.'));
  }
}
