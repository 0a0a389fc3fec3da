import { isDeepStrictEqual } from 'node:util';
import { serviceChanged, type ListenerState, type ServiceState } from '../../../services/contracts/control/api.ts';
import type { DispatchHandlers, DispatchTarget, ConnectionHandler } from '../../../services/contracts/dispatch.ts';
import type { Jobs } from '../../../services/contracts/jobs.ts';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';
import type { SuggestedAction } from '../../../services/contracts/health.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { settingsSentence } from '../config/reason.ts';
import { takesEffectAtOnce, withLiveFields } from '../config/live-fields.ts';
import type { ServiceSettings } from '../config/settings.ts';
import type { PartLog } from '../log/log.ts';
import type { Powers } from './capabilities.ts';
import { HealthCheck } from './health-check.ts';
import type { HostParts } from './host-parts.ts';
import { PendingRestart } from './pending-restart.ts';
import { Revival } from './revival.ts';
import { openServiceContext } from './service-context.ts';
import { sentenceOf } from './service-listeners.ts';
import { runService, type ServiceRun } from './service-run.ts';
import { addressIn, ofClosedListeners, stateOfOff, targetOf, withoutListeners, withoutWords } from './service-state.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { setKeyAside } from '../vault/replace-key.ts';

const retryFailedAfterMs = 30_000;
const healthEveryMs = 10_000;
const reconfigureLimitMs = 10_000;

/**
 * The life of one service in this host: starts and stops it, looks after it, and keeps its failure to itself. Calls are
 * serialised, so that a restart in the middle of a stop is simply done after it; a start that is under way is given up
 * for them.
 */
export class ServiceRunner {
  readonly descriptor: ServiceDescriptor;
  readonly #parts: HostParts;
  readonly #log: PartLog;
  readonly #powers: Powers;
  #settings: ServiceSettings;
  /** Those that the run has; others than the settings while a restart is pending. */
  #applied: ServiceSettings;
  #problems: readonly SettingsProblem[];
  #run: ServiceRun | undefined;
  #state: ServiceState;
  #turn: Promise<unknown> = Promise.resolve();
  #starting: AbortController | undefined;
  #pending: PendingRestart | undefined;
  #closed = false;
  #retry: Disposable | undefined;
  #watch: Disposable | undefined;
  readonly #revival: Revival;
  /** What did not let go in time, of any of its runs. */
  readonly #left = new Set<Promise<unknown>>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #health: HealthCheck;

