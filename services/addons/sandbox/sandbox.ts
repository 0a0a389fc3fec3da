import { fileURLToPath } from 'node:url';
import type { RunningChild } from '../../contracts/children.ts';
import type { Context } from '../../contracts/service.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { Answers, Job } from './jobs.ts';

/** For one job, from the moment the process begins it. */
const maxJobMs = 2000;
const maxStartMs = 10_000;
/** Of the heap of one process: a job that needs more ends it, and nothing else. */
const memoryMb = 128;
const maxProcesses = 2;
const maxWaiting = 40;
const idleMs = 120_000;
const maxAnswerLength = 32 * 1024 * 1024;
/** The packed app has no types in it, and other file names. */
const workerFile = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

interface Waiting {
  readonly text: string;
  readonly resolve: (answer: unknown) => void;
}

/**
 * Runs the expressions and regular expressions of configurations in processes of their own, which are limited in memory and
 * time. What such an expression does to its process happens to no other; a process that has done its job is used again.
 */
export class Sandbox implements AsyncDisposable {
  readonly #context: Pick<Context, 'children' | 'clock' | 'log'>;
  readonly #waiting: Waiting[] = [];
  readonly #idle: SandboxProcess[] = [];
  readonly #all = new Set<SandboxProcess>();
  #isDisposed = false;

  constructor(context: Pick<Context, 'children' | 'clock' | 'log'>) {
    this.#context = context;
  }

  /** Starts a process for a job that will follow, so that it need not wait for one. */
  warm(): void {
    if (this.#all.size === 0) this.#start();
  }

  /** The answer, or undefined where the job took too much time or memory. */
  async run<Kind extends Job['kind']>(job: Job & { readonly kind: Kind }): Promise<Answers[Kind] | undefined> {
    if (this.#isDisposed || this.#waiting.length >= maxWaiting) return undefined;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#waiting.push({ text: JSON.stringify(job), resolve });
    this.#next();
    return (await promise) as Answers[Kind] | undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve(undefined);
    await Promise.all([...this.#all].map((process_) => process_.end()));
  }

  #next(): void {
    if (this.#waiting.length === 0) return;
    const process_ = this.#idle.pop();
    if (process_ === undefined) {
      if (this.#all.size < maxProcesses) this.#start();
      return;
    }
    const job = this.#waiting.shift();
    if (job === undefined) return;
    void process_.ask(job.text).then((answer) => {
      job.resolve(answer);
      if (answer === undefined) this.#drop(process_);
      else this.#release(process_);
    });
  }

  #start(): void {
    const process_ = new SandboxProcess(this.#context);
    this.#all.add(process_);
    void process_.start().then((isReady) => {
      if (isReady && !this.#isDisposed) {
        this.#release(process_);
        return;
      }
      this.#drop(process_);
      // Without a process nothing is ever answered.
      if (!isReady) for (const { resolve } of this.#waiting.splice(0)) resolve(undefined);
    });
  }

  #release(process_: SandboxProcess): void {
    this.#idle.push(process_);
    process_.endAfter(idleMs, () => this.#drop(process_));
    this.#next();
  }

  #drop(process_: SandboxProcess): void {
    const index = this.#idle.indexOf(process_);
    if (index !== -1) this.#idle.splice(index, 1);
    this.#all.delete(process_);
    void process_.end();
    this.#next();
  }
}

/** One process; it answers one job at a time. */
class SandboxProcess {
  readonly #context: Pick<Context, 'children' | 'clock' | 'log'>;
  #child: RunningChild | undefined;
  #timer: Disposable | undefined;
  #answered: (line: string | undefined) => void = () => undefined;
  #buffer: string[] = [];
  #length = 0;

  constructor(context: Pick<Context, 'children' | 'clock' | 'log'>) {
    this.#context = context;
  }

  /** False where it cannot be started. */
  async start(): Promise<boolean> {
    try {
      this.#child = await this.#context.children.start({
        name: 'expressions',
        file: process.execPath,
        args: [`--max-old-space-size=${String(memoryMb)}`, '--no-warnings', fileURLToPath(workerFile)],
        environment: process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' },
        stop: { signal: 'SIGTERM', graceMs: 500 },
        shortLived: true,
      });
    } catch (error) {
      this.#context.log.error('expression process not started', { error });
      return false;
    }
    const { stdout, stderr, exited } = this.#child;
    stderr.resume();
    stdout.setEncoding('utf8');
    stdout.on('data', (text: string) => this.#take(text));
    void exited.then(() => this.#answered(undefined));
    return (await this.#line(maxStartMs)) !== undefined;
  }

  /** The answer; undefined where it failed, took too long or ended the process. */
  async ask(text: string): Promise<unknown> {
    this.#timer?.[Symbol.dispose]();
    const answer = this.#line(maxJobMs);
    this.#child?.stdin.write(`${text}\n`);
    const line = await answer;
    if (line === undefined) {
      this.#child?.kill('SIGKILL');
      return undefined;
    }
    const told = JSON.parse(line) as { readonly answer?: unknown; readonly failure?: string };
    if (told.failure !== undefined) this.#context.log.warn('expression job failed', { reason: told.failure });
    return told.answer;
  }

  endAfter(ms: number, end: () => void): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#context.clock.after(ms, end);
  }

  async end(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#answered(undefined);
    await this.#child?.stop();
  }

  async #line(ms: number): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#answered = resolve;
    // Real time: a process works on while the clock of a test stands still.
    const timer = setTimeout(() => resolve(undefined), ms);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#answered = () => undefined;
    }
  }

  #take(text: string): void {
    const end = text.indexOf('\n');
    this.#length += text.length;
    if (this.#length > maxAnswerLength) return this.#answered(undefined);
    this.#buffer.push(end === -1 ? text : text.slice(0, end));
    if (end === -1) return;
    const line = this.#buffer.join('');
    this.#buffer = [];
    this.#length = 0;
    this.#answered(line);
  }
}

/** Streams as a sandbox gets them: numbered, and without addresses, which may hold keys. */
export function forSandbox(streams: readonly ParsedStream[]): readonly ParsedStream[] {
  return streams.map((stream, index) => ({
    ...stream,
    id: String(index),
    addon: { ...stream.addon, manifestUrl: '' },
    upstream: typeof stream.upstream['nzbUrl'] === 'string' ? { nzbUrl: stream.upstream['nzbUrl'] } : {},
    hints: {},
    url: undefined,
    sources: undefined,
  }));
}
