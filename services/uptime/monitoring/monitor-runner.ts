import type { Clock } from '../../contracts/service.ts';
import type { UptimeOptions } from '../../contracts/uptime/views.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { CheckResult } from '../check/messages.ts';
import { dueWarnings } from '../domain/certificate.ts';
import { afterAnswer, usualOf, usualRule } from '../domain/degradation.ts';
import { changed, settled, type Flapping } from '../domain/flapping.ts';
import { judge, stoodSince, type JudgedBeat, type Outcome, type Standing, type Verdict } from '../domain/judge.ts';
import { addSpread, count, emptySpread } from '../domain/histogram.ts';
import type { IncidentStore } from '../store/incidents.ts';
import {
  certificateEvent,
  downEvent,
  flapEvent,
  normalEvent,
  slowEvent,
  upEvent,
  type UptimeEvent,
} from '../notifications/events.ts';
import type { Teller } from '../notifications/notifier.ts';
import { maintained } from './local-checks.ts';
import type { Connectivity } from './connectivity.ts';
import type { Effect, Recorder } from './recorder.ts';
import { countBeat, intervalMs, retryMs, spreadOfDay, type Watched } from './monitor-state.ts';

/** Start delay after which a response time is not used for the baseline. */
const lateMs = 500;
/** Maximum number of consecutive failures that are attributed to this computer. */
const mostExcused = 3;
/** Delay of an event that an outage of a dependency can suppress, so that the dependency is checked first. */
const coverMs = 3000;
/** Outages of related monitors within this time belong to one incident. */
const togetherMs = 30_000;
/** Number of responses after which the baseline is recomputed. */
const usualEvery = 20;
const usualFlap = { changes: 6, withinSeconds: 600 };

export interface WatchParts {
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly incidents: IncidentStore;
  readonly teller: Teller;
  readonly connectivity: Connectivity;
  /** Detects a sleep that ended just now. */
  readonly lookAtClock: () => void;
  readonly inMaintenance: (watched: Watched) => boolean;
  readonly options: () => UptimeOptions;
  readonly find: (id: number) => Watched | undefined;
  /** Returns the IDs of related monitors. */
  readonly siblings: (watched: Watched) => readonly number[];
  /** Schedules the next check after a delay in milliseconds. */
  readonly again: (id: number, inMs: number) => void;
  /** Called with each heartbeat. */
  readonly beaten: (watched: Watched, beat: JudgedBeat, changed: boolean) => void;
}

/** Converts check results into heartbeats, states, incidents and events. */
export class Watch {
  readonly #parts: WatchParts;
  #sleptAt = -Infinity;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Ignores failures for a while after a sleep, because the network may not be available yet. */
  slept(): void {
    this.#sleptAt = this.#parts.clock.now();
  }

