import type { Clock } from '../../contracts/service.ts';
import type { UptimeOptions } from '../../contracts/uptime/views.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { CheckResult } from '../check/messages.ts';
import { findDueWarnings } from '../domain/certificate.ts';
import { updateSlowness, computeBaseline, defaultRule } from '../domain/degradation.ts';
import { recordStateChange, updateFlapping, type Flapping } from '../domain/flapping.ts';
import {
  judge,
  withEarlierStart,
  type JudgedHeartbeat,
  type Outcome,
  type CheckState,
  type Verdict,
} from '../domain/judge.ts';
import { addHistogram, recordValue, createHistogram } from '../domain/histogram.ts';
import type { IncidentStore } from '../store/incidents.ts';
import {
  buildCertificateEvent,
  buildDownEvent,
  buildFlappingEvent,
  buildNormalEvent,
  buildSlowEvent,
  buildUpEvent,
  type UptimeEvent,
} from '../notifications/events.ts';
import type { EventQueue } from '../notifications/event-queue.ts';
import { createMaintenanceOutcome } from './local-checks.ts';
import type { Connectivity } from './connectivity.ts';
import type { Effect, Recorder } from './recorder.ts';
import { countHeartbeat, getIntervalMs, getRetryMs, getDayHistogram, type RuntimeMonitor } from './monitor-state.ts';

/** Start delay after which a response time is not used for the baseline. */
const maxStartDelayMs = 500;
/** Maximum number of consecutive failures that are attributed to this computer. */
const maxExcusedFailures = 3;
/** Delay of an event that an outage of a dependency can suppress, so that the dependency is checked first. */
const suppressionDelayMs = 3000;
/** Outages of related monitors within this time belong to one incident. */
const incidentWindowMs = 30_000;
/** Number of responses after which the baseline is recomputed. */
const baselineRefreshCount = 20;
const defaultFlapRule = { changes: 6, withinSeconds: 600 };

/** State of this computer that makes a failed check meaningless. */
export interface ComputerState {
  readonly connectivity: Connectivity;
  /** Detects a sleep that ended just now. */
  readonly detectSleep: () => void;
}

/** Monitors and their schedule. */
export interface MonitorLookup {
  readonly find: (id: number) => RuntimeMonitor | undefined;
  /** Returns the IDs of related monitors. */
  readonly findSiblings: (monitor: RuntimeMonitor) => readonly number[];
  readonly inMaintenance: (monitor: RuntimeMonitor) => boolean;
  /** Schedules the next check after a delay in milliseconds. */
  readonly scheduleIn: (id: number, inMs: number) => void;
}

export interface MonitorRunnerDependencies {
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly incidents: IncidentStore;
  readonly events: EventQueue;
  readonly computer: ComputerState;
  readonly monitors: MonitorLookup;
  readonly options: () => UptimeOptions;
  /** Called with each heartbeat. */
  readonly onHeartbeat: (monitor: RuntimeMonitor, beat: JudgedHeartbeat, changed: boolean) => void;
}

/** Converts check results into heartbeats, states, incidents and events. */
export class MonitorRunner {
  readonly #dependencies: MonitorRunnerDependencies;
  #lastSleepAt = -Infinity;

  constructor(dependencies: MonitorRunnerDependencies) {
    this.#dependencies = dependencies;
  }

  /** Ignores failures for a while after a sleep, because the network may not be available yet. */
  handleSleep(): void {
    this.#lastSleepAt = this.#dependencies.clock.now();
  }

