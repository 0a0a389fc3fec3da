import * as m from '#messages/uptime-problems';
import { join } from 'node:path';
import type { Lease } from '../../contracts/leases.ts';
import type { Context } from '../../contracts/service.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Incident } from '../../contracts/uptime/views.ts';
import type { Changes } from '../changes.ts';
import { Checker } from '../check/checker.ts';
import type { CheckResult } from '../check/messages.ts';
import type { JudgedHeartbeat, Outcome } from '../domain/judge.ts';
import type { EventQueue } from '../notifications/event-queue.ts';
import type { Settings } from '../settings.ts';
import { MaintenanceStore } from '../store/maintenances.ts';
import { MonitorStore } from '../store/monitors.ts';
import { OwnerRequestStore, type OwnerRequest } from '../store/owner-requests.ts';
import { toProxyAddress } from '../store/proxies.ts';
import type { UptimeStores } from '../store/stores.ts';
import { Connectivity } from './connectivity.ts';
import { HostSync, type TableLoaders } from './host-sync.ts';
import { LiveUpdates } from './live-updates.ts';
import { LocalChecks } from './local-checks.ts';
import { Maintenances } from './maintenances.ts';
import { MonitorRunner } from './monitor-runner.ts';
import type { RuntimeMonitor } from './monitor-state.ts';
import { Monitors } from './monitors.ts';
import type { Options } from './options.ts';
import { Recorder } from './recorder.ts';
import { Rollup } from './rollup.ts';
import { SleepDetector } from './sleep-detector.ts';
import { Statistics } from './statistics.ts';
import { warmUpAll } from './warm-up.ts';

const hourMs = 3_600_000;
const minuteMs = 60_000;
/** Time limit of a check by another host. */
const remoteCheckMs = 30_000;

/** Parts of the service that depend on the host that checks the monitors. */
export interface OwnershipOptions {
  /** Called when this host begins to check the monitors; the disposal ends the work. */
  readonly onOwned: () => Promise<Disposable>;
  /** Functions that load further tables again after another host has changed them. */
  readonly loaders: TableLoaders;
}

export interface MonitoringDependencies {
  readonly context: Context;
  readonly settings: Readonly<Pick<Settings, 'allowLinkLocal' | 'connectivityAddress'>>;
  readonly options: Options;
  readonly stores: UptimeStores;
  readonly events: EventQueue;
  readonly changes: Changes;
  /** Called with each result of the checker process. */
  readonly onResult: (result: CheckResult) => void;
}

/**
 * Mediates between the parts that check monitors, judge and store the results, and manage maintenance: they report to
 * this class and do not use each other.
 */
export class Monitoring implements AsyncDisposable {
  readonly live: LiveUpdates;
  readonly recorder: Recorder;
  readonly sleep: SleepDetector;
  readonly checker: Checker;
  readonly local: LocalChecks;
  readonly maintenances: Maintenances;
  readonly monitors: Monitors;
  readonly runner: MonitorRunner;
  readonly statistics: Statistics;
  readonly rollup: Rollup;
  readonly #dependencies: MonitoringDependencies;
  readonly #resources = new AsyncDisposableStack();
  readonly #requests: OwnerRequestStore;
  /** Lease of the checks while this host has it. */
  #lease: Lease | undefined;
  #sync: HostSync | undefined;
  #startedAt = 0;
  #warmUp: Promise<void> | undefined;
  #closed = false;