  /** Handles a result of the checker process; returns undefined when the failure was attributed to this computer. */
  async take(watched: Watched, result: CheckResult): Promise<JudgedBeat | undefined> {
    if (result.status === heartbeatStatus.maintenance) return this.beat(watched, result);
    if (result.certificate !== undefined) {
      watched.chain = result.certificate;
      this.#parts.recorder.note(watched);
    }
    this.#warnOfCertificate(watched);
    const failed = result.status === heartbeatStatus.down;
    if (failed) this.#parts.lookAtClock();
    if (failed && this.#isExcused(watched, result)) return undefined;
    watched.excused = 0;
    const offline = failed && result.unreachable === true && !(await this.#parts.connectivity.isOnline(watched.config));
    const outcome: Outcome = offline
      ? { ...result, status: heartbeatStatus.pending, msg: `${result.msg} (this machine has no network)` }
      : result;
    return this.beat(watched, outcome, { timely: result.lateMs <= lateMs && !result.lagged });
  }

  /**
   * Evaluates an outcome and stores the heartbeat.
   * @param input.isTimely The response time is reliable
   */
  beat(watched: Watched, given: Outcome, { timely = true }: { readonly timely?: boolean } = {}): JudgedBeat {
    // Also applies to checks that started before the window, and to jobs that report during it.
    const outcome = this.#parts.inMaintenance(watched) ? maintained(given.at) : given;
    const before = watched.standing;
    // The timestamp is part of the primary key.
    const at = before.at !== null && outcome.at <= before.at ? before.at + 1 : outcome.at;
    const verdict = judge(watched.rules, before, { ...outcome, at });
    const { beat, standing } = verdict;
    countBeat(watched, beat, before.status === null ? (watched.stoodElsewhere ?? before) : before);
    watched.standing = before.status === null ? asElsewhere(watched, standing) : standing;
    const statusChanged = before.status !== standing.status;
    const effects = [...this.#tell(watched, verdict), ...this.#slowness(watched, beat, timely)];
    const begins = statusChanged || before.since === null;
    const memorable = begins || before.retries !== standing.retries || effects.length > 0;
    this.#parts.recorder.add(watched, { ...beat, monitorId: watched.id }, { changed: memorable, effects });
    if (beat.status === heartbeatStatus.pending) this.#parts.again(watched.id, retryMs(watched.config));
    this.#parts.beaten(watched, beat, statusChanged);
    return beat;
  }

  #warnOfCertificate(watched: Watched): void {
    const { config, chain } = watched;
    if (chain === undefined || config.expiryNotification !== true || config.ignoreTls === true) return;
    const now = this.#parts.clock.now();
    const thresholds = config.certWarnDays ?? this.#parts.options().tlsExpiryNotifyDays;
    const { due, told } = dueWarnings(chain, thresholds, watched.told, now);
    if (due.length === 0) return;
    watched.told = told;
    const events = due.map((warning) => certificateEvent(watched, warning, now));
    this.#parts.recorder.note(watched, ...events.map((event) => this.#enqueue(watched, event)));
  }

  /** Handles what is due without a heartbeat: expiring certificates, and the end of flapping. */
  timePassed(watched: Watched): void {
    if (this.#parts.inMaintenance(watched)) return;
    this.#warnOfCertificate(watched);
    this.#settle(watched);
  }

  #settle(watched: Watched): void {
    const rule = watched.config.flap ?? usualFlap;
    if (!watched.flapping.flapping || rule === false) return;
    const after = settled(rule, watched.flapping, this.#parts.clock.now());
    watched.flapping = after;
    const { standing } = watched;
    if (after.flapping || standing.status === null || standing.at === null) return;
    const beat = { ...standing, status: standing.status, at: standing.at, important: false, duration: 0 };
    // A monitor that is up after flapping has no outage to report.
    if (standing.status === heartbeatStatus.up) watched.standing = { ...standing, downSince: null };
    this.#parts.recorder.note(watched, this.#enqueue(watched, flapEvent(watched, beat, false)));
  }

  #isExcused(watched: Watched, result: CheckResult): boolean {
    // A manual status stays valid after a sleep.
    if (watched.config.type === 'manual') return false;
    const wait = this.#grace(watched);
    if (wait > 0) {
      this.#parts.again(watched.id, wait);
      return true;
    }
    if (!result.lagged || result.unreachable !== true || watched.excused >= mostExcused) return false;
    watched.excused += 1;
    this.#parts.again(watched.id, 1000);
    return true;
  }

  /** Returns the remaining time in which failures are ignored after a sleep: one interval, at most a minute. */
  #grace(watched: Watched): number {
    const end = this.#sleptAt + Math.min(60_000, Math.max(5000, intervalMs(watched.config)));
    const left = end - this.#parts.clock.now();
    return left > 0 ? Math.min(left, 5000) : 0;
  }

  #tell(watched: Watched, { beat, tell }: Verdict): readonly Effect[] {
    const wasFlapping = watched.flapping.flapping;
    watched.flapping = this.#flapped(watched, beat, tell);
    const { flapping } = watched.flapping;
    const effects: Effect[] = [];
    if (tell === 'down') effects.push(this.#openIncident(watched, beat));
    if (tell === 'up') effects.push(this.#closeIncident(watched, beat));
    if (flapping) {
      if (!wasFlapping) effects.push(this.#enqueue(watched, flapEvent(watched, beat, true)));
      return effects;
    }
    if (tell === 'down') effects.push(this.#enqueue(watched, downEvent(watched, beat, undefined)));
    if (tell === 'up') effects.push(this.#enqueue(watched, upEvent(watched, beat, this.#downSince(watched, beat))));
    if (tell === 'repeat') effects.push(this.#repeat(watched, beat));
    return effects;
  }

  #flapped(watched: Watched, beat: JudgedBeat, tell: Verdict['tell']): Flapping {
    const rule = watched.config.flap ?? usualFlap;
    if (rule === false || (tell !== 'down' && tell !== 'up')) return watched.flapping;
    return changed(rule, watched.flapping, beat.at);
  }

  /** The state no longer has the start of the outage. */
  #downSince(watched: Watched, beat: JudgedBeat): number {
    return watched.outageSince ?? beat.at;
  }

  #repeat(watched: Watched, beat: JudgedBeat): Effect {
    const since = watched.standing.downSince ?? beat.at;
    return async (transaction) => {
      const { incident } = watched;
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
        await this.#enqueue(watched, downEvent(watched, beat, since))(transaction);
      return undefined;
    };
  }

  #openIncident(watched: Watched, beat: JudgedBeat): Effect {
    const since = watched.standing.downSince ?? beat.at;
    watched.outageSince = since;
    if (watched.incident !== null) return () => Promise.resolve(undefined);
    const { incidents, siblings } = this.#parts;
    const others = siblings(watched);
    return async (transaction) => {
      const joined = await incidents.openOf(transaction, others, [since - togetherMs, since + togetherMs]);
      if (joined !== undefined) await incidents.join(transaction, joined, watched.id);
      const id =
        joined ?? (await incidents.open(transaction, watched.id, since, `${watched.config.name}: ${beat.msg}`));
      return () => {
        watched.incident = id;
        this.#parts.recorder.note(watched);
      };
    };
  }

  #closeIncident(watched: Watched, beat: JudgedBeat): Effect {
    return async (transaction) => {
      const { incident } = watched;
      if (incident === null) return undefined;
      const members = await transaction
        .selectFrom('incident_monitors')
        .select('monitor_id')
        .where('incident_id', '=', incident)
        .execute();
      // The incident stays open while one of its monitors is down.
      const others = members.some(({ monitor_id }) => {
        const other = monitor_id === watched.id ? undefined : this.#parts.find(monitor_id);
        return other?.incident === incident && other.standing.downSince !== null;
      });
      if (!others) await this.#parts.incidents.resolve(transaction, incident, beat.at);
      return () => {
        watched.incident = null;
        this.#parts.recorder.note(watched);
      };
    };
  }

  #slowness(watched: Watched, beat: JudgedBeat, timely: boolean): readonly Effect[] {
    const rule = watched.config.degradation ?? usualRule;
    if (rule === false || beat.status !== heartbeatStatus.up || beat.ping === null || !timely) return [];
    if (watched.usual === undefined || watched.usualAge >= usualEvery) {
      const week = emptySpread();
      for (const spread of watched.days.values()) addSpread(week, spread);
      watched.usual = usualOf(rule, week);
      watched.usualAge = 0;
    }
    watched.usualAge += 1;
    const since = watched.slowness.slowSince;
    const { slowness, current, change } = afterAnswer(rule, watched.slowness, watched.usual, beat.ping, beat.at);
    watched.slowness = slowness;
    // Slow responses do not change the baseline, unless they last for days.
    const lasting = slowness.slowSince !== null && beat.at - slowness.slowSince > 3 * 86_400_000;
    if (slowness.slowSince === null || lasting) count(spreadOfDay(watched, beat.at), beat.ping);
    if (change === undefined || watched.usual === undefined) return [];
    const figures = { ...watched.usual, current };
    const event =
      change === 'began'
        ? slowEvent(watched, figures, beat.at)
        : normalEvent(watched, { ...figures, since: since ?? beat.at }, beat.at);
    return [this.#enqueue(watched, event)];
  }

  #enqueue(watched: Watched, event: UptimeEvent): Effect {
    const { id, config } = watched;
    const hosts = config.dependsOn ?? [];
    const waits = event.event.kind === 'down' && hosts.length > 0;
    const later = waits ? { notBefore: this.#parts.clock.now() + coverMs } : {};
    if (waits) for (const host of hosts) this.#parts.again(host, 0);
    return async (transaction) => {
      const options = { monitor: id, tag: config.notifyTag, hosts, ...later };
      await this.#parts.teller.enqueue(transaction, event, options);
      return undefined;
    };
  }
}

/** Continues the imported state. */
function asElsewhere(watched: Watched, standing: Standing): Standing {
  const { stoodElsewhere } = watched;
  watched.stoodElsewhere = undefined;
  if (stoodElsewhere?.status !== standing.status) return standing;
  return stoodSince(standing, stoodElsewhere.since);
}