  /** Handles a result of the checker process; returns undefined when the failure was attributed to this computer. */
  async handleResult(monitor: RuntimeMonitor, result: CheckResult): Promise<JudgedHeartbeat | undefined> {
    if (result.status === heartbeatStatus.maintenance) return this.record(monitor, result);
    if (result.certificate !== undefined) {
      monitor.chain = result.certificate;
      this.#dependencies.recorder.saveState(monitor);
    }
    this.#reportCertificates(monitor);
    const failed = result.status === heartbeatStatus.down;
    if (failed) this.#dependencies.computer.detectSleep();
    if (failed && this.#isExcused(monitor, result)) return undefined;
    monitor.excused = 0;
    const isOffline =
      failed &&
      result.unreachable === true &&
      !(await this.#dependencies.computer.connectivity.isOnline(monitor.config));
    const outcome: Outcome = isOffline
      ? { ...result, status: heartbeatStatus.pending, msg: `${result.msg} (this machine has no network)` }
      : result;
    return this.record(monitor, outcome, { timely: result.lateMs <= maxStartDelayMs && !result.lagged });
  }

  /**
   * Evaluates an outcome and stores the heartbeat.
   * @param input.isTimely The response time is reliable
   */
  record(
    monitor: RuntimeMonitor,
    input: Outcome,
    { timely: isTimely = true }: { readonly timely?: boolean } = {},
  ): JudgedHeartbeat {
    // Also applies to checks that started before the window, and to jobs that report during it.
    const outcome = this.#dependencies.monitors.inMaintenance(monitor) ? createMaintenanceOutcome(input.at) : input;
    const previous = monitor.checkState;
    // The timestamp is part of the primary key.
    const timestamp = previous.at !== null && outcome.at <= previous.at ? previous.at + 1 : outcome.at;
    const verdict = judge(monitor.rules, previous, { ...outcome, at: timestamp });
    const { heartbeat: beat, state: state } = verdict;
    countHeartbeat(monitor, beat, previous.status === null ? (monitor.stoodElsewhere ?? previous) : previous);
    monitor.checkState = previous.status === null ? withImportedState(monitor, state) : state;
    const statusChanged = previous.status !== state.status;
    const effects = [...this.#notify(monitor, verdict), ...this.#updateSlowness(monitor, beat, isTimely)];
    const isNewStatus = statusChanged || previous.since === null;
    const needsSave = isNewStatus || previous.retries !== state.retries || effects.length > 0;
    this.#dependencies.recorder.add(monitor, { ...beat, monitorId: monitor.id }, { changed: needsSave, effects });
    if (beat.status === heartbeatStatus.pending)
      this.#dependencies.monitors.scheduleIn(monitor.id, getRetryMs(monitor.config));
    this.#dependencies.onHeartbeat(monitor, beat, statusChanged);
    return beat;
  }

  #reportCertificates(monitor: RuntimeMonitor): void {
    const { config, chain } = monitor;
    if (chain === undefined || config.expiryNotification !== true || config.ignoreTls === true) return;
    const now = this.#dependencies.clock.now();
    const thresholds = config.certWarnDays ?? this.#dependencies.options().tlsExpiryNotifyDays;
    const { due, notified: notified } = findDueWarnings(chain, thresholds, monitor.told, now);
    if (due.length === 0) return;
    monitor.told = notified;
    const events = due.map((warning) => buildCertificateEvent(monitor, warning, now));
    this.#dependencies.recorder.saveState(monitor, ...events.map((event) => this.#enqueue(monitor, event)));
  }

  /** Handles events without a heartbeat: expiring certificates, and the end of flapping. */
  handleTick(monitor: RuntimeMonitor): void {
    if (this.#dependencies.monitors.inMaintenance(monitor)) return;
    this.#reportCertificates(monitor);
    this.#updateFlapping(monitor);
  }

  #updateFlapping(monitor: RuntimeMonitor): void {
    const rule = monitor.config.flap ?? defaultFlapRule;
    if (!monitor.flapping.flapping || rule === false) return;
    const after = updateFlapping(rule, monitor.flapping, this.#dependencies.clock.now());
    monitor.flapping = after;
    const { checkState: state } = monitor;
    if (after.flapping || state.status === null || state.at === null) return;
    const beat = { ...state, status: state.status, at: state.at, important: false, duration: 0 };
    // A monitor that is up after flapping has no outage to report.
    if (state.status === heartbeatStatus.up) monitor.checkState = { ...state, downSince: null };
    this.#dependencies.recorder.saveState(monitor, this.#enqueue(monitor, buildFlappingEvent(monitor, beat, false)));
  }

  #isExcused(monitor: RuntimeMonitor, result: CheckResult): boolean {
    // A manual status stays valid after a sleep.
    if (monitor.config.type === 'manual') return false;
    const delayMs = this.#getSleepGraceMs(monitor);
    if (delayMs > 0) {
      this.#dependencies.monitors.scheduleIn(monitor.id, delayMs);
      return true;
    }
    if (!result.lagged || result.unreachable !== true || monitor.excused >= maxExcusedFailures) return false;
    monitor.excused += 1;
    this.#dependencies.monitors.scheduleIn(monitor.id, 1000);
    return true;
  }

  /** Returns the remaining time in which failures are ignored after a sleep: one interval, at most a minute. */
  #getSleepGraceMs(monitor: RuntimeMonitor): number {
    const end = this.#lastSleepAt + Math.min(60_000, Math.max(5000, getIntervalMs(monitor.config)));
    const remainingMs = end - this.#dependencies.clock.now();
    return remainingMs > 0 ? Math.min(remainingMs, 5000) : 0;
  }

  #notify(monitor: RuntimeMonitor, { heartbeat: beat, notification: tell }: Verdict): readonly Effect[] {
    const wasFlapping = monitor.flapping.flapping;
    monitor.flapping = this.#recordFlapping(monitor, beat, tell);
    const { flapping } = monitor.flapping;
    const effects: Effect[] = [];
    if (tell === 'down') effects.push(this.#openIncident(monitor, beat));
    if (tell === 'up') effects.push(this.#closeIncident(monitor, beat));
    if (flapping) {
      if (!wasFlapping) effects.push(this.#enqueue(monitor, buildFlappingEvent(monitor, beat, true)));
      return effects;
    }
    if (tell === 'down') effects.push(this.#enqueue(monitor, buildDownEvent(monitor, beat, undefined)));
    if (tell === 'up')
      effects.push(this.#enqueue(monitor, buildUpEvent(monitor, beat, this.#getDownSince(monitor, beat))));
    if (tell === 'repeat') effects.push(this.#remind(monitor, beat));
    return effects;
  }

  #recordFlapping(monitor: RuntimeMonitor, beat: JudgedHeartbeat, tell: Verdict['notification']): Flapping {
    const rule = monitor.config.flap ?? defaultFlapRule;
    if (rule === false || (tell !== 'down' && tell !== 'up')) return monitor.flapping;
    return recordStateChange(rule, monitor.flapping, beat.at);
  }

  /** The state no longer has the start of the outage. */
  #getDownSince(monitor: RuntimeMonitor, beat: JudgedHeartbeat): number {
    return monitor.outageSince ?? beat.at;
  }

  #remind(monitor: RuntimeMonitor, beat: JudgedHeartbeat): Effect {
    const since = monitor.checkState.downSince ?? beat.at;
    return async (transaction) => {
      const { incident } = monitor;
      const row =
        incident === null
          ? undefined
          : await transaction
              .selectFrom('incidents')
              .select('acknowledged_at')
              .where('id', '=', incident)
              .executeTakeFirst();
      // No reminders after the acknowledgement.
      if (row === undefined || row.acknowledged_at === null)
        await this.#enqueue(monitor, buildDownEvent(monitor, beat, since))(transaction);
      return undefined;
    };
  }

  #openIncident(monitor: RuntimeMonitor, beat: JudgedHeartbeat): Effect {
    const since = monitor.checkState.downSince ?? beat.at;
    monitor.outageSince = since;
    if (monitor.incident !== null) return () => Promise.resolve(undefined);
    const { incidents } = this.#dependencies;
    const { findSiblings: siblings } = this.#dependencies.monitors;
    const siblingIds = siblings(monitor);
    return async (transaction) => {
      const existingIncident = await incidents.findOpen(transaction, siblingIds, [
        since - incidentWindowMs,
        since + incidentWindowMs,
      ]);
      if (existingIncident !== undefined) await incidents.join(transaction, existingIncident, monitor.id);
      const id =
        existingIncident ??
        (await incidents.open(transaction, monitor.id, since, {
          cause: `${monitor.config.name}: ${beat.msg}`,
          failure: beat.failure,
        }));
      return () => {
        monitor.incident = id;
        this.#dependencies.recorder.saveState(monitor);
      };
    };
  }

  #closeIncident(monitor: RuntimeMonitor, beat: JudgedHeartbeat): Effect {
    return async (transaction) => {
      const { incident } = monitor;
      if (incident === null) return undefined;
      const members = await transaction
        .selectFrom('incident_monitors')
        .select('monitor_id')
        .where('incident_id', '=', incident)
        .execute();
      // The incident stays open while one of its monitors is down.
      const isOtherDown = members.some(({ monitor_id }) => {
        const other = monitor_id === monitor.id ? undefined : this.#dependencies.monitors.find(monitor_id);
        return other?.incident === incident && other.checkState.downSince !== null;
      });
      if (!isOtherDown) await this.#dependencies.incidents.resolve(transaction, incident, beat.at);
      return () => {
        monitor.incident = null;
        this.#dependencies.recorder.saveState(monitor);
      };
    };
  }

  #updateSlowness(monitor: RuntimeMonitor, beat: JudgedHeartbeat, isTimely: boolean): readonly Effect[] {
    const rule = monitor.config.degradation ?? defaultRule;
    if (rule === false || beat.status !== heartbeatStatus.up || beat.ping === null || !isTimely) return [];
    if (monitor.usual === undefined || monitor.usualAge >= baselineRefreshCount) {
      const weekHistogram = createHistogram();
      for (const spread of monitor.days.values()) addHistogram(weekHistogram, spread);
      monitor.usual = computeBaseline(rule, weekHistogram);
      monitor.usualAge = 0;
    }
    monitor.usualAge += 1;
    const since = monitor.slowness.slowSince;
    const { slowness, current, change } = updateSlowness(rule, monitor.slowness, monitor.usual, beat.ping, beat.at);
    monitor.slowness = slowness;
    // Slow responses do not change the baseline, unless they last for days.
    const isLongLasting = slowness.slowSince !== null && beat.at - slowness.slowSince > 3 * 86_400_000;
    if (slowness.slowSince === null || isLongLasting) recordValue(getDayHistogram(monitor, beat.at), beat.ping);
    if (change === undefined || monitor.usual === undefined) return [];
    const figures = { ...monitor.usual, current };
    const event =
      change === 'began'
        ? buildSlowEvent(monitor, figures, beat.at)
        : buildNormalEvent(monitor, { ...figures, since: since ?? beat.at }, beat.at);
    return [this.#enqueue(monitor, event)];
  }

  #enqueue(monitor: RuntimeMonitor, event: UptimeEvent): Effect {
    const { id, config } = monitor;
    const hosts = config.dependsOn ?? [];
    const isDelayed = event.event.kind === 'down' && hosts.length > 0;
    const delayOptions = isDelayed ? { notBefore: this.#dependencies.clock.now() + suppressionDelayMs } : {};
    if (isDelayed) for (const host of hosts) this.#dependencies.monitors.scheduleIn(host, 0);
    return async (transaction) => {
      const options = { monitor: id, tag: config.notifyTag, hosts, ...delayOptions };
      await this.#dependencies.events.enqueue(transaction, event, options);
      return undefined;
    };
  }
}

/** Continues the imported state. */
function withImportedState(monitor: RuntimeMonitor, state: CheckState): CheckState {
  const { stoodElsewhere } = monitor;
  monitor.stoodElsewhere = undefined;
  if (stoodElsewhere?.status !== state.status) return state;
  return withEarlierStart(state, stoodElsewhere.since);
}
