import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import type { Clock } from '../contracts/service.ts';
import { buildCleanEnvironment } from './clean-environment.ts';
import { registerForkedProcess } from './forked-processes.ts';
import type { FromLimitedProcess, LimitedProcessArguments, ToLimitedProcess } from './limited-process-messages.ts';
import { getThreadFile } from './limited-thread.ts';

const entryFile = fileURLToPath(getThreadFile('limited-process-child', import.meta.url));
/** Node can take this long to start on a busy computer. */
const startupMs = 30_000;

/** Limit of {@link LimitedProcesses} that an evaluation exceeded. */
export type Limit = 'time' | 'memory' | 'input' | 'output' | 'queue';

/** Thrown when an evaluation was ended or rejected because it exceeds a limit. */
export class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded';
  readonly limit: Limit;

  constructor(limit: Limit, message: string) {
    super(message);
    this.limit = limit;
  }
}

/** Thrown when the evaluated module throws; the message is that of its error, truncated to 500 characters. */
export class EvaluationFailed extends Error {
  override readonly name = 'EvaluationFailed';
}

/** Limits of a limited process. */
export interface ProcessLimits {
  readonly clock: Clock;
  /** Heap of the child, in MB. */
  readonly memoryMb: number;
  /** Time limit of one evaluation, without waiting for a free child. */
  readonly timeoutMs: number;
  /** Maximum number of concurrent children. */
  readonly maxProcesses?: number;
  /** Maximum number of evaluations that wait for a free child. */
  readonly maxWaiting?: number;
  readonly maxInputBytes?: number;
  readonly maxOutputBytes?: number;
  /** Time until an idle child is ended. */
  readonly idleMs?: number;
  /** The module loads native add-ons, which Node's permission model cannot restrict. */
  readonly nativeAddons?: boolean;
}

interface Evaluation {
  readonly input: Uint8Array;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Evaluates untrusted expressions in child processes with limits on time, memory, input and output. Worker threads
 * are unsuitable: V8 aborts the whole process when one large allocation exceeds the heap limit of a thread. The
 * module exports `run(input)`, which returns the answer or a promise of it; both are structured clones. Children
 * start with the first evaluation, are reused, and are replaced when one exceeds a limit.
 */
export class LimitedProcesses implements AsyncDisposable {
  readonly #module: URL;
  readonly #limits: Required<ProcessLimits>;
  readonly #waiting: Evaluation[] = [];
  readonly #children = new Set<LimitedChild>();
  readonly #ended = new Set<Promise<void>>();
  #closed = false;

  constructor(module: URL, limits: ProcessLimits) {
    this.#module = module;
    this.#limits = {
      maxProcesses: 1,
      maxWaiting: 200,
      maxInputBytes: 4 * 1024 * 1024,
      maxOutputBytes: 1024 * 1024,
      idleMs: 30_000,
      nativeAddons: false,
      ...limits,
    };
  }