  /** `problems`: what of its settings could not be used. Of the `powers` it gets those that its capabilities name. */
  constructor(
    descriptor: ServiceDescriptor,
    parts: HostParts,
    given: {
      readonly settings: ServiceSettings;
      readonly problems: readonly SettingsProblem[];
      readonly powers: Powers;
    },
  ) {
    this.descriptor = descriptor;
    this.#parts = parts;
    this.#log = parts.log.child(descriptor.id);
    this.#settings = this.#applied = given.settings;
    this.#problems = given.problems;
    this.#powers = given.powers;
    this.#health = new HealthCheck(parts.clock, this.#log);
    this.#revival = new Revival(parts.clock, () => {
      this.#log.warn('service says that it is down, and is started anew', { reason: this.#state.reason });
      void this.restart();
    });
    this.#state = stateOfOff(descriptor);
  }

  get state(): ServiceState {
    return this.#state;
  }

  /** Undefined while the service is not running. */
  get service(): Service | undefined {
    return this.#run?.service;
  }

  /** Whether something of it may still be at work although it was stopped. */
  get isLeftBehind(): boolean {
    return this.#left.size > 0;
  }

  get jobs(): Jobs | undefined {
    return this.#run?.jobs;
  }

  /**
   * Base address of a listener for a client on this machine, of the main one without a name; undefined while it is not
   * open. While the service starts, it answers 503.
   */
  address(listener?: string): string | undefined {
    return addressIn(this.#state, listener);
  }

  /** Resolves once the first start has opened its listener, or has ended without one. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Never rejects for the service's own failure: that is in {@link state}. */
  start(): Promise<void> {
    return this.#inTurn(() => this.#start());
  }

  /** Stops it for good: whatever asks for a start from now on is too late. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#instead(() => this.#stop());
  }

  /**
   * Applies what may have changed: live settings at once, the others by a restart, which waits for running transfers.
   * `pending`: it waits for them now.
   */
  apply(settings: ServiceSettings, problems: readonly SettingsProblem[]): Promise<'live' | 'pending' | 'restarted'> {
    return this.#instead(async () => {
      this.#settings = settings;
      this.#problems = problems;
      const isWhole = await this.#takeLive(settings);
      if (isWhole) return 'live';
      if (this.#waitForTransfers()) return 'pending';
      await this.#stop();
      await this.#start();
      return 'restarted';
    });
  }

  /** Gives the running service what changed of its live settings. Answers whether that was all. */
  async #takeLive(settings: ServiceSettings): Promise<boolean> {
    const service = this.#run?.service;
    if (service?.reconfigure === undefined || this.#isBarred) return false;
    const live = withLiveFields(this.descriptor, this.#applied, settings);
    const isWhole = takesEffectAtOnce(this.descriptor, this.#applied, settings);
    if (!isWhole && isDeepStrictEqual(live.settings, this.#applied.settings)) return false;
    try {
      await withTimeout(service.reconfigure(live.settings), reconfigureLimitMs, this.#parts.clock);
      this.#applied = live;
      return isWhole;
    } catch (error) {
      this.#log.warn('settings could not be applied while it runs; it restarts', { error });
      return false;
    }
  }

  /** Restarts once the transfers that run have ended; false where there is nothing to wait for. */
  #waitForTransfers(): boolean {
    const run = this.#run;
    // Someone who switches a service off wants it off.
    if (run === undefined || !this.#settings.enabled) return false;
    const limitMs = this.#parts.hostSettings().restartWait * 1000;
    const until = this.#parts.clock.now() + limitMs;
    const pending = new PendingRestart({
      ...{
        service: run.service,
        requests: (begunBefore: number) => run.running(begunBefore),
        clock: this.#parts.clock,
        limitMs,
      },
      waiting: (transfers) => this.#become({ pendingRestart: { transfers, until } }),
      due: () => void this.restart(),
    });
    if (!pending.start()) return false;
    this.#pending = pending;
    this.#log.info('restart pending: waiting for running transfers', { seconds: limitMs / 1000 });
    return true;
  }

  #giveUpWaiting(): void {
    this.#pending?.[Symbol.dispose]();
    this.#pending = undefined;
    this.#become({ pendingRestart: undefined });
  }

  restart(): Promise<void> {
    return this.#instead(async () => {
      await this.#stop();
      await this.#start();
    });
  }

  /** Has it make a new key in place of a stored one, and restarts it. @throws Problem `host.unknown_key` (404). */
  replaceKey(name: string): Promise<void> {
    return this.#instead(async () => {
      await this.#stop();
      try {
        await using room = await openServiceContext(this.descriptor, this.#parts);
        await setKeyAside(this.descriptor, name, room.context);
        this.#log.warn('stored key replaced on request', { key: name });
      } finally {
        await this.#start();
      }
    });
  }

  /** Its main listener's handlers for a service that answers to `hosts`; undefined while it does not run. */
  dispatched(hosts: readonly string[]): DispatchHandlers | undefined {
    return this.#run?.dispatched(hosts);
  }

  /** As one sees it who hands it requests; undefined for one that answers no HTTP. */
  get target(): DispatchTarget | undefined {
    return targetOf(this.descriptor, this.#state, this.#run?.hosts.names ?? []);
  }

  /** What takes connections for one of its listeners that speaks no HTTP; undefined while that is not open. */
  taker(listener: string): ConnectionHandler | undefined {
    return this.#run?.taker(listener);
  }

  /** Takes over which hosts and origins are let in, as the host's settings say now. */
  renewGuard(): void {
    this.#run?.renewGuard();
  }

  /** Asks the service how it is and tells the pages when that has changed. */
  async refresh(): Promise<ServiceState> {
    const service = this.#run?.service;
    if (service !== undefined && (this.#state.state === 'up' || this.#state.state === 'degraded')) {
      const health = await this.#health.ask(service);
      if (this.#run?.service === service) {
        const pauseMs = this.#revival.heard(health.state);
        const sentence = pauseMs === undefined ? '' : ` It is started anew after a pause of ${pauseMs / 1000} seconds.`;
        this.#become({
          ...{ remedy: health.remedy, begin: health.begin, idle: health.idle, running: health.running },
          ...(health.state === 'up'
            ? { state: 'up', detail: health.detail, reason: null }
            : { state: 'degraded', detail: '', reason: `${health.detail}${sentence}` }),
          ...ofClosedListeners(this.#state),
        });
      }
    }
    return this.#state;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#turn.then(work);
    this.#turn = next.catch((error: unknown) => this.#log.error('life cycle failed', { error }));
    return next;
  }

  /** In turn, but without waiting for a start that may never end. */
  #instead<T>(work: () => Promise<T>): Promise<T> {
    this.#starting?.abort();
    this.#giveUpWaiting();
    return this.#inTurn(work);
  }

  async #start(): Promise<void> {
    if (this.#run !== undefined || this.#closed) return;
    this.#retry?.[Symbol.dispose]();
    if (!this.#settings.enabled) {
      this.#become({ state: 'off', ...withoutWords, reason: null, suggestedPort: null, ...withoutListeners });
      this.#opened.resolve();
      return;
    }
    if (this.#isBarred) {
      // Defaults stand in for what was refused: ports, folders and rules that nobody asked for.
      const reason = `Its settings cannot be used. ${this.#problems.map(settingsSentence).join(' ')}`;
      this.#log.error('service is not started with settings that cannot be used', { reason });
      this.#become({ state: 'failed', ...withoutWords, reason, suggestedPort: null, ...withoutListeners });
      this.#opened.resolve();
      return;
    }
    this.#become({ state: 'starting', ...withoutWords, reason: null, suggestedPort: null, listeners: [] });
    const starting = new AbortController();
    this.#starting = starting;
    this.#applied = this.#settings;
    try {
      this.#run = await runService(this.descriptor, this.#parts, this.#settings, {
        powers: this.#powers,
        signal: starting.signal,
        listening: (states) => this.#listens(states),
        leftBehind: (rest) => {
          this.#left.add(rest);
          void rest.finally(() => this.#left.delete(rest));
        },
      });
      this.#become({ state: 'up' });
      this.#revival.started();
      await this.refresh();
      let looking = false;
      this.#watch = this.#parts.clock.every(healthEveryMs, () => {
        // A clock that leaps forward calls at once for all the time between; one look answers them.
        if (looking) return;
        looking = true;
        this.refresh()
          .catch((error: unknown) => this.#log.error('health check failed', { error }))
          .finally(() => (looking = false));
      });
    } catch (error) {
      if (starting.signal.aborted) this.#become({ state: 'off', ...withoutListeners });
      else this.#fail(error);
    } finally {
      this.#starting = undefined;
      this.#opened.resolve();
    }
  }

  /** The app's own pages and API are where settings are repaired: they make do without. */
  get #isBarred(): boolean {
    return this.#problems.length > 0 && this.descriptor.capabilities?.includes('controlHost') !== true;
  }

  #listens(listeners: readonly ListenerState[]): void {
    const [main] = listeners;
    this.#become({
      listeners: [...listeners],
      address: main?.address ?? null,
      port: main?.port ?? null,
      suggestedPort: main?.suggestedPort ?? null,
    });
    this.#opened.resolve();
    // One that opens later takes its sentence back.
    this.refresh().catch((error: unknown) => this.#log.error('health check failed', { error }));
  }

  #fail(error: unknown): void {
    this.#log.error('service did not start', { error });
    this.#become({
      state: 'failed',
      reason: sentenceOf(error),
      remedy: keyRemedy(this.descriptor.id, error),
      ...withoutListeners,
      // Those that could not open, with what is offered in place of each one's port.
      listeners: this.#state.listeners.filter(({ reason }) => reason !== null),
    });
    this.#retry = this.#parts.clock.after(retryFailedAfterMs, () => void this.start());
  }

  async #stop(): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    this.#watch?.[Symbol.dispose]();
    this.#revival.cancel();
    this.#retry = this.#watch = undefined;
    const run = this.#run;
    if (run === undefined) return;
    this.#become({ state: 'stopping', ...withoutWords });
    this.#run = undefined;
    await run.close();
    this.#become({ state: 'off', detail: '', reason: null, ...withoutListeners });
  }

  #become(change: Partial<ServiceState>): void {
    const next = { ...this.#state, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.#state)) return;
    this.#state = next;
    this.#parts.bus.publish(serviceChanged, next);
  }
}

/** What replaces a stored key that cannot be read, with one click of an administrator. */
function keyRemedy(id: string, error: unknown): SuggestedAction | undefined {
  const key = error instanceof Problem && error.code === 'vault.key_unreadable' ? error.fields['key'] : undefined;
  if (key === undefined) return undefined;
  const path = `/api/services/${id}/keys/${encodeURIComponent(key)}/replace`;
  return { label: 'Replace the key', to: '/', post: { path, body: {} }, adminOnly: true };
}
