import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Log } from '../../contracts/service.ts';
import { buildCleanEnvironment } from '../../kit/clean-environment.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import { systemTimer } from '../../kit/system-timer.ts';
import { takeJournal } from './journal.ts';
import type { Check, CheckResult, EngineAddress, FromChecker, ListedContainer, ToChecker } from './messages.ts';
import type { TargetPolicy } from './target-policy.ts';

const processFile = fileURLToPath(getThreadFile('checker-process', import.meta.url));
const memoryMb = 512;
const restartMs = 1000;
/** Exceeds the timeout of every check that a caller waits for. */
const requestTimeoutMs = 120_000;
const pingEveryMs = 3000;
/** Number of unanswered pings in a row after which the process is restarted. */
const maxMissedPings = 5;
/** Maximum number of monitors that are quarantined at the start. When more were being checked, they become suspects. */
const maxQuarantinedAtStart = 3;
/** Duration for which a restart of the process is reported as a problem. */
const reportedMs = 3_600_000;

export interface CheckerEvents {
  readonly results: (results: readonly CheckResult[]) => void;
  /** Reports that the computer slept, or that the process could not run, for this many milliseconds. */
  readonly slept: (ms: number) => void;
  /** Reports that the checker process or Homeport ended while only these monitors were being checked. */
  readonly quarantine: (ids: readonly number[]) => void;
}

export interface CheckerParts {
  readonly clock: Clock;
  readonly log: Log;
  /** File that lists the monitors whose checks are running. */
  readonly journal: string;
  readonly policy: () => TargetPolicy;
}

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly limit: Disposable;
}

/**
 * Manages the checker process. The process starts with the first monitor and is restarted when it ends or stops
 * responding. The only monitor that was being checked when the process ended is quarantined.
 */
export class Checker implements AsyncDisposable {
  readonly #parts: CheckerParts;
  readonly #events: CheckerEvents;
  readonly #checks = new Map<number, Check>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #watchdog: Disposable;
  #suspects: readonly number[] = [];
  #engines: readonly EngineAddress[] = [];
  #process: ChildProcess | undefined;
  #restarting: Disposable | undefined;
  #policy = '';
  #missedPings = 0;
  #requests = 0;
  #closed = false;
  #restartedAt = -Infinity;

  constructor(parts: CheckerParts, events: CheckerEvents) {
    this.#parts = parts;
    this.#events = events;
    this.#watchdog = systemTimer.every(pingEveryMs, () => this.#watch());
  }

  /** Returns why checks were interrupted within the last hour; undefined without an interruption. */
  get problem(): string | undefined {
    const isRecent = this.#parts.clock.now() - this.#restartedAt < reportedMs;
    return isRecent ? 'the process that checks stopped and was restarted' : undefined;
  }

