import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { CheckJournal } from './journal.ts';
import { setTargetPolicy } from './target-policy.ts';
import { Containers } from './containers.ts';
import { listContainers } from './engine.ts';
import { CheckFailure, describeError } from './failure.ts';
import { probeHttp } from './http.ts';
import type { Check, CheckResult, EngineAddress, FromChecker, ProxyAddress, ToChecker } from './messages.ts';
import { probeMqtt } from './mqtt.ts';
import { probeNtp } from './ntp.ts';
import { probePostgres } from './postgres.ts';
import type { CheckOutcome, CheckContext } from './probe.ts';
import { probeRedis } from './redis.ts';
import { Schedule } from './schedule.ts';
import { probeDns, probePort, probeWebSocket } from './simple.ts';
import { probeSmtp } from './smtp.ts';

/** Maximum number of concurrent checks; further checks are queued. */
const maxConcurrentChecks = 384;
/** Maximum delay of a result before its batch is sent. */
const batchDelayMs = 50;
const tickMs = 1000;
/** Delay of a tick that indicates a sleep of the computer. */
const sleepThresholdMs = 5000;
/** Delay of a tick that indicates that the process was blocked, so that timeouts are unreliable. */
const lagThresholdMs = 500;
const listTimeoutMs = 10_000;

const checksByType: Readonly<Record<string, (order: CheckContext) => Promise<CheckOutcome>>> = {
  http: probeHttp,
  keyword: probeHttp,
  'json-query': probeHttp,
  port: probePort,
  dns: probeDns,
  smtp: probeSmtp,
  'websocket-upgrade': probeWebSocket,
  mqtt: probeMqtt,
  postgres: probePostgres,
  redis: probeRedis,
  ntp: probeNtp,
};

/** Monitor types that the checker process handles. */
export const checkedTypes: ReadonlySet<string> = new Set([...Object.keys(checksByType), 'docker']);

/** Schedules and runs the checks in the checker process, with one timer for all monitors. */
export class Runner {
  readonly #send: (message: FromChecker) => void;
  readonly #schedule = new Schedule();
  readonly #checks = new Map<number, Check>();
  readonly #engines = new Map<number, EngineAddress>();
  readonly #proxies = new Map<number, ProxyAddress>();
  readonly #chainFingerprints = new Map<number, string>();
  readonly #running = new Set<number>();
  /**
   * Monitors that are checked one at a time until each check completed, because one of them may have ended the process.
   */
  readonly #suspects = new Set<number>();
  #journal: CheckJournal | undefined;
  readonly #queue: { readonly id: number; readonly due: number }[] = [];
  /** IDs of `now` requests by monitor. */
  readonly #pendingRequests = new Map<number, number[]>();
  readonly #containers: Containers;
  #pendingResults: CheckResult[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sendTimer: NodeJS.Timeout | undefined;
  #tickTimer: NodeJS.Timeout | undefined;
  #lastTick = { steady: getMonotonicTime(), wall: Date.now() };
  /** Time at which the process was last blocked. */
  #lastLagAt = -Infinity;
  /** Incremented after each sleep; results of checks that started earlier are discarded. */
  #sleepCount = 0;

  constructor(send: (message: FromChecker) => void) {
    this.#send = send;
    this.#containers = new Containers((engine, names) => this.#containerChanged(engine, names));
  }

  handleMessage(message: ToChecker): void {
    switch (message.kind) {
      case 'begin':
        this.#journal = new CheckJournal(message.journal);
        for (const id of message.suspects) this.#suspects.add(id);
        break;
      case 'policy':
        setTargetPolicy(message.policy);
        break;
      case 'ping':
        this.#send({ kind: 'pong' });
        return;
      case 'set':
        for (const check of message.checks) this.#set(check);
        break;
      case 'remove':
        for (const id of message.ids) this.#remove(id);
        break;
      case 'again':
        this.#schedule.moveTo(message.id, getMonotonicTime() + message.inMs);
        break;
      case 'now':
        this.#checkNow(message.id, message.request);
        break;
      case 'engines':
        this.#engines.clear();
        for (const engine of message.engines) this.#engines.set(engine.id, engine);
        break;
      case 'proxies':
        this.#proxies.clear();
        for (const proxy of message.proxies) this.#proxies.set(proxy.id, proxy);
        break;
      case 'containers':
        void this.#listContainers(message.request, message.engine);
    }
    if (message.kind === 'set' || message.kind === 'remove' || message.kind === 'engines') this.#followEngines();
    this.#startDueChecks();
  }

