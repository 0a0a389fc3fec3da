import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { CheckJournal } from './journal.ts';
import { setTargetPolicy } from './target-policy.ts';
import { Containers } from './containers.ts';
import { listContainers } from './engine.ts';
import { CheckFailure, explain } from './failure.ts';
import { probeHttp } from './http.ts';
import type { Check, CheckResult, EngineAddress, FromChecker, ToChecker } from './messages.ts';
import { probeMqtt } from './mqtt.ts';
import { probeNtp } from './ntp.ts';
import { probePostgres } from './postgres.ts';
import type { Found, ProbeOrder } from './probe.ts';
import { probeRedis } from './redis.ts';
import { Schedule } from './schedule.ts';
import { probeDns, probePort, probeWebSocket } from './simple.ts';
import { probeSmtp } from './smtp.ts';

/** Maximum number of concurrent checks; further checks are queued. */
const mostAtOnce = 384;
/** Maximum delay of a result before its batch is sent. */
const gatherMs = 50;
const tickMs = 1000;
/** Delay of a tick that indicates a sleep of the computer. */
const sleptMs = 5000;
/** Delay of a tick that indicates that the process was blocked, so that timeouts are unreliable. */
const laggedMs = 500;
const listMs = 10_000;

const probes: Readonly<Record<string, (order: ProbeOrder) => Promise<Found>>> = {
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
export const checkedTypes: ReadonlySet<string> = new Set([...Object.keys(probes), 'docker']);

/** Schedules and runs the checks in the checker process, with one timer for all monitors. */
export class Runner {
  readonly #send: (message: FromChecker) => void;
  readonly #schedule = new Schedule();
  readonly #checks = new Map<number, Check>();
  readonly #engines = new Map<number, EngineAddress>();
  readonly #chains = new Map<number, string>();
  readonly #running = new Set<number>();
  /**
   * Monitors that are checked one at a time until each check completed, because one of them may have ended the process.
   */
  readonly #suspects = new Set<number>();
  #journal: CheckJournal | undefined;
  readonly #line: { readonly id: number; readonly due: number }[] = [];
  /** IDs of `now` requests by monitor. */
  readonly #asked = new Map<number, number[]>();
  readonly #containers: Containers;
  #gathered: CheckResult[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: NodeJS.Timeout | undefined;
  #ticking: NodeJS.Timeout | undefined;
  #lastTick = { steady: steadyNow(), wall: Date.now() };
  /** Time at which the process was last blocked. */
  #laggedAt = -Infinity;
  /** Incremented after each sleep; results of checks that started earlier are discarded. */
  #epoch = 0;

  constructor(send: (message: FromChecker) => void) {
    this.#send = send;
    this.#containers = new Containers((engine, names) => this.#containerChanged(engine, names));
  }

  take(message: ToChecker): void {
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
        this.#schedule.moveTo(message.id, steadyNow() + message.inMs);
        break;
      case 'now':
        this.#checkNow(message.id, message.request);
        break;
      case 'engines':
        this.#engines.clear();
        for (const engine of message.engines) this.#engines.set(engine.id, engine);
        break;
      case 'containers':
        void this.#list(message.request, message.engine);
    }
    if (message.kind === 'set' || message.kind === 'remove' || message.kind === 'engines') this.#followEngines();
    this.#wake();
  }

  #set(check: Check): void {
    const now = steadyNow();
    this.#checks.set(check.id, check);
    this.#chains.delete(check.id);
    this.#schedule.set(check.id, check.intervalMs, now, check.now ? now : undefined);
  }

  #remove(id: number): void {
    this.#checks.delete(id);
    this.#chains.delete(id);
    this.#schedule.remove(id);
    this.#containers.forget(id);
  }

  #checkNow(id: number, request: number): void {
    const waiting = this.#asked.get(id);
    if (waiting === undefined) this.#asked.set(id, [request]);
    else waiting.push(request);
    if (!this.#running.has(id)) this.#schedule.moveTo(id, steadyNow());
  }

  #containerChanged(engine: number, names: readonly string[]): void {
    for (const { id, config } of this.#checks.values()) {
      if (config.type !== 'docker' || config.docker_host !== engine) continue;
      const name = (config.docker_container ?? '').replace(/^\//, '');
      const isIt = names.some((one) => one === name || (name.length >= 12 && one.startsWith(name)));
      if (isIt) this.#schedule.moveTo(id, steadyNow());
    }
    this.#wake();
  }

  #followEngines(): void {
    const used = new Set([...this.#checks.values()].flatMap(({ config }) => config.docker_host ?? []));
    this.#containers.follow([...this.#engines.values()].filter(({ id }) => used.has(id)));
  }

  async #list(request: number, engine: EngineAddress): Promise<void> {
    try {
      const containers = await listContainers(engine, AbortSignal.timeout(listMs));
      this.#send({ kind: 'containers', request, containers });
    } catch (error) {
      this.#send({ kind: 'containers', request, trouble: explain(error).msg });
    }
  }

  /** Starts the due checks and sets the timer for the next one. */
  #wake(): void {
    clearTimeout(this.#timer);
    const now = steadyNow();
    for (let turn = this.#schedule.take(now); turn !== undefined; turn = this.#schedule.take(now))
      this.#line.push(turn);
    this.#startWaiting();
    const next = this.#schedule.next();
    if (next !== undefined) this.#timer = setTimeout(() => this.#wake(), Math.min(Math.max(0, next - now), 2 ** 30));
    this.#keepTicking();
  }

  #startWaiting(): void {
    const postponed: { readonly id: number; readonly due: number }[] = [];
    while (this.#running.size < mostAtOnce) {
      const turn = this.#line.shift();
      if (turn === undefined) break;
      if (this.#running.has(turn.id)) continue;
      const isSuspect = this.#suspects.has(turn.id);
      if (isSuspect && [...this.#running].some((id) => this.#suspects.has(id))) postponed.push(turn);
      else void this.#run(turn.id, turn.due);
    }
    this.#line.unshift(...postponed);
  }

  #keepTicking(): void {
    if (this.#schedule.size === 0 && this.#running.size === 0) {
      clearInterval(this.#ticking);
      this.#ticking = undefined;
    } else if (this.#ticking === undefined) {
      this.#lastTick = { steady: steadyNow(), wall: Date.now() };
      this.#ticking = setInterval(() => this.#tick(), tickMs);
    }
  }

  #tick(): void {
    const tick = { steady: steadyNow(), wall: Date.now() };
    const late = Math.max(tick.steady - this.#lastTick.steady, tick.wall - this.#lastTick.wall) - tickMs;
    this.#lastTick = tick;
    if (late > laggedMs) this.#laggedAt = tick.steady;
    if (late <= sleptMs) return;
    this.#epoch += 1;
    this.#send({ kind: 'slept', ms: late });
  }

  async #run(id: number, due: number): Promise<void> {
    const check = this.#checks.get(id);
    if (check === undefined) return;
    this.#running.add(id);
    this.#journal?.write(this.#running);
    const epoch = this.#epoch;
    const began = steadyNow();
    const at = Date.now();
    const found = await this.#probe(check);
    this.#running.delete(id);
    this.#suspects.delete(id);
    this.#journal?.write(this.#running);
    // The result is discarded when the monitor was paused or removed meanwhile.
    if (this.#checks.has(id)) {
      this.#schedule.done(id, Math.max(steadyNow(), due));
      const lagged = this.#laggedAt >= began - tickMs || began - due > laggedMs;
      if (epoch === this.#epoch) this.#pass({ ...found, id, at, lateMs: Math.max(0, began - due), lagged });
      else this.#schedule.moveTo(id, steadyNow() + tickMs);
    }
    this.#wake();
  }

  async #probe(check: Check): Promise<Omit<CheckResult, 'id' | 'at' | 'lateMs' | 'lagged'>> {
    const { id, config, timeoutMs } = check;
    const ending = new AbortController();
    const timer = setTimeout(
      () => ending.abort(new CheckFailure(`timeout of ${String(Math.round(timeoutMs))}ms exceeded`)),
      timeoutMs,
    );
    let certificate: CheckResult['certificate'];
    const order: ProbeOrder = {
      id,
      config,
      signal: ending.signal,
      engine: (engine) => this.#engines.get(engine),
      onChain: (chain, fingerprint) => {
        if (this.#chains.get(id) === fingerprint) return;
        this.#chains.set(id, fingerprint);
        certificate = chain();
      },
    };
    const began = performance.now();
    const withChain = () => (certificate === undefined ? {} : { certificate });
    try {
      const probe = probes[config.type] ?? ((wanted: ProbeOrder) => this.#containers.probe(wanted));
      const { status, msg, ping } = await probe(order);
      const took = Math.round(performance.now() - began);
      const answered = status === heartbeatStatus.up ? took : null;
      return { status, msg, ping: ping === undefined ? answered : ping, ...withChain() };
    } catch (error) {
      const { msg, unreachable } = explain(error);
      const byStatusCode = error instanceof CheckFailure && error.byStatusCode;
      const notChecked = error instanceof CheckFailure && error.notChecked;
      const timedOut = ending.signal.aborted;
      return {
        status: heartbeatStatus.down,
        msg,
        ping: null,
        ...(byStatusCode ? { byStatusCode } : {}),
        ...(notChecked ? { notChecked } : {}),
        ...(unreachable || timedOut ? { unreachable: true } : {}),
        ...withChain(),
      };
    } finally {
      clearTimeout(timer);
    }
  }

  #pass(result: CheckResult): void {
    const requests = this.#asked.get(result.id);
    this.#asked.delete(result.id);
    if (requests === undefined) this.#gathered.push(result);
    else for (const request of requests) this.#gathered.push({ ...result, request });
    // Failures and requested results are sent immediately, others in batches.
    if (result.status !== heartbeatStatus.up || requests !== undefined) this.#sendGathered();
    else this.#sending ??= setTimeout(() => this.#sendGathered(), gatherMs);
  }

  #sendGathered(): void {
    clearTimeout(this.#sending);
    this.#sending = undefined;
    const results = this.#gathered;
    this.#gathered = [];
    if (results.length > 0) this.#send({ kind: 'results', results });
  }
}

/** Returns monotonic milliseconds, unaffected by changes of the system clock. */
function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}