  constructor(dependencies: MonitoringDependencies) {
    const { context, stores, options, changes } = dependencies;
    const { heartbeats, buckets } = stores;
    const { bus, clock } = context;
    this.#dependencies = dependencies;
    this.#requests = new OwnerRequestStore(context);
    this.live = new LiveUpdates(bus, clock);
    this.recorder = new Recorder(context, heartbeats);
    this.sleep = new SleepDetector(clock, (ms) => this.#handleSleep(ms));
    this.checker = this.#createChecker();
    this.maintenances = this.#createMaintenances();
    this.local = this.#createLocalChecks();
    this.monitors = this.#createMonitors();
    this.runner = this.#createRunner();
    this.statistics = new Statistics({ clock, beats: heartbeats, buckets, recorder: this.recorder });
    this.rollup = new Rollup({
      context: { clock, log: context.log, commit: (work) => (this.#lease ?? context).commit(work) },
      beats: heartbeats,
      buckets,
      all: () => this.monitors.all(),
      keepDays: () => options.current.keepDataPeriodDays,
    });
    changes.on('dockerHosts', (list) => this.checker.setEngines(list));
    changes.on('proxies', (list) => this.checker.setProxies(list.map(toProxyAddress)));
  }

  /** Loads the maintenance windows and monitors, and begins to check unless another host does. */
  async start({ onOwned, loaders }: OwnershipOptions): Promise<void> {
    const { leases, singleHost } = this.#dependencies.context;
    this.#resources.use(this.checker);
    this.#resources.use(this.local);
    this.#resources.use(this.live);
    this.#resources.use(this.maintenances);
    this.#resources.use(this.sleep);
    this.#resources.defer(() => this.rollup.close());
    this.sleep.start();
    this.#startedAt = this.#dependencies.context.clock.now();
    await this.maintenances.start();
    await this.monitors.start();
    if (!singleHost) {
      this.#sync = this.#resources.use(this.#createSync(loaders));
      await this.#sync.start();
    }
    this.#resources.use(await leases.hold('checks', (lease) => this.#own(lease, onOwned)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#warmUp;
    await this.#resources.disposeAsync();
  }

  /** Returns true while this host checks the monitors. */
  get isOwner(): boolean {
    return this.#lease !== undefined;
  }

  /** Restores the statistics from data before the start. */
  startWarmUp(): void {
    this.#warmUp = this.#restoreStatistics();
  }

  /**
   * Records the report of a push monitor. Resolves once it is stored.
   * @throws an error when it could not be stored
   */
  async report(monitor: RuntimeMonitor, report: Pick<Outcome, 'status' | 'msg' | 'ping'>): Promise<void> {
    if (this.#lease === undefined) return this.#request([monitor.id], { kind: 'report', ...report });
    this.#recordReport(monitor, report);
    await this.recorder.flush();
  }

  /** Checks a monitor immediately and resolves once the heartbeat is stored. */
  async checkNow(monitor: RuntimeMonitor): Promise<void> {
    if (this.#lease === undefined) return this.#checkRemotely(monitor);
    if (this.monitors.isChecked(monitor)) await this.checker.checkNow(monitor.id);
    else await this.local.check(monitor);
    await this.recorder.flush();
  }

  /** Detaches the monitors of an incident that was resolved manually. */
  async handleResolvedIncident({ id: incident, monitorIds }: Incident): Promise<void> {
    for (const id of monitorIds) this.#detach(id, incident);
    if (this.#lease === undefined) await this.#request(monitorIds, { kind: 'detach', incident });
  }

  /** Begins to check the monitors with the state that the former owner has stored. */
  async #own(lease: Lease, onOwned: OwnershipOptions['onOwned']): Promise<AsyncDisposable> {
    const { clock } = this.#dependencies.context;
    await using opening = new AsyncDisposableStack();
    await this.#sync?.takeOver();
    opening.defer(async () => {
      if (lease.signal.aborted) await this.#sync?.reset();
    });
    this.recorder.start(lease.commit);
    opening.defer(() => this.recorder.stop());
    this.#lease = lease;
    opening.defer(() => (this.#lease = undefined));
    this.maintenances.startNotifications(lease.commit);
    opening.defer(() => this.maintenances.stopNotifications());
    opening.defer(() => this.monitors.stopChecks());
    await this.monitors.startChecks();
    opening.use(await onOwned());
    opening.use(clock.every(hourMs, () => void this.rollup.run()));
    opening.use(
      clock.every(minuteMs, () => {
        for (const monitor of this.monitors.all()) this.runner.handleTick(monitor);
      }),
    );
    return opening.move();
  }

  #createSync(loaders: TableLoaders): HostSync {
    const { context, options, stores } = this.#dependencies;
    const { dockerHosts, heartbeats, notifications, proxies, tags } = stores;
    return new HostSync({
      context,
      monitors: this.monitors,
      heartbeats,
      requests: this.#requests,
      isOwner: () => this.#lease !== undefined,
      loaders: {
        ...loaders,
        options: () => options.start(),
        notifications: () => notifications.start(),
        tags: () => tags.start(),
        docker_hosts: () => dockerHosts.start(),
        proxies: () => proxies.start(),
        maintenances: () => this.maintenances.reload(),
      },
      onHeartbeat: (monitor, heartbeat, changed) => this.#handleHeartbeat(monitor, heartbeat, changed),
      onRequests: (requests) => this.#handleRequests(requests),
    });
  }

  /** Asks the host that checks the monitors. */
  async #request(monitorIds: readonly number[], body: NonNullable<OwnerRequest['body']>): Promise<void> {
    // The service is stopping.
    if (this.#dependencies.context.singleHost) throw new Error('monitors are not checked any more');
    await this.#requests.add(monitorIds, body);
  }

  /** Handles requests of other hosts; each is deleted together with its effect. */
  async #handleRequests(requests: readonly OwnerRequest[]): Promise<void> {
    for (const { id, monitorId, body } of requests) {
      const monitor = this.monitors.find(monitorId);
      if (monitor !== undefined && this.monitors.isActive(monitor)) {
        if (body?.kind === 'report') this.#recordReport(monitor, body);
        if (body?.kind === 'check') this.monitors.scheduleIn(monitorId, 0);
      }
      if (body === undefined)
        this.#dependencies.context.log.warn('request of another host not understood', { monitor: monitorId });
      if (body?.kind === 'detach') this.#detach(monitorId, body.incident);
      this.recorder.execute(async (transaction) => {
        await this.#requests.remove(transaction, id);
        return undefined;
      });
    }
    await this.recorder.flush();
  }

  #recordReport(monitor: RuntimeMonitor, { status, msg, ping }: Pick<Outcome, 'status' | 'msg' | 'ping'>): void {
    const at = this.#dependencies.context.clock.now();
    this.runner.record(monitor, { at, isReport: true, status, msg, ping });
    this.local.restartTimer(monitor);
  }

  #detach(id: number, incident: number): void {
    const monitor = this.monitors.find(id);
    if (monitor?.incident !== incident) return;
    monitor.incident = null;
    this.recorder.saveState(monitor);
  }

  /** Requests a check, and waits for its heartbeat. */
  async #checkRemotely(monitor: RuntimeMonitor): Promise<void> {
    const { changes, context } = this.#dependencies;
    const checked = Promise.withResolvers<undefined>();
    const listener = ({ id }: RuntimeMonitor): void => {
      if (id === monitor.id) checked.resolve(undefined);
    };
    const timeout = (): void => checked.reject(new Problem('uptime.no_answer', 504, m.checkTimedOut));
    using _timer = context.clock.after(remoteCheckMs, timeout);
    changes.on('heartbeat', listener);
    try {
      await this.#request([monitor.id], { kind: 'check' });
      await checked.promise;
    } finally {
      changes.off('heartbeat', listener);
    }
  }

  /** Restores the statistics from data before the start, and rolls them up. */
  async #restoreStatistics(): Promise<void> {
    const { context, stores } = this.#dependencies;
    const { heartbeats, buckets } = stores;
    try {
      await warmUpAll(this.monitors.all(), { beats: heartbeats, buckets }, this.#startedAt, () => this.#closed);
      if (!this.#closed && this.#lease !== undefined) await this.rollup.run();
    } catch (error) {
      context.log.error('monitor warm-up failed', { error });
    }
  }

  #createChecker(): Checker {
    const { context, settings } = this.#dependencies;
    const { clock, log } = context;
    return new Checker(
      {
        clock,
        log,
        journalFile: join(context.files, 'running-checks.json'),
        policy: () => ({ ownListeners: context.addresses(), allowLinkLocal: settings.allowLinkLocal }),
      },
      {
        handleSleep: (ms) => this.#handleSleep(ms),
        quarantine: (ids) => {
          log.error('monitors quarantined after the checker process ended', { ids });
          this.monitors.quarantine(ids).catch((error: unknown) => log.error('monitor quarantine failed', { error }));
        },
        results: (results) => {
          for (const result of results) this.#handleResult(result);
        },
      },
    );
  }

  #createMaintenances(): Maintenances {
    const { context, events, options, changes } = this.#dependencies;
    return new Maintenances({
      context,
      store: new MaintenanceStore(context.db),
      events,
      serverZone: () => options.current.timezone,
      onCoverageChange: (ids) => this.monitors.handleCoverageChange(ids),
      onChange: () => {
        this.live.publishChanges([]);
        changes.emit('maintenances');
      },
    });
  }

  #createLocalChecks(): LocalChecks {
    const { context } = this.#dependencies;
    return new LocalChecks({
      context,
      inMaintenance: (monitor) => this.monitors.inMaintenance(monitor),
      findMembers: (group) => this.monitors.findChildren(group).filter((one) => this.monitors.isActive(one)),
      onOutcome: (monitor, outcome) => this.#judge(monitor, { ...outcome, id: monitor.id, lateMs: 0, lagged: false }),
    });
  }

