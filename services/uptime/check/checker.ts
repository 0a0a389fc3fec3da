import * as m from '#messages/uptime-problems';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Log } from '../../contracts/service.ts';
import { buildCleanEnvironment } from '../../kit/clean-environment.ts';
import { registerForkedProcess } from '../../kit/forked-processes.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import { systemTimer } from '../../kit/system-timer.ts';
import { takeJournal } from './journal.ts';
import type {
  Check,
  CheckResult,
  EngineAddress,
  FromChecker,
  ListedContainer,
  ProxyAddress,
  ToChecker,
} from './messages.ts';
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
  readonly handleSleep: (ms: number) => void;
  /** Reports that the checker process or Homeport ended while only these monitors were being checked. */
  readonly quarantine: (ids: readonly number[]) => void;
}

export interface CheckerDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** File that lists the monitors whose checks are running. */
  readonly journalFile: string;
  readonly policy: () => TargetPolicy;
}

interface PendingRequest {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly timeout: Disposable;
}

/**
 * Manages the checker process. The process starts with the first monitor and is restarted when it ends or stops
 * responding. The only monitor that was being checked when the process ended is quarantined.
 */
export class Checker implements AsyncDisposable {
  readonly #dependencies: CheckerDependencies;
  readonly #events: CheckerEvents;
  readonly #checks = new Map<number, Check>();
  readonly #pendingRequests = new Map<number, PendingRequest>();
  readonly #watchdog: Disposable;
  #suspects: readonly number[] = [];
  #engines: readonly EngineAddress[] = [];
  #proxies: readonly ProxyAddress[] = [];
  #process: ChildProcess | undefined;
  #restartTimer: Disposable | undefined;
  #policy = '';
  #missedPings = 0;
  #requests = 0;
  /** ID of the last test. It is negative, so that it is not the ID of a monitor. */
  #lastTestId = 0;
  #closed = false;
  #restartedAt = -Infinity;

  constructor(dependencies: CheckerDependencies, events: CheckerEvents) {
    this.#dependencies = dependencies;
    this.#events = events;
    this.#watchdog = systemTimer.every(pingEveryMs, () => this.#checkProcess());
  }

  /** Returns true when checks were interrupted within the last hour. */
  get wasInterrupted(): boolean {
    return this.#dependencies.clock.now() - this.#restartedAt < reportedMs;
  }

