import type { ChildProcessByStdio } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import type { EngineLibrary, Engines } from '../contracts/control/engines.ts';
import type { Clock } from '../contracts/service.ts';
import { readLines } from './lines.ts';
import { parseJson } from '../contracts/parse-json.ts';

/** Time from the start to the ready message; importing a large library takes long on a busy computer. */
const startTimeoutMs = 60_000;
/** Time from the end of its input until the process is killed. */
const stopTimeoutMs = 3000;
const maxLineLength = 16 * 1024 * 1024;
/** Maximum number of consecutive invalid lines before the process is killed. */
const maxInvalidLines = 100;

const Ready = z.object({ ready: z.string() });

/** Program and limits of an engine that runs as a child process. */
export interface EngineChildOptions {
  readonly engines: Pick<Engines, 'start'>;
  readonly clock: Clock;
  /** Script that imports the library and then prints `{"ready": "<release>"}`. */
  readonly script: URL;
  readonly folder: string;
  /** Added to the clean environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** First line sent to the process. */
  readonly firstRequest?: object;
  /** Called with each line of its error output, which may contain secrets. */
  readonly onErrorLine?: (line: string) => void;
}

/** Child process that has imported an engine's library and exchanges lines of JSON. */
export class EngineChild implements AsyncDisposable {
  /** Settles once the process has ended and all output is read. */
  readonly ended: Promise<void>;
  version = '';
  /** Called with each answer. */
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
    // The `ended` promise reports a process that has exited.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => {
      this.#pendingBytes += chunk.length;
      if (this.#pendingBytes > 2 * maxLineLength) this.kill();
    });
    readLines(child.stdout, (line) => this.#handleLine(line), maxLineLength);
  }

  /**
   * Starts the process and resolves once it is ready.
   * @throws Error when it cannot import the library.
   */
  static async open(library: EngineLibrary, options: EngineChildOptions): Promise<EngineChild> {
    const { engines, clock, script, folder, environment, firstRequest: order, onErrorLine: onComplaint } = options;
    const process = engines.start(library, {
      script: await readFile(script, 'utf8'),
      folder,
      ...(environment !== undefined && { environment }),
    });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    process.once('error', reject);
    const child = new EngineChild(process, clock);
    using _late = clock.after(startTimeoutMs, () => reject(new Error('library did not get ready in time')));
    let errorLine = 'process exited during the start';
    readLines(process.stderr, (line) => {
      // After the start, error output is not the reason of a failure.
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

  /** False once the process has ended or is being stopped. */
  get usable(): boolean {
    return this.#usable;
  }

  send(line: object): void {
    this.#child.stdin.write(`${JSON.stringify(line)}\n`);
  }

  /** Kills the process immediately. */
  kill(): void {
    this.#usable = false;
    this.#child.kill('SIGKILL');
  }

  /** Closes the input of the process and kills it after a timeout. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#usable = false;
    this.#child.stdin.end();
    using _late = this.#clock.after(stopTimeoutMs, () => this.kill());
    await this.ended;
  }

  #handleLine(line: string): void {
    const answer = parseJson(line);
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