  #set(check: Check): void {
    const now = getMonotonicTime();
    this.#checks.set(check.id, check);
    this.#chainFingerprints.delete(check.id);
    this.#schedule.set(check.id, check.intervalMs, now, check.now ? now : undefined);
  }

  #remove(id: number): void {
    this.#checks.delete(id);
    this.#chainFingerprints.delete(id);
    this.#schedule.remove(id);
    this.#containers.forget(id);
  }

  #checkNow(id: number, request: number): void {
    const requests = this.#pendingRequests.get(id);
    if (requests === undefined) this.#pendingRequests.set(id, [request]);
    else requests.push(request);
    if (!this.#running.has(id)) this.#schedule.moveTo(id, getMonotonicTime());
  }

  #containerChanged(engine: number, names: readonly string[]): void {
    for (const { id, config } of this.#checks.values()) {
      if (config.type !== 'docker' || config.docker_host !== engine) continue;
      const name = (config.docker_container ?? '').replace(/^\//, '');
      const isMatch = names.some((one) => one === name || (name.length >= 12 && one.startsWith(name)));
      if (isMatch) this.#schedule.moveTo(id, getMonotonicTime());
    }
    this.#startDueChecks();
  }

  #followEngines(): void {
    const used = new Set([...this.#checks.values()].flatMap(({ config }) => config.docker_host ?? []));
    this.#containers.follow([...this.#engines.values()].filter(({ id }) => used.has(id)));
  }

  async #listContainers(request: number, engine: EngineAddress): Promise<void> {
    try {
      const containers = await listContainers(engine, AbortSignal.timeout(listTimeoutMs));
      this.#send({ kind: 'containers', request, containers });
    } catch (error) {
      this.#send({ kind: 'containers', request, error: describeError(error).msg });
    }
  }

  /** Starts the due checks and sets the timer for the next one. */
  #startDueChecks(): void {
    clearTimeout(this.#timer);
    const now = getMonotonicTime();
    for (let dueCheck = this.#schedule.take(now); dueCheck !== undefined; dueCheck = this.#schedule.take(now))
      this.#queue.push(dueCheck);
    this.#startQueued();
    const next = this.#schedule.next();
    if (next !== undefined)
      this.#timer = setTimeout(() => this.#startDueChecks(), Math.min(Math.max(0, next - now), 2 ** 30));
    this.#updateTickTimer();
  }

  #startQueued(): void {
    const delayed: { readonly id: number; readonly due: number }[] = [];
    while (this.#running.size < maxConcurrentChecks) {
      const dueCheck = this.#queue.shift();
      if (dueCheck === undefined) break;
      if (this.#running.has(dueCheck.id)) continue;
      const isSuspect = this.#suspects.has(dueCheck.id);
      if (isSuspect && [...this.#running].some((id) => this.#suspects.has(id))) delayed.push(dueCheck);
      else void this.#run(dueCheck.id, dueCheck.due);
    }
    this.#queue.unshift(...delayed);
  }

  #updateTickTimer(): void {
    if (this.#schedule.size === 0 && this.#running.size === 0) {
      clearInterval(this.#tickTimer);
      this.#tickTimer = undefined;
    } else if (this.#tickTimer === undefined) {
      this.#lastTick = { steady: getMonotonicTime(), wall: Date.now() };
      this.#tickTimer = setInterval(() => this.#tick(), tickMs);
    }
  }

  #tick(): void {
    const tick = { steady: getMonotonicTime(), wall: Date.now() };
    const delayMs = Math.max(tick.steady - this.#lastTick.steady, tick.wall - this.#lastTick.wall) - tickMs;
    this.#lastTick = tick;
    if (delayMs > lagThresholdMs) this.#lastLagAt = tick.steady;
    if (delayMs <= sleepThresholdMs) return;
    this.#sleepCount += 1;
    this.#send({ kind: 'slept', ms: delayMs });
  }

  async #run(id: number, due: number): Promise<void> {
    const check = this.#checks.get(id);
    if (check === undefined) return;
    this.#running.add(id);
    this.#journal?.write(this.#running);
    const sleepCountAtStart = this.#sleepCount;
    const startedAt = getMonotonicTime();
    const at = Date.now();
    const outcome = await this.#runCheck(check);
    this.#running.delete(id);
    this.#suspects.delete(id);
    this.#journal?.write(this.#running);
    // The result is discarded when the monitor was paused or removed meanwhile.
    if (this.#checks.has(id)) {
      this.#schedule.done(id, Math.max(getMonotonicTime(), due));
      const isLagged = this.#lastLagAt >= startedAt - tickMs || startedAt - due > lagThresholdMs;
      if (sleepCountAtStart === this.#sleepCount)
        this.#addResult({ ...outcome, id, at, lateMs: Math.max(0, startedAt - due), lagged: isLagged });
      else this.#schedule.moveTo(id, getMonotonicTime() + tickMs);
    }
    this.#startDueChecks();
  }

  async #runCheck(check: Check): Promise<Omit<CheckResult, 'id' | 'at' | 'lateMs' | 'lagged'>> {
    const { id, config, timeoutMs } = check;
    const abortController = new AbortController();
    const timer = setTimeout(
      () => abortController.abort(new CheckFailure(`timeout of ${String(Math.round(timeoutMs))}ms exceeded`)),
      timeoutMs,
    );
    let certificate: CheckResult['certificate'];
    const order: CheckContext = {
      id,
      config,
      signal: abortController.signal,
      engine: (engine) => this.#engines.get(engine),
      proxies: this.#proxies,
      onChain: (chain, fingerprint) => {
        if (this.#chainFingerprints.get(id) === fingerprint) return;
        this.#chainFingerprints.set(id, fingerprint);
        certificate = chain();
      },
    };
    const startedAt = performance.now();
    const getCertificateField = () => (certificate === undefined ? {} : { certificate });
    try {
      const probe = checksByType[config.type] ?? ((context: CheckContext) => this.#containers.probe(context));
      const { status, msg, ping } = await probe(order);
      const durationMs = Math.round(performance.now() - startedAt);
      const responseTimeMs = status === heartbeatStatus.up ? durationMs : null;
      return { status, msg, ping: ping === undefined ? responseTimeMs : ping, ...getCertificateField() };
    } catch (error) {
      const { msg, failure, unreachable } = describeError(error);
      const byStatusCode = error instanceof CheckFailure && error.byStatusCode;
      const notChecked = error instanceof CheckFailure && error.notChecked;
      const timedOut = abortController.signal.aborted;
      return {
        status: heartbeatStatus.down,
        msg,
        ...(failure === undefined ? {} : { failure }),
        ping: null,
        ...(byStatusCode ? { byStatusCode } : {}),
        ...(notChecked ? { notChecked } : {}),
        ...(unreachable || timedOut ? { unreachable: true } : {}),
        ...getCertificateField(),
      };
    } finally {
      clearTimeout(timer);
    }
  }

  #addResult(result: CheckResult): void {
    const requests = this.#pendingRequests.get(result.id);
    this.#pendingRequests.delete(result.id);
    if (requests === undefined) this.#pendingResults.push(result);
    else for (const request of requests) this.#pendingResults.push({ ...result, request });
    // Failures and requested results are sent immediately, others in batches.
    if (result.status !== heartbeatStatus.up || requests !== undefined) this.#sendResults();
    else this.#sendTimer ??= setTimeout(() => this.#sendResults(), batchDelayMs);
  }

  #sendResults(): void {
    clearTimeout(this.#sendTimer);
    this.#sendTimer = undefined;
    const results = this.#pendingResults;
    this.#pendingResults = [];
    if (results.length > 0) this.#send({ kind: 'results', results });
  }
}

/** Returns monotonic milliseconds, unaffected by changes of the system clock. */
function getMonotonicTime(): number {
  return performance.timeOrigin + performance.now();
}
