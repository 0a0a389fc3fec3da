import type { ChildProcessByStdio } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import type { EngineLibrary, Engines } from '../../contracts/control/engines.ts';
import { readLines } from '../../kit/lines.ts';
import type { Clock } from '../../contracts/service.ts';

const script = new URL('worker.py', import.meta.url);
/** From the start to the word that it is ready; a busy machine takes its time to import it. */
const longestStartMs = 50_000;
/** The catalogue is the longest answer, with a twentieth of it. */
const longestLine = 16 * 1024 * 1024;
/** Lines that are no answers, in a row: more come from no library that is well. */
const mostJunk = 100;
/** From the end of its input to the end of it by force. */
const patienceMs = 3000;

const Reply = z.looseObject({ id: z.int() });
const Ready = z.object({ ready: z.string() });

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
  /** Release of the library. */
  readonly version: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  readonly #closed: Promise<void>;
  #next = 1;
  #usable = true;
  #ending = false;

  private constructor(
    version: string,
    child: ChildProcessByStdio<Writable, Readable, Readable>,
    answers: Answers,
    clock: Clock,
  ) {
    this.version = version;
    this.#child = child;
    this.#clock = clock;
    answers.take = (answer) => this.#take(answer);
    answers.flooded = () => this.kill();
    this.#closed = closedOf(child).then(() => this.#fail());
  }

  /** Starts one and resolves once it is ready. @throws Error when this Python cannot import it. */
  static async open(library: EngineLibrary, { engines, clock, order }: ChildParts): Promise<Child> {
    await using opening = new AsyncDisposableStack();
    const child = engines.start(library, { script: await readFile(script, 'utf8'), folder: tmpdir() });
    opening.defer(() => void child.kill('SIGKILL'));
    // One that is gone says so by its end.
    child.stdin.on('error', () => undefined);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    using _late = clock.after(longestStartMs, () => reject(new Error('it did not get ready in time')));
    let complaint = 'it ended at once';
    let isReady = false;
    readLines(child.stderr, (line) => {
      // Later on a plugin may print anything there, secrets included.
      if (!isReady) complaint = line.slice(0, 300);
    });
    const answers = new Answers(child.stdout);
    answers.take = (answer) => {
      const ready = Ready.safeParse(answer);
      if (ready.success) resolve(ready.data.ready);
    };
    answers.flooded = () => reject(new Error('it prints what nobody asked for'));
    closedOf(child).then(() => reject(new Error(complaint)), reject);
    child.stdin.write(`${JSON.stringify(order)}\n`);
    const version = await promise;
    isReady = true;
    opening.move();
    return new Child(version, child, answers, clock);
  }

  /** False once it has ended, or is not to be given anything new. */
  get usable(): boolean {
    return this.#usable;
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
    if (!this.#usable) throw new ChildGone('The engine has ended.');
    const id = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'));
    signal.addEventListener('abort', stop, { once: true });
    this.#waiting.set(id, { resolve, reject });
    try {
      this.#child.stdin.write(`${JSON.stringify({ ...job, id })}\n`);
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
    this.#usable = false;
    this.#ending = true;
    if (this.#waiting.size === 0) this.kill();
    else this.#clock.after(graceMs, () => this.kill());
  }

  /** Ends it at once, whatever it does. */
  kill(): void {
    this.#usable = false;
    this.#child.kill('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#usable = false;
    this.#child.stdin.end();
    using _late = this.#clock.after(patienceMs, () => this.kill());
    await this.#closed;
  }

  #take(answer: unknown): void {
    const reply = Reply.safeParse(answer);
    if (reply.success) this.#waiting.get(reply.data.id)?.resolve(answer);
  }

  #fail(): void {
    this.#usable = false;
    for (const { reject } of this.#waiting.values()) reject(new ChildGone('The engine ended unexpectedly.'));
  }
}

function closedOf(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('close', () => resolve());
  });
}

/** Reads answers off a stream, as long as they are not drowned in what is none. */
class Answers {
  take: (answer: unknown) => void = () => undefined;
  flooded: () => void = () => undefined;
  #junk = 0;
  #unread = 0;

  constructor(stream: Readable) {
    stream.on('data', (chunk: Buffer) => {
      this.#unread += chunk.length;
      if (this.#unread > 2 * longestLine) this.flooded();
    });
    readLines(stream, (line) => this.#read(line), longestLine);
  }

  #read(line: string): void {
    const answer = parse(line);
    if (typeof answer !== 'object' || answer === null) {
      this.#junk += 1;
      if (this.#junk > mostJunk) this.flooded();
      return;
    }
    this.#junk = 0;
    this.#unread = 0;
    this.take(answer);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
