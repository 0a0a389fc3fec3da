import { join } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import type { Incident } from '../../contracts/uptime/views.ts';
import type { Changes } from '../changes.ts';
import { Checker } from '../check/checker.ts';
import type { CheckResult } from '../check/messages.ts';
import type { JudgedHeartbeat } from '../domain/judge.ts';
import type { EventQueue } from '../notifications/event-queue.ts';
import type { Settings } from '../settings.ts';
import { MaintenanceStore } from '../store/maintenances.ts';
import { MonitorStore } from '../store/monitors.ts';
import { toProxyAddress } from '../store/proxies.ts';
import type { UptimeStores } from '../store/stores.ts';
import { Connectivity } from './connectivity.ts';
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
  #startedAt = 0;
  #warmUp: Promise<void> | undefined;
  #closed = false;

  constructor(dependencies: MonitoringDependencies) {
    const { context, stores, options, changes } = dependencies;
    const { heartbeats, buckets } = stores;
    const { bus, clock } = context;
    this.#dependencies = dependencies;
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
      context,
      beats: heartbeats,
      buckets,
      all: () => this.monitors.all(),
      keepDays: () => options.current.keepDataPeriodDays,
    });
    changes.on('dockerHosts', (list) => this.checker.setEngines(list));
    changes.on('proxies', (list) => this.checker.setProxies(list.map(toProxyAddress)));
  }

  /** Loads the maintenance windows and monitors, and begins to check. */
  async start(): Promise<void> {
    this.#resources.use(this.recorder);
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
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#warmUp;
    await this.#resources.disposeAsync();
  }

  /** Restores the statistics from data before the start, and begins the hourly and minutely work. */
  startBackgroundWork(): void {
    const { clock } = this.#dependencies.context;
    this.#warmUp = this.#restoreStatistics();
    this.#resources.use(clock.every(hourMs, () => void this.rollup.run()));
    this.#resources.use(
      clock.every(minuteMs, () => {
        for (const monitor of this.monitors.all()) this.runner.handleTick(monitor);
      }),
    );
  }

  /** Checks a monitor immediately and resolves once the heartbeat is stored. */
  async checkNow(monitor: RuntimeMonitor): Promise<void> {
    if (this.monitors.isChecked(monitor)) await this.checker.checkNow(monitor.id);
    else await this.local.check(monitor);
    await this.recorder.flush();
  }

  /** Detaches the monitors of an incident that was resolved manually. */
  handleResolvedIncident(incident: Incident): void {
    for (const id of incident.monitorIds) {
      const monitor = this.monitors.find(id);
      if (monitor?.incident !== incident.id) continue;
      monitor.incident = null;
      this.recorder.saveState(monitor);
    }
  }

  /** Restores the statistics from data before the start, and rolls them up. */
  async #restoreStatistics(): Promise<void> {
    const { context, stores } = this.#dependencies;
    const { heartbeats, buckets } = stores;
    try {
      await warmUpAll(this.monitors.all(), { beats: heartbeats, buckets }, this.#startedAt, () => this.#closed);
      if (!this.#closed) await this.rollup.run();
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
    if (monitor === undefined || !this.monitors.isActive(monitor)) return;
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
