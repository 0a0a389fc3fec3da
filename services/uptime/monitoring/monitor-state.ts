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
/** So many days make what is usual. */
const usualDays = 7;

/** A monitor as it is watched: its configuration and all that its beats have made of it. */
export interface Watched {
  readonly id: number;
  config: MonitorConfig;
  rules: Rules;
  standing: Standing;
  /** How another program saw it last, until the first beat here. */
  stoodElsewhere?: { readonly status: HeartbeatStatus; readonly since: number; readonly at: number } | undefined;
  flapping: Flapping;
  slowness: Slowness;
  usual: Usual | undefined;
  /** Beats since `usual` was made. */
  usualAge: number;
  chain: CertificateChain | undefined;
  told: ToldThresholds;
  /** The open incident. */
  incident: number | null;
  /** When the outage began that was told of last, also after its end. */
  outageSince: number | null;
  /** Its outage was another one's fault, and that one was told of. */
  silenced: boolean;
  /** When it was paused because the process died while it was being checked; ms since the epoch. */
  quarantinedAt: number | null;
  /** Failures that were our own fault, in a row. */
  excused: number;
  readonly hours: Map<number, Tally>;
  readonly days: Map<number, Spread>;
}

/** What of it outlives a restart, beside its beats. */
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

/** Four fifths of the interval where nothing is said, and never longer than the interval. */
export function timeoutMs(config: MonitorConfig): number {
  const given = config.timeout === null || config.timeout === 0 ? config.interval * 0.8 : config.timeout;
  return Math.max(100, given * 1000);
}

/** After longer silence nothing is known of the time between two beats. */
export function longestGapMs(config: MonitorConfig): number {
  return 2 * Math.max(intervalMs(config), retryMs(config)) + timeoutMs(config) + 60_000;
}

/** Counts a beat into its hour. */
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

/** The spread of response times of a day of UTC. */
export function spreadOfDay(watched: Watched, at: number): Spread {
  const day = Math.floor(at / dayMs) * dayMs;
  let spread = watched.days.get(day);
  if (spread === undefined) {
    watched.days.set(day, (spread = emptySpread()));
    for (const old of watched.days.keys()) if (old <= day - usualDays * dayMs) watched.days.delete(old);
  }
  return spread;
}

/** Of the last 24 hours, to the hour. */
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
