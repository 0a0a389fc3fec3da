import type { CertificateChain } from '../../contracts/uptime/views.ts';
import type { HeartbeatStatus, MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { ToldThresholds } from '../domain/certificate.ts';
import { notSlow, type Slowness, type Usual } from '../domain/degradation.ts';
import { steady, type Flapping } from '../domain/flapping.ts';
import { unknownStanding, type Rules, type Standing } from '../domain/judge.ts';
import { emptySpread, type Spread } from '../domain/histogram.ts';
import { emptyTally, tallyBeat, type Tally, type TalliedBeat } from '../domain/tally.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const keptHours = 25;
/** Number of days that the baseline covers. */
const usualDays = 7;

/** Monitor at run time: its configuration and the state derived from its heartbeats. */
export interface Watched {
  readonly id: number;
  config: MonitorConfig;
  rules: Rules;
  standing: Standing;
  /** Imported state, until the first heartbeat. */
  stoodElsewhere?: { readonly status: HeartbeatStatus; readonly since: number; readonly at: number } | undefined;
  flapping: Flapping;
  slowness: Slowness;
  usual: Usual | undefined;
  /** Heartbeats since the baseline was computed. */
  usualAge: number;
  chain: CertificateChain | undefined;
  told: ToldThresholds;
  /** ID of the open incident. */
  incident: number | null;
  /** Start of the last reported outage, kept after its end. */
  outageSince: number | null;
  /** The outage was suppressed in favor of a dependency. */
  silenced: boolean;
  /** Time of the quarantine, in milliseconds since the epoch. */
  quarantinedAt: number | null;
  /** Consecutive failures that were attributed to this computer. */
  excused: number;
  readonly hours: Map<number, Tally>;
  readonly days: Map<number, Spread>;
}

/** State that is stored as JSON. The names must not change. */
export type Remembered = Partial<Pick<Watched, 'chain'>> &
  Pick<
    Watched,
    'standing' | 'flapping' | 'told' | 'incident' | 'outageSince' | 'silenced' | 'slowness' | 'quarantinedAt'
  >;

export function watchedOf(id: number, config: MonitorConfig, remembered?: Partial<Remembered>): Watched {
  return {
    id,
    config,
    rules: rulesOf(config),
    standing: remembered?.standing ?? unknownStanding,
    flapping: remembered?.flapping ?? steady,
    slowness: remembered?.slowness ?? notSlow,
    usual: undefined,
    usualAge: 0,
    chain: remembered?.chain,
    told: remembered?.told ?? {},
    incident: remembered?.incident ?? null,
    outageSince: remembered?.outageSince ?? null,
    silenced: remembered?.silenced ?? false,
    quarantinedAt: remembered?.quarantinedAt ?? null,
    excused: 0,
    hours: new Map(),
    days: new Map(),
  };
}

export function rememberedOf(watched: Watched): Remembered {
  const { standing, flapping, chain, told, incident, outageSince, silenced, slowness, quarantinedAt } = watched;
  return {
    standing,
    flapping,
    told,
    incident,
    outageSince,
    silenced,
    slowness,
    quarantinedAt,
    ...(chain === undefined ? {} : { chain }),
  };
}

export function rulesOf(config: MonitorConfig): Rules {
  return {
    maxretries: config.maxretries,
    resendInterval: config.resendInterval,
    upsideDown: config.upsideDown === true,
    retryOnlyOnStatusCodeFailure: config.retryOnlyOnStatusCodeFailure === true,
  };
}

export function intervalMs({ interval }: MonitorConfig): number {
  return Math.max(200, interval * 1000);
}

export function retryMs(config: MonitorConfig): number {
  return Math.max(200, (config.retryInterval ?? config.interval) * 1000);
}

/** Returns the timeout of a check; defaults to 80 % of the interval. */
export function timeoutMs(config: MonitorConfig): number {
  const given = config.timeout === null || config.timeout === 0 ? config.interval * 0.8 : config.timeout;
  return Math.max(100, given * 1000);
}

/** Returns the gap between two heartbeats after which the status is unknown. */
export function longestGapMs(config: MonitorConfig): number {
  return 2 * Math.max(intervalMs(config), retryMs(config)) + timeoutMs(config) + 60_000;
}

/** Adds a heartbeat to the tally of its hour. */
export function countBeat(watched: Watched, beat: TalliedBeat, before: Pick<Standing, 'at' | 'status'>): void {
  const hour = Math.floor(beat.at / hourMs) * hourMs;
  let tally = watched.hours.get(hour);
  if (tally === undefined) {
    watched.hours.set(hour, (tally = emptyTally()));
    for (const old of watched.hours.keys()) if (old <= hour - keptHours * hourMs) watched.hours.delete(old);
  }
  const known = before.at === null || before.status === null ? undefined : { at: before.at, status: before.status };
  tallyBeat(tally, beat, known, longestGapMs(watched.config));
}

/** Returns the histogram of response times of a day in UTC. */
export function spreadOfDay(watched: Watched, at: number): Spread {
  const day = Math.floor(at / dayMs) * dayMs;
  let spread = watched.days.get(day);
  if (spread === undefined) {
    watched.days.set(day, (spread = emptySpread()));
    for (const old of watched.days.keys()) if (old <= day - usualDays * dayMs) watched.days.delete(old);
  }
  return spread;
}

/** Returns the tally of the last 24 hours, with a share of the oldest hour. */
export function lastDay(watched: Watched, now: number): Tally {
  const sum = emptyTally();
  const from = now - dayMs;
  for (const [hour, tally] of watched.hours) {
    const share = Math.min(1, Math.max(0, (hour + hourMs - from) / hourMs));
    if (share === 0 || hour > now) continue;
    sum.up += tally.up * share;
    sum.down += tally.down * share;
    sum.maintenance += tally.maintenance * share;
    sum.upMs += tally.upMs * share;
    sum.downMs += tally.downMs * share;
    sum.pingSum += tally.pingSum * share;
    sum.pings += tally.pings * share;
  }
  return sum;
}