  /**
   * Returns the monitors to quarantine because Homeport ended during their checks. Must be called once, before the
   * first `set`.
   */
  recover(): readonly number[] {
    const ids = takeJournal(this.#parts.journal);
    if (ids.length === 0) return [];
    this.#parts.log.warn('monitors were being checked when Homeport ended unexpectedly', { ids });
    if (ids.length <= maxQuarantinedAtStart) return ids;
    this.#suspects = ids;
    return [];
  }

  set(checks: readonly Check[]): void {
    if (checks.length === 0) return;
    for (const check of checks) this.#checks.set(check.id, { ...check, now: false });
    this.#tell({ kind: 'set', checks });
  }

  remove(ids: readonly number[]): void {
    for (const id of ids) this.#checks.delete(id);
    if (this.#process !== undefined) this.#tell({ kind: 'remove', ids });
  }

  setEngines(engines: readonly EngineAddress[]): void {
    this.#engines = engines;
    if (this.#process !== undefined) this.#tell({ kind: 'engines', engines });
  }

  /** Sends the target policy to the process when it changed. */
  refreshPolicy(): void {
    if (this.#process === undefined || this.#closed) return;
    const policy = this.#parts.policy();
    const text = JSON.stringify(policy);
    if (text === this.#policy) return;
    this.#policy = text;
    this.#send(this.#process, { kind: 'policy', policy });
  }

  /** Schedules the next check of a monitor, regardless of its interval. */
  again(id: number, inMs: number): void {
    if (this.#checks.has(id)) this.#tell({ kind: 'again', id, inMs });
  }

  /** Checks a monitor immediately. The result is passed to `results` as well. */
  now(id: number): Promise<CheckResult> {
    return this.#ask<CheckResult>((request) => ({ kind: 'now', id, request }));
  }

  /**
   * Lists the containers of an engine.
   * @throws Problem `uptime.engine` (502) with the error of the engine
   */
  containers(engine: EngineAddress): Promise<readonly ListedContainer[]> {
    return this.#ask<readonly ListedContainer[]>((request) => ({ kind: 'containers', request, engine }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#watchdog[Symbol.dispose]();
    this.#restarting?.[Symbol.dispose]();
    this.#rejectWaiting();
    const running = this.#process;
    if (running === undefined) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
    takeJournal(this.#parts.journal);
  }

  #ask<T>(message: (request: number) => ToChecker): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const request = (this.#requests += 1);
      const limit = this.#parts.clock.after(requestTimeoutMs, () => {
        this.#waiting.delete(request);
        reject(new Problem('uptime.no_answer', 504, 'The check has not ended in time.'));
      });
      this.#waiting.set(request, { resolve, reject, limit });
      this.#tell(message(request));
    });
  }

  #tell(message: ToChecker): void {
    if (this.#closed) return;
    this.#process ??= this.#start();
    this.refreshPolicy();
    this.#send(this.#process, message);
  }

  #send(to: ChildProcess, message: ToChecker): void {
    // A process that just ended is handled by its exit event.
    to.send(message, () => undefined);
  }

  #start(): ChildProcess {
    // The argument identifies the Homeport instance of the child in a process list.
    const child = fork(processFile, [this.#parts.journal], {
      execArgv: [`--max-old-space-size=${String(memoryMb)}`],
      env: buildCleanEnvironment({ ELECTRON_RUN_AS_NODE: '1', ...trustedCertificates() }),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.on('message', (message: FromChecker) => this.#take(message));
    child.once('error', (error) => this.#parts.log.error('the process that checks could not start', { error }));
    child.once('exit', (code, signal) => this.#ended({ code, signal }));
    child.unref();
    child.channel?.unref();
    this.#policy = '';
    this.#missedPings = 0;
    this.#send(child, { kind: 'begin', journal: this.#parts.journal, suspects: this.#suspects });
    this.#send(child, { kind: 'engines', engines: this.#engines });
    return child;
  }

  /** Restarts the process when it does not respond, which a single blocking call can cause. */
  #watch(): void {
    const watched = this.#process;
    if (watched === undefined) return;
    this.#missedPings += 1;
    if (this.#missedPings > maxMissedPings) {
      this.#parts.log.error('the process that checks does not answer and is restarted');
      this.#missedPings = 0;
      watched.kill('SIGKILL');
      return;
    }
    this.refreshPolicy();
    this.#send(watched, { kind: 'ping' });
  }

  #ended(how: { readonly code: number | null; readonly signal: string | null }): void {
    this.#process = undefined;
    if (this.#closed) return;
    const inFlight = takeJournal(this.#parts.journal);
    this.#parts.log.error('the process that checks ended and starts again', { ...how, inFlight });
    this.#restartedAt = this.#parts.clock.now();
    const known = inFlight.filter((id) => this.#suspects.includes(id));
    const culprits = known.length === 1 ? known : inFlight.length === 1 ? inFlight : [];
    this.#suspects = [...new Set([...this.#suspects, ...inFlight])].filter((id) => !culprits.includes(id));
    this.#rejectWaiting();
    if (culprits.length > 0) this.#events.quarantine(culprits);
    this.#restarting = systemTimer.after(restartMs, () => {
      if (this.#checks.size > 0) this.#tell({ kind: 'set', checks: [...this.#checks.values()] });
    });
  }

  #rejectWaiting(): void {
    for (const { reject, limit } of this.#waiting.values()) {
      limit[Symbol.dispose]();
      reject(new Problem('uptime.no_checker', 503, 'The check was cut short. Try again.'));
    }
    this.#waiting.clear();
  }

  #take(message: FromChecker): void {
    this.#missedPings = 0;
    switch (message.kind) {
      case 'pong':
        break;
      case 'results':
        this.#suspects = this.#suspects.filter((id) => !message.results.some((result) => result.id === id));
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
    this.#forget(request)?.resolve(value as never);
  }

  #refuse(request: number, reason: string): void {
    const detail = `The container engine does not answer: ${reason}`;
    this.#forget(request)?.reject(new Problem('uptime.engine', 502, detail));
  }

  #forget(request: number): Waiting | undefined {
    const waiting = this.#waiting.get(request);
    this.#waiting.delete(request);
    waiting?.limit[Symbol.dispose]();
    return waiting;
  }
}

/** Passes on the variables that add trusted certificates, so that they apply to monitors as well. */
function trustedCertificates(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
