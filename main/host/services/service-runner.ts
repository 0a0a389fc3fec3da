import { isDeepStrictEqual } from 'node:util';
import * as m from '#messages/host-texts';
import type { ServiceState } from '../../../services/contracts/control/api.ts';
import {
  serviceStatusChanged,
  type ListenerStatus,
  type ServiceStatus,
} from '../../../services/contracts/control/service-status.ts';
import type { DispatchHandlers, DispatchTarget, ConnectionHandler } from '../../../services/contracts/dispatch.ts';
import type { Jobs } from '../../../services/contracts/jobs.ts';
import { readText, readTexts } from '../../../services/contracts/text.ts';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';
import type { Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { formatSettingsProblem } from '../config/reason.ts';
import type { ServiceSettings } from '../config/settings.ts';
import type { PartLog } from '../log/log.ts';
import { announceReplacedKey } from './replaced-keys.ts';
import { findDependencyProblem } from './dependency-problem.ts';
import type { CapabilityProviders } from './capabilities.ts';
import { HealthMonitor } from './health-monitor.ts';
import type { HostDependencies } from './host-parts.ts';
import { applyLiveSettings } from './live-reconfiguration.ts';
import { PendingRestart } from './pending-restart.ts';
import { openServiceContext } from './service-context.ts';
import { toReason } from './service-listeners.ts';
import { runService, type ServiceRun } from './service-run.ts';
import {
  findAddress,
  getListenerFailures,
  getStoppedState,
  findKeyRemedy,
  toDispatchTarget,
  withoutListeners,
  withoutStatus,
} from './service-state.ts';
import { setKeyAside } from '../vault/replace-key.ts';
import { runOutsideRequests } from '../../../services/kit/language.ts';
import { SerialQueue } from '../../../services/kit/serial-queue.ts';

const retryFailedAfterMs = 30_000;

/** Fields of a service's status that change. */
type StatusChange = Partial<ServiceStatus>;

/**
 * Life cycle of one service: starts, stops and monitors it, and isolates its failures. Calls are serialized, so that
 * a restart during a stop runs after it; a running start is cancelled for them.
 */
export class ServiceRunner {
  readonly descriptor: ServiceDescriptor;
  readonly #parts: HostDependencies;
  readonly #log: PartLog;
  readonly #powers: CapabilityProviders;
  #settings: ServiceSettings;
  /** Settings of the current run; they differ from the latest settings while a restart is pending. */
  #applied: ServiceSettings;
  /** Returns the errors in the settings in the current language. */
  #problems: () => readonly SettingsProblem[];
  #run: ServiceRun | undefined;
  #state: ServiceStatus;
  readonly #turns = new SerialQueue();
  #starting: AbortController | undefined;
  #pending: PendingRestart | undefined;
  #closed = false;
  /** The service could not be loaded with its first request; from then on it is loaded at the start. */
  #loadsNow = false;
  #retry: Disposable | undefined;
  /** Work of all runs that did not end in time. */
  readonly #leftBehind = new Set<Promise<unknown>>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #health: HealthMonitor;

  /** `problems`: errors in its settings, for each reader. From `powers` it gets the capabilities of its manifest. */
  constructor(
    descriptor: ServiceDescriptor,
    parts: HostDependencies,
    options: {
      readonly settings: ServiceSettings;
      readonly problems: () => readonly SettingsProblem[];
      readonly powers: CapabilityProviders;
    },
  ) {
    this.descriptor = descriptor;
    this.#parts = parts;
    this.#log = parts.observation.log.child(descriptor.id);
    this.#settings = this.#applied = options.settings;
    this.#problems = options.problems;
    this.#powers = options.powers;
    this.#health = new HealthMonitor({
      clock: parts.runtime.clock,
      log: this.#log,
      inHostLanguage: parts.runtime.inHostLanguage,
      getDependencyProblem: () => findDependencyProblem(descriptor, parts.storage),
      restart: () => {
        this.#log.warn('service down, restart scheduled', {
          reason: this.#state.reason && readText(this.#state.reason),
        });
        void this.restart();
      },
    });
    this.#state = getStoppedState(descriptor);
  }

  get status(): ServiceStatus {
    return this.#state;
  }

  /** State with texts in the current language. */
  get state(): ServiceState {
    return readTexts(this.#state);
  }

  /** Undefined while the service is not running. */
  get service(): Service | undefined {
    return this.#run?.service;
  }

  /** Returns whether work of the stopped service may still be running. */
  get isLeftBehind(): boolean {
    return this.#leftBehind.size > 0;
  }

  get jobs(): Jobs | undefined {
    return this.#run?.jobs;
  }

  /**
   * Returns the base address of a listener for local clients, by default of the main one; undefined while it is
   * closed. While the service starts, it answers 503.
   */
  address(listener?: string): string | undefined {
    return findAddress(this.#state, listener);
  }

  /** Resolves once the first start has opened its listeners, or has failed before. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  /** Never rejects for a failure of the service: that is in {@link state}. */
  start(): Promise<void> {
    return this.#inTurn(() => this.#start());
  }

  /** Stops the service permanently; later calls of start have no effect. */
  close(): Promise<void> {
    this.#closed = true;
    return this.#instead(() => this.#stop());
  }

  /**
   * Applies changed settings: live settings immediately, others by a restart, which waits for running transfers.
   * `pending`: it is waiting.
   */
  apply(
    settings: ServiceSettings,
    problems: () => readonly SettingsProblem[],
  ): Promise<'live' | 'pending' | 'restarted'> {
    return this.#instead(async () => {
      this.#settings = settings;
      this.#problems = problems;
      const isWhole = await this.#applyLive(settings);
      if (isWhole) return 'live';
      if (this.#waitForTransfers()) return 'pending';
      await this.#stop();
      await this.#start();
      return 'restarted';
    });
  }

  /** Passes changed live settings to the running service. Returns whether these were all changes. */
  async #applyLive(settings: ServiceSettings): Promise<boolean> {
    const service = this.#run?.service;
    if (service === undefined || this.#isBarred) return false;
    const running = { descriptor: this.descriptor, service, applied: this.#applied };
    const { clock } = this.#parts.runtime;
    const { applied, isComplete } = await applyLiveSettings(running, settings, { clock, log: this.#log });
    this.#applied = applied;
    return isComplete;
  }

  /** Restarts once the running transfers have ended; returns false when there are none. */
  #waitForTransfers(): boolean {
    const run = this.#run;
    // Disabling a service does not wait.
    if (run === undefined || !this.#settings.enabled) return false;
    const limitMs = this.#parts.runtime.hostSettings().restartWait * 1000;
    const until = this.#parts.runtime.clock.now() + limitMs;
    const pending = new PendingRestart({
      service: run.service,
      requests: (begunBefore: number) => run.running(begunBefore),
      clock: this.#parts.runtime.clock,
      limitMs,
      waiting: (transfers) => this.#become({ pendingRestart: { transfers, until } }),
      due: () => void this.restart(),
    });
    if (!pending.start()) return false;
    this.#pending = pending;
    this.#log.info('restart pending: waiting for running transfers', { seconds: limitMs / 1000 });
    return true;
  }

  #cancelWaiting(): void {
    this.#pending?.[Symbol.dispose]();
    this.#pending = undefined;
    this.#become({ pendingRestart: undefined });
  }

  /**
   * Loads the service if it waits for its first request.
   * @throws Problem `host.service_not_loaded` (503)
   */
  async load(): Promise<void> {
    await this.#run?.load();
  }

  restart(): Promise<void> {
    return this.#instead(async () => {
      await this.#stop();
      await this.#start();
    });
  }

  /**
   * Replaces a stored key by a new one and restarts the service.
   * @throws Problem `host.unknown_key` (404).
   */
  replaceKey(name: string): Promise<void> {
    return this.#instead(async () => {
      await this.#stop();
      try {
        await using serviceContext = await openServiceContext(this.descriptor, this.#parts);
        await setKeyAside(this.descriptor, name, serviceContext.context);
        this.#log.warn('stored key replaced on request', { key: name });
        announceReplacedKey(this.#parts.messaging.bus, this.descriptor.id);
      } finally {
        await this.#start();
      }
    });
  }

  /**
   * Returns its main listener's handlers for a service with the host names `hosts`; undefined while it is not
   * running.
   */
  dispatched(hosts: readonly string[]): DispatchHandlers | undefined {
    return this.#run?.dispatched(hosts);
  }

  /** Returns the service as a dispatching service sees it; undefined without HTTP. */
  get target(): DispatchTarget | undefined {
    return toDispatchTarget(this.descriptor, this.#state, this.#run?.hosts.names ?? []);
  }

  /** Returns the connection handler of a listener for a protocol other than HTTP; undefined while it is closed. */
  getConnectionHandler(listener: string): ConnectionHandler | undefined {
    return this.#run?.getConnectionHandler(listener);
  }

  /** Applies the allowed hosts and origins of the host's current settings. */
  renewGuard(): void {
    this.#run?.renewGuard();
  }

  /** Checks the health of the service and notifies the pages of changes. */
  refresh(): Promise<ServiceStatus> {
    return runOutsideRequests(() => this.#refresh());
  }

  async #refresh(): Promise<ServiceStatus> {
    const service = this.#run?.service;
    if (service !== undefined && (this.#state.state === 'up' || this.#state.state === 'degraded')) {
      const health = await this.#health.check(service);
      if (this.#run?.service === service) {
        this.#become({ ...this.#health.report(health), ...getListenerFailures(this.#state) });
      }
    }
    return this.#state;
  }

  /** Runs serialized and outside of the request that causes it, since the service outlives the request. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(() =>
      runOutsideRequests(async () => {
        try {
          return await work();
        } catch (error) {
          this.#log.error('service life cycle failed', { error });
          throw error;
        }
      }),
    );
  }

  /** Runs serialized, but cancels a start that may never end. */
  #instead<T>(work: () => Promise<T>): Promise<T> {
    runOutsideRequests(() => {
      this.#starting?.abort();
      this.#cancelWaiting();
    });
    return this.#inTurn(work);
  }

  async #start(): Promise<void> {
    if (this.#run !== undefined || this.#closed) return;
    this.#retry?.[Symbol.dispose]();
    if (!this.#settings.enabled) {
      this.#become({ state: 'off', ...withoutStatus, reason: null, suggestedPort: null, ...withoutListeners });
      this.#opened.resolve();
      return;
    }
    if (this.#isBarred) {
      // Defaults would replace the invalid values, so ports, folders and rules would change unexpectedly.
      const problems = this.#problems;
      const reason = (): string => m.invalidSettings({ problems: problems().map(formatSettingsProblem).join(' ') });
      this.#log.error('service not started: invalid settings', { reason: reason() });
      this.#become({ state: 'failed', ...withoutStatus, reason, suggestedPort: null, ...withoutListeners });
      this.#opened.resolve();
      return;
    }
    this.#become({ state: 'starting', ...withoutStatus, reason: null, suggestedPort: null, listeners: [] });
    const starting = new AbortController();
    this.#starting = starting;
    this.#applied = this.#settings;
    try {
      this.#run = await runService(this.descriptor, this.#parts, this.#settings, {
        powers: this.#powers,
        signal: starting.signal,
        listening: (states) => this.#setListeners(states),
        onLeftBehind: (rest) => {
          this.#leftBehind.add(rest);
          void rest.finally(() => this.#leftBehind.delete(rest));
        },
        loadsNow: this.#loadsNow,
        onLoaded: () => this.#refreshLater(),
        onLoadFailed: () => {
          // The restart reports the reason as that of any failed start.
          this.#loadsNow = true;
          void this.restart();
        },
      });
      this.#become({ state: 'up' });
      await this.#health.start(() => this.refresh());
    } catch (error) {
      if (starting.signal.aborted) this.#become({ state: 'off', ...withoutListeners });
      else this.#fail(error);
    } finally {
      this.#starting = undefined;
      this.#opened.resolve();
    }
  }

  /** The app's own pages and API are needed to repair settings, so they start with defaults. */
  get #isBarred(): boolean {
    return this.#problems().length > 0 && this.descriptor.capabilities?.includes('controlHost') !== true;
  }

  #setListeners(listeners: readonly ListenerStatus[]): void {
    const [main] = listeners;
    this.#become({
      listeners: [...listeners],
      address: main?.address ?? null,
      port: main?.port ?? null,
      suggestedPort: main?.suggestedPort ?? null,
    });
    this.#opened.resolve();
    // A listener that opens later clears its message.
    this.#refreshLater();
  }

  #refreshLater(): void {
    this.refresh().catch((error: unknown) => this.#log.error('health check failed', { error }));
  }

  #fail(error: unknown): void {
    this.#log.error('service start failed', { error });
    this.#become({
      state: 'failed',
      reason: toReason(error),
      remedy: findKeyRemedy(this.descriptor.id, error),
      ...withoutListeners,
      // Closed listeners, with a suggested port for each.
      listeners: this.#state.listeners.filter(({ reason }) => reason !== null),
    });
    this.#retry = this.#parts.runtime.clock.after(retryFailedAfterMs, () => void this.start());
  }

  async #stop(): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    this.#retry = undefined;
    this.#health.stop();
    const run = this.#run;
    if (run === undefined) return;
    this.#become({ state: 'stopping', ...withoutStatus });
    this.#run = undefined;
    await run.close();
    this.#become({ state: 'off', detail: '', reason: null, ...withoutListeners });
  }

  #become(change: StatusChange): void {
    const next = { ...this.#state, ...change };
    // Compared by the texts, since each report has new message functions.
    if (isDeepStrictEqual(readTexts(next), readTexts(this.#state))) return;
    this.#state = next;
    this.#parts.messaging.bus.publish(serviceStatusChanged, next);
  }
}
