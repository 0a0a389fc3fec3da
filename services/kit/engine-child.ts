import type { ChildProcessByStdio } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import type { EngineLibrary, Engines } from '../contracts/control/engines.ts';
import type { Clock } from '../contracts/service.ts';
import { readLines } from './lines.ts';

/** From the start to the word that it is ready; a busy machine takes its time to import a large library. */
const startTimeoutMs = 60_000;
/** From the end of its input to the end of it by force. */
const stopTimeoutMs = 3000;
const maxLineLength = 16 * 1024 * 1024;
/** Lines that are no answers, in a row: more come from no library that is well. */
const maxInvalidLines = 100;

const Ready = z.object({ ready: z.string() });

export interface EngineChildOptions {
  readonly engines: Pick<Engines, 'start'>;
  readonly clock: Clock;
  /** The program that imports the library, then says `{"ready": "<release>"}`. */
  readonly script: URL;
  readonly folder: string;
  /** The first line it is told. */
  readonly firstRequest?: object;
  /** What it writes to its error output, which may hold secrets. */
  readonly onErrorLine?: (line: string) => void;
}

/** A program that has imported an engine's library and is spoken to in lines of JSON. */
export class EngineChild implements AsyncDisposable {
  /** Settles once it has ended, with all it wrote. */
  readonly ended: Promise<void>;
  /** Release of the library. */
  version = '';
  /** Gets each answer. */
  onAnswer: (answer: object) => void = () => undefined;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #clock: Clock;
  #usable = true;
  #invalidLines = 0;
  #pendingBytes = 0;

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    this.ended = new Promise((resolve) => child.once('close', () => resolve()));
    // One that is gone says so by its end.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => {
      this.#pendingBytes += chunk.length;
      if (this.#pendingBytes > 2 * maxLineLength) this.kill();
    });
    readLines(child.stdout, (line) => this.#handleLine(line), maxLineLength);
  }

  /** Starts one and resolves once it is ready. @throws Error when it cannot import the library. */
  static async open(library: EngineLibrary, options: EngineChildOptions): Promise<EngineChild> {
    const { engines, clock, script, folder, firstRequest: order, onErrorLine: onComplaint } = options;
    const process = engines.start(library, { script: await readFile(script, 'utf8'), folder });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    process.once('error', reject);
    const child = new EngineChild(process, clock);
    using _late = clock.after(startTimeoutMs, () => reject(new Error('it did not get ready in time')));
    let errorLine = 'it ended at once';
    readLines(process.stderr, (line) => {
      // Later on it may print anything there.
      if (child.version === '') errorLine = line.slice(0, 300);
      onComplaint?.(line);
    });
    child.onAnswer = (answer) => {
      const ready = Ready.safeParse(answer);
      if (ready.success) resolve(ready.data.ready);
    };
    void child.ended.then(() => {
      child.#usable = false;
      reject(new Error(errorLine));
    });
    if (order !== undefined) child.send(order);
    try {
      child.version = await promise;
      return child;
    } catch (error) {
      child.kill();
      throw error;
    }
  }

  /** False once it has ended or is to end. */
  get usable(): boolean {
    return this.#usable;
  }

  send(line: object): void {
    this.#child.stdin.write(`${JSON.stringify(line)}\n`);
  }

  /** Ends it at once, whatever it does. */
  kill(): void {
    this.#usable = false;
    this.#child.kill('SIGKILL');
  }

  /** Lets it end by itself, and soon by force. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#usable = false;
    this.#child.stdin.end();
    using _late = this.#clock.after(stopTimeoutMs, () => this.kill());
    await this.ended;
  }

  #handleLine(line: string): void {
    const answer = parse(line);
    if (typeof answer !== 'object' || answer === null) {
      this.#invalidLines += 1;
      if (this.#invalidLines > maxInvalidLines) this.kill();
      return;
    }
    this.#invalidLines = 0;
    this.#pendingBytes = 0;
    this.onAnswer(answer);
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