  /**
   * Runs the module's `run` with `input` and returns its answer.
   * @throws LimitExceeded when a limit is exceeded, EvaluationFailed when the module throws.
   */
  async run<Answer>(input: unknown): Promise<Answer> {
    const { maxInputBytes, maxWaiting } = this.#limits;
    if (this.#closed) throw new EvaluationFailed('the service is stopping');
    const bytes = serialize(input);
    if (bytes.length > maxInputBytes) {
      throw new LimitExceeded('input', `the input is larger than ${String(maxInputBytes)} bytes`);
    }
    if (this.#waiting.length >= maxWaiting) throw new LimitExceeded('queue', 'too many evaluations are waiting');
    return await new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({ input: bytes, resolve, reject });
      this.#next();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new EvaluationFailed('the service is stopping'));
    for (const child of this.#children) child.kill();
    await Promise.all(this.#ended);
  }

  #next(): void {
    if (this.#waiting.length === 0 || this.#closed) return;
    const idle = [...this.#children].find((child) => !child.isBusy);
    if (idle === undefined && this.#children.size >= this.#limits.maxProcesses) return;
    const evaluation = this.#waiting.shift();
    if (evaluation === undefined) return;
    void (idle ?? this.#start()).evaluate(evaluation).finally(() => this.#next());
    this.#next();
  }

  #start(): LimitedChild {
    const child = new LimitedChild(this.#module, this.#limits);
    this.#children.add(child);
    const ended = child.ended.then(() => {
      this.#children.delete(child);
      this.#ended.delete(ended);
      this.#next();
    });
    this.#ended.add(ended);
    return child;
  }
}

/** Child process that evaluates one input at a time. */
class LimitedChild {
  readonly ended: Promise<void>;
  readonly #limits: Required<ProcessLimits>;
  readonly #child: ChildProcess;
  readonly #ready = Promise.withResolvers<void>();
  #answer: PromiseWithResolvers<FromLimitedProcess> | undefined;
  #idle: Disposable | undefined;
  /** Set once the child is being killed or has ended; it takes no further evaluation. */
  #hasEnded = false;
  #evaluating = false;

  constructor(module: URL, limits: Required<ProcessLimits>) {
    this.#limits = limits;
    const { memoryMb, timeoutMs, maxOutputBytes } = limits;
    const parameters: LimitedProcessArguments = { module: module.href, memoryMb, timeoutMs, maxOutputBytes };
    this.#child = fork(entryFile, [JSON.stringify(parameters)], {
      execArgv: nodeArguments(limits),
      env: buildCleanEnvironment({ ELECTRON_RUN_AS_NODE: '1' }),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    registerForkedProcess(this.#child);
    this.#child.on('message', (message: FromLimitedProcess) => this.#onMessage(message));
    this.ended = new Promise((resolve) => {
      const end = (): void => {
        this.#markEnded();
        resolve();
      };
      this.#child.once('error', end).once('exit', end);
    });
    this.#ready.promise.catch(() => undefined);
    this.#release();
  }

  /** Also while it is being killed, so that a replacement starts only after its end. */
  get isBusy(): boolean {
    return this.#evaluating || this.#hasEnded;
  }

  kill(): void {
    this.#hasEnded = true;
    this.#child.kill('SIGKILL');
  }

  /** Settles the evaluation. Never rejects. */
  async evaluate({ input, resolve, reject }: Evaluation): Promise<void> {
    this.#evaluating = true;
    this.#idle?.[Symbol.dispose]();
    this.#child.ref();
    this.#child.channel?.ref();
    try {
      const answer = await this.#exchange(input);
      if (answer.kind === 'answer') resolve(deserialize(answer.value) as never);
      else if (answer.kind === 'failed') reject(new EvaluationFailed(answer.message));
      else
        reject(new LimitExceeded('output', `the result is larger than ${String(this.#limits.maxOutputBytes)} bytes`));
    } catch (error) {
      this.kill();
      reject(error instanceof Error ? error : new Error(String(error)));
      await this.ended;
    } finally {
      this.#evaluating = false;
      this.#release();
      this.#idle = this.#limits.clock.after(this.#limits.idleMs, () => this.kill());
    }
  }

  async #exchange(input: Uint8Array): Promise<FromLimitedProcess> {
    const { clock, timeoutMs } = this.#limits;
    const answer = (this.#answer = Promise.withResolvers<FromLimitedProcess>());
    answer.promise.catch(() => undefined);
    using _startup = clock.after(startupMs, () => this.#ready.reject(new LimitExceeded('time', 'it did not start')));
    await this.#ready.promise;
    const timeoutError = new LimitExceeded('time', `it takes longer than ${String(timeoutMs)} ms`);
    using _late = clock.after(timeoutMs, () => answer.reject(timeoutError));
    this.#child.send({ input } satisfies ToLimitedProcess, (error) => {
      if (error !== null) answer.reject(this.#buildDeathError());
    });
    return await answer.promise;
  }

  #onMessage(message: FromLimitedProcess): void {
    if (message.kind === 'ready') this.#ready.resolve();
    else this.#answer?.resolve(message);
  }

  #markEnded(): void {
    this.#hasEnded = true;
    this.#idle?.[Symbol.dispose]();
    this.#ready.reject(this.#buildDeathError());
    this.#answer?.reject(this.#buildDeathError());
  }

  #buildDeathError(): Error {
    const { memoryMb } = this.#limits;
    return new LimitExceeded('memory', `it was ended, most likely because it needs more than ${String(memoryMb)} MB`);
  }

  /** Without work it keeps no process alive. */
  #release(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }
}

/** Node's permission model takes files, programs and add-ons from the child; under Electron it is not relied on. */
function nodeArguments({ memoryMb, nativeAddons }: Required<ProcessLimits>): string[] {
  const isRestricted = process.versions['electron'] === undefined && !nativeAddons;
  const permissions = ['--permission', '--allow-fs-read=*', '--allow-worker'];
  return [`--max-old-space-size=${String(memoryMb)}`, '--max-semi-space-size=8', ...(isRestricted ? permissions : [])];
}