  #createMonitors(): Monitors {
    const { context, stores, changes } = this.#dependencies;
    return new Monitors({
      context,
      store: new MonitorStore(context.db, context.vault),
      checker: this.checker,
      local: this.local,
      isCovered: (id) => this.maintenances.covers(id),
      defaultNotifications: () => stores.notifications.defaults(),
      onStateChange: (monitor) => this.recorder.saveState(monitor),
      onChange: (ids) => {
        this.live.publishChanges(ids);
        changes.emit('monitors', ids);
      },
    });
  }

  #createRunner(): MonitorRunner {
    const { context, events, options, settings, stores } = this.#dependencies;
    const { clock, connect } = context;
    return new MonitorRunner({
      clock,
      recorder: this.recorder,
      incidents: stores.incidents,
      events,
      computer: {
        connectivity: new Connectivity(
          connect,
          () => settings.connectivityAddress,
          () => clock.now(),
        ),
        detectSleep: () => this.sleep.check(),
      },
      monitors: {
        inMaintenance: (monitor) => this.monitors.inMaintenance(monitor),
        find: (id) => this.monitors.find(id),
        findSiblings: (monitor) => this.monitors.findSiblings(monitor),
        scheduleIn: (id, inMs) => this.monitors.scheduleIn(id, inMs),
      },
      options: () => options.current,
      onHeartbeat: (monitor, beat, changed) => this.#handleHeartbeat(monitor, beat, changed),
    });
  }

  #handleSleep(ms: number): void {
    this.#dependencies.context.log.info('sleep detected, failures are ignored temporarily', {
      event: 'sleep_detected',
      ms: Math.round(ms),
    });
    this.runner.handleSleep();
  }

  #handleResult(result: CheckResult): void {
    const monitor = this.monitors.find(result.id);
    if (monitor === undefined || !this.monitors.isActive(monitor) || this.#lease === undefined) return;
    this.#dependencies.onResult(result);
    this.#judge(monitor, result);
  }

  #judge(monitor: RuntimeMonitor, result: CheckResult): void {
    this.runner
      .handleResult(monitor, result)
      .catch((error: unknown) =>
        this.#dependencies.context.log.error('check result could not be processed', { error }),
      );
  }

  /** Notifies clients, and checks the group of the monitor when its status changed. */
  #handleHeartbeat(monitor: RuntimeMonitor, beat: JudgedHeartbeat, changed: boolean): void {
    this.#dependencies.changes.emit('heartbeat', monitor, { ...beat, monitorId: monitor.id });
    this.live.publishActivity();
    if (!changed) return;
    this.live.publishChanges([monitor.id]);
    const { parent } = monitor.config;
    const group = parent === null ? undefined : this.monitors.find(parent);
    if (group !== undefined && this.local.has(group.id)) this.local.scheduleIn(group, 0);
  }
}