  /**
   * Returns the monitors to quarantine because Homeport ended during their checks. Must be called once, before the
   * first `set`.
   */
  recover(): readonly number[] {
    const ids = takeJournal(this.#dependencies.journalFile);
    if (ids.length === 0) return [];
    this.#dependencies.log.warn('running checks found in the journal of the previous process', { ids });
    if (ids.length <= maxQuarantinedAtStart) return ids;
    this.#suspects = ids;
    return [];
  }

  set(checks: readonly Check[]): void {
    if (checks.length === 0) return;
    for (const check of checks) this.#checks.set(check.id, { ...check, now: false });
    this.#post({ kind: 'set', checks });
  }

  remove(ids: readonly number[]): void {
    for (const id of ids) this.#checks.delete(id);
    if (this.#process !== undefined) this.#post({ kind: 'remove', ids });
  }

  setEngines(engines: readonly EngineAddress[]): void {
    this.#engines = engines;
    if (this.#process !== undefined) this.#post({ kind: 'engines', engines });
  }

  setProxies(proxies: readonly ProxyAddress[]): void {
    this.#proxies = proxies;
    if (this.#process !== undefined) this.#post({ kind: 'proxies', proxies });
  }

  /** Sends the target policy to the process when it changed. */
  refreshPolicy(): void {
    if (this.#process === undefined || this.#closed) return;
    const policy = this.#dependencies.policy();
    const text = JSON.stringify(policy);
    if (text === this.#policy) return;
    this.#policy = text;
    this.#send(this.#process, { kind: 'policy', policy });
  }

  /** Schedules the next check of a monitor, regardless of its interval. */
  scheduleIn(id: number, inMs: number): void {
    if (this.#checks.has(id)) this.#post({ kind: 'again', id, inMs });
  }

  /** Checks a monitor immediately. The result is passed to `results` as well. */
  checkNow(id: number): Promise<CheckResult> {
    return this.#request<CheckResult>((request) => ({ kind: 'now', id, request }));
  }

  /** Checks a configuration once. The result belongs to no monitor. */
  async test(check: Pick<Check, 'config' | 'intervalMs' | 'timeoutMs'>): Promise<CheckResult> {
    const id = (this.#lastTestId -= 1);
    this.#post({ kind: 'set', checks: [{ ...check, id, now: false }] });
    try {
      return await this.checkNow(id);
    } finally {
      this.remove([id]);
    }
  }

  /**
   * Lists the containers of an engine.
   * @throws Problem `uptime.engine` (502) with the error of the engine
   */
  listContainers(engine: EngineAddress): Promise<readonly ListedContainer[]> {
    return this.#request<readonly ListedContainer[]>((request) => ({ kind: 'containers', request, engine }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#watchdog[Symbol.dispose]();
    this.#restartTimer?.[Symbol.dispose]();
    this.#rejectPendingRequests();
    const running = this.#process;
    if (running === undefined) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
    takeJournal(this.#dependencies.journalFile);
  }

  #request<T>(message: (request: number) => ToChecker): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const request = (this.#requests += 1);
      const limit = this.#dependencies.clock.after(requestTimeoutMs, () => {
        this.#pendingRequests.delete(request);
        reject(new Problem('uptime.no_answer', 504, m.checkTimedOut));
      });
      this.#pendingRequests.set(request, { resolve, reject, timeout: limit });
      this.#post(message(request));
    });
  }

  #post(message: ToChecker): void {
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
    const child = fork(processFile, [this.#dependencies.journalFile], {
      execArgv: [`--max-old-space-size=${String(memoryMb)}`],
      env: buildCleanEnvironment({ ELECTRON_RUN_AS_NODE: '1', ...getTrustedCertificates() }),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    registerForkedProcess(child);
    child.on('message', (message: FromChecker) => this.#handleMessage(message));
    child.once('error', (error) => this.#dependencies.log.error('checker process could not start', { error }));
    child.once('exit', (code, signal) => this.#handleExit({ code, signal }));
    child.unref();
    child.channel?.unref();
    this.#policy = '';
    this.#missedPings = 0;
    this.#send(child, { kind: 'begin', journal: this.#dependencies.journalFile, suspects: this.#suspects });
    this.#send(child, { kind: 'engines', engines: this.#engines });
    this.#send(child, { kind: 'proxies', proxies: this.#proxies });
    return child;
  }

  /** Restarts the process when it does not respond, which a single blocking call can cause. */
  #checkProcess(): void {
    const child = this.#process;
    if (child === undefined) return;
    this.#missedPings += 1;
    if (this.#missedPings > maxMissedPings) {
      this.#dependencies.log.error('checker process unresponsive, restarting');
      this.#missedPings = 0;
      child.kill('SIGKILL');
      return;
    }
    this.refreshPolicy();
    this.#send(child, { kind: 'ping' });
  }

  #handleExit(exit: { readonly code: number | null; readonly signal: string | null }): void {
    this.#process = undefined;
    if (this.#closed) return;
    const inFlight = takeJournal(this.#dependencies.journalFile);
    this.#dependencies.log.error('checker process ended, restarting', { ...exit, inFlight });
    this.#restartedAt = this.#dependencies.clock.now();
    const knownSuspects = inFlight.filter((id) => this.#suspects.includes(id));
    const likelySuspects = knownSuspects.length === 1 ? knownSuspects : inFlight.length === 1 ? inFlight : [];
    this.#suspects = [...new Set([...this.#suspects, ...inFlight])].filter((id) => !likelySuspects.includes(id));
    this.#rejectPendingRequests();
    if (likelySuspects.length > 0) this.#events.quarantine(likelySuspects);
    this.#restartTimer = systemTimer.after(restartMs, () => {
      if (this.#checks.size > 0) this.#post({ kind: 'set', checks: [...this.#checks.values()] });
    });
  }

  #rejectPendingRequests(): void {
    for (const { reject, timeout: limit } of this.#pendingRequests.values()) {
      limit[Symbol.dispose]();
      reject(new Problem('uptime.no_checker', 503, m.checkInterrupted));
    }
    this.#pendingRequests.clear();
  }

  #handleMessage(message: FromChecker): void {
    this.#missedPings = 0;
    switch (message.kind) {
      case 'pong':
        break;
      case 'results':
        this.#suspects = this.#suspects.filter((id) => !message.results.some((result) => result.id === id));
        this.#events.results(message.results);
        for (const result of message.results)
          if (result.request !== undefined) this.#resolveRequest(result.request, result);
        break;
      case 'containers':
        if (message.containers !== undefined) this.#resolveRequest(message.request, message.containers);
        else this.#rejectRequest(message.request, message.error ?? '');
        break;
      case 'slept':
        this.#events.handleSleep(message.ms);
    }
  }

  #resolveRequest(request: number, value: unknown): void {
    this.#takeRequest(request)?.resolve(value as never);
  }

  #rejectRequest(request: number, reason: string): void {
    const text = (): string => m.containerEngineFailed({ reason });
    this.#takeRequest(request)?.reject(new Problem('uptime.engine', 502, text));
  }

  #takeRequest(request: number): PendingRequest | undefined {
    const pending = this.#pendingRequests.get(request);
    this.#pendingRequests.delete(request);
    pending?.timeout[Symbol.dispose]();
    return pending;
  }
}

/** Passes on the variables that add trusted certificates, so that they apply to monitors as well. */
function getTrustedCertificates(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
