import { Worker } from 'node:worker_threads';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Log } from '../../contracts/service.ts';
import type { Check, CheckResult, EngineAddress, FromChecker, ListedContainer, ToChecker } from './messages.ts';

const workerFile = new URL(`./checker-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
/** After it broke it is started again. */
const restartMs = 1000;
/** Longer than any time-out of a check that somebody waits for. */
const patienceMs = 120_000;

export interface CheckerEvents {
  readonly results: (results: readonly CheckResult[]) => void;
  /** The machine slept, or this process could not run, for so many ms. */
  readonly slept: (ms: number) => void;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly limit: Disposable;
}

/**
 * The thread that checks, seen from outside. It is started with the first monitor, so that who has none pays nothing, and
 * started again when it breaks.
 */
export class Checker implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #events: CheckerEvents;
  readonly #checks = new Map<number, Check>();
  readonly #waiting = new Map<number, Waiting>();
  #engines: readonly EngineAddress[] = [];
  #worker: Worker | undefined;
  #restarting: Disposable | undefined;
  #requests = 0;
  #closed = false;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }, events: CheckerEvents) {
    this.#clock = clock;
    this.#log = log;
    this.#events = events;
  }

  set(checks: readonly Check[]): void {
    if (checks.length === 0) return;
    for (const check of checks) this.#checks.set(check.id, { ...check, now: false });
    this.#tell({ kind: 'set', checks });
  }

  remove(ids: readonly number[]): void {
    for (const id of ids) this.#checks.delete(id);
    if (this.#worker !== undefined) this.#tell({ kind: 'remove', ids });
  }

  setEngines(engines: readonly EngineAddress[]): void {
    this.#engines = engines;
    if (this.#worker !== undefined) this.#tell({ kind: 'engines', engines });
  }

  /** The next check of a monitor comes in so many ms, whatever its interval. */
  again(id: number, inMs: number): void {
    if (this.#checks.has(id)) this.#tell({ kind: 'again', id, inMs });
  }

  /** Checks at once; `results` hears of it as well, with this number. */
  now(id: number): Promise<CheckResult> {
    return this.#ask<CheckResult>((request) => ({ kind: 'now', id, request }));
  }

  /** @throws Problem `uptime.engine` (502) with what the engine said */
  containers(engine: EngineAddress): Promise<readonly ListedContainer[]> {
    return this.#ask<readonly ListedContainer[]>((request) => ({ kind: 'containers', request, engine }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#restarting?.[Symbol.dispose]();
    this.#giveUp();
    await this.#worker?.terminate();
  }

  #ask<T>(message: (request: number) => ToChecker): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const request = (this.#requests += 1);
      const limit = this.#clock.after(patienceMs, () => {
        this.#waiting.delete(request);
        reject(new Problem('uptime.no_answer', 504, 'The check has not ended in time.'));
      });
      this.#waiting.set(request, { resolve, reject, limit });
      this.#tell(message(request));
    });
  }

  #tell(message: ToChecker): void {
    if (this.#closed) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
  }

  #start(): Worker {
    const worker = new Worker(workerFile, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 512 } });
    worker.on('message', (message: FromChecker) => this.#take(message));
    worker.on('error', (error) => this.#log.error('the checker broke', { error }));
    worker.once('exit', () => this.#ended());
    worker.postMessage({ kind: 'engines', engines: this.#engines } satisfies ToChecker);
    return worker;
  }

  #ended(): void {
    this.#worker = undefined;
    if (this.#closed) return;
    this.#giveUp();
    this.#restarting = this.#clock.after(restartMs, () => {
      if (this.#checks.size > 0) this.#tell({ kind: 'set', checks: [...this.#checks.values()] });
    });
  }

  #giveUp(): void {
    for (const { reject, limit } of this.#waiting.values()) {
      limit[Symbol.dispose]();
      reject(new Problem('uptime.no_checker', 503, 'The check was cut short. Try again.'));
    }
    this.#waiting.clear();
  }

  #take(message: FromChecker): void {
    switch (message.kind) {
      case 'results':
        this.#events.results(message.results);
        for (const result of message.results) if (result.request !== undefined) this.#answer(result.request, result);
        break;
      case 'containers':
        if (message.containers !== undefined) this.#answer(message.request, message.containers);
        else this.#refuse(message.request, message.trouble ?? '');
        break;
      case 'slept':
        this.#events.slept(message.ms);
    }
  }

  #answer(request: number, value: unknown): void {
    const waiting = this.#taken(request);
    waiting?.resolve(value as never);
  }

  #refuse(request: number, trouble: string): void {
    this.#taken(request)?.reject(new Problem('uptime.engine', 502, `The container engine does not answer: ${trouble}`));
  }

  #taken(request: number): Waiting | undefined {
    const waiting = this.#waiting.get(request);
    this.#waiting.delete(request);
    waiting?.limit[Symbol.dispose]();
    return waiting;
  }
}
