import { join } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import type { Incident } from '../../contracts/uptime/views.ts';
import { Checker } from '../check/checker.ts';
import type { CheckResult } from '../check/messages.ts';
import type { JudgedHeartbeat } from '../domain/judge.ts';
import type { Notifier } from '../notifications/notifier.ts';
import type { Settings } from '../settings.ts';
import type { BucketStore } from '../store/buckets.ts';
import type { HeartbeatStore, StoredHeartbeat } from '../store/heartbeats.ts';
import type { IncidentStore } from '../store/incidents.ts';
import { MaintenanceStore } from '../store/maintenances.ts';
import { MonitorStore } from '../store/monitors.ts';
import type { Notifications } from '../store/notifications.ts';
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

/** Connected clients that are notified of changes. */
export interface MonitoringClients {
  readonly onHeartbeat: (monitor: RuntimeMonitor, beat: StoredHeartbeat) => void;
  /** Called when monitors were added, changed or removed. */
  readonly onMonitorChange: (ids: readonly number[]) => void;
  readonly onMaintenanceChange: () => void;
}

export interface MonitoringDependencies {
  readonly context: Context;
  readonly heartbeats: HeartbeatStore;
  readonly buckets: BucketStore;
  readonly incidents: IncidentStore;
  readonly settings: Readonly<Pick<Settings, 'allowLinkLocal' | 'connectivityAddress'>>;
  readonly options: Options;
  readonly notifier: Notifier;
  readonly notifications: Pick<Notifications, 'defaults'>;
  readonly clients: MonitoringClients;
  /** Called with each result of the checker process. */
  readonly onResult: (result: CheckResult) => void;
}

/** Connects the parts that check monitors, judge and store the results, and manage maintenance. */
export class Monitoring {
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

  constructor(dependencies: MonitoringDependencies) {
    const { context, heartbeats, buckets, options } = dependencies;
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

  /** Restores the statistics from data before `until`, and rolls them up. */
  async warmUp(until: number, isClosed: () => boolean): Promise<void> {
    const { context, heartbeats, buckets } = this.#dependencies;
    try {
      await warmUpAll(this.monitors.all(), { beats: heartbeats, buckets }, until, isClosed);
      if (!isClosed()) await this.rollup.run();
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
    const { context, notifier, options, clients } = this.#dependencies;
    return new Maintenances({
      context,
      store: new MaintenanceStore(context.db),
      notifier,
      serverZone: () => options.current.timezone,
      onCoverageChange: (ids) => this.monitors.handleCoverageChange(ids),
      onChange: () => {
        this.live.publishChanges([]);
        clients.onMaintenanceChange();
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
    const { context, notifications, clients } = this.#dependencies;
    return new Monitors({
      context,
      store: new MonitorStore(context.db, context.vault),
      checker: this.checker,
      local: this.local,
      isCovered: (id) => this.maintenances.covers(id),
      defaultNotifications: () => notifications.defaults(),
      onStateChange: (monitor) => this.recorder.saveState(monitor),
      onChange: (ids) => {
        this.live.publishChanges(ids);
        clients.onMonitorChange(ids);
      },
    });
  }

  #createRunner(): MonitorRunner {
    const { context, incidents, notifier, options, settings } = this.#dependencies;
    const { clock, connect } = context;
    return new MonitorRunner({
      clock,
      recorder: this.recorder,
      incidents,
      notifier,
      connectivity: new Connectivity(
        connect,
        () => settings.connectivityAddress,
        () => clock.now(),
      ),
      detectSleep: () => this.sleep.check(),
      inMaintenance: (monitor) => this.monitors.inMaintenance(monitor),
      options: () => options.current,
      find: (id) => this.monitors.find(id),
      findSiblings: (monitor) => this.monitors.findSiblings(monitor),
      scheduleIn: (id, inMs) => this.monitors.scheduleIn(id, inMs),
      onHeartbeat: (monitor, beat, changed) => this.#handleHeartbeat(monitor, beat, changed),
    });
  }

  #handleSleep(ms: number): void {
    this.#dependencies.context.log.info('sleep detected, failures are ignored temporarily', { ms: Math.round(ms) });
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
    this.#dependencies.clients.onHeartbeat(monitor, { ...beat, monitorId: monitor.id });
    this.live.publishActivity();
    if (!changed) return;
    this.live.publishChanges([monitor.id]);
    const { parent } = monitor.config;
    const group = parent === null ? undefined : this.monitors.find(parent);
    if (group !== undefined && this.local.has(group.id)) this.local.scheduleIn(group, 0);
  }
}
