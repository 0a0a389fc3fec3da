import type { CertificateChain } from '../../contracts/uptime/views.ts';
import type { HeartbeatStatus, MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { NotifiedThresholds } from '../domain/certificate.ts';
import { notSlow, type Slowness, type Baseline } from '../domain/degradation.ts';
import { notFlapping, type Flapping } from '../domain/flapping.ts';
import { initialCheckState, type MonitorRules, type CheckState } from '../domain/judge.ts';
import { createHistogram, type Histogram } from '../domain/histogram.ts';
import { createTally, tallyHeartbeat, type Tally, type TalliedHeartbeat } from '../domain/tally.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const storedHours = 25;
/** Number of days that the baseline covers. */
const baselineDays = 7;

/** Monitor at run time: its configuration and the state derived from its heartbeats. */
export interface RuntimeMonitor {
  readonly id: number;
  config: MonitorConfig;
  rules: MonitorRules;
  checkState: CheckState;
  /** Imported state, until the first heartbeat. */
  stoodElsewhere?: { readonly status: HeartbeatStatus; readonly since: number; readonly at: number } | undefined;
  flapping: Flapping;
  slowness: Slowness;
  usual: Baseline | undefined;
  /** Heartbeats since the baseline was computed. */
  usualAge: number;
  chain: CertificateChain | undefined;
  told: NotifiedThresholds;
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
  readonly days: Map<number, Histogram>;
}

/** State that is stored as JSON. The names must not change. */
export type StoredMonitorState = { readonly standing: CheckState } & Partial<Pick<RuntimeMonitor, 'chain'>> &
  Pick<RuntimeMonitor, 'flapping' | 'told' | 'incident' | 'outageSince' | 'silenced' | 'slowness' | 'quarantinedAt'>;

export function createRuntimeMonitor(
  id: number,
  config: MonitorConfig,
  stored?: Partial<StoredMonitorState>,
): RuntimeMonitor {
  return {
    id,
    config,
    rules: toRules(config),
    checkState: stored?.standing ?? initialCheckState,
    flapping: stored?.flapping ?? notFlapping,
    slowness: stored?.slowness ?? notSlow,
    usual: undefined,
    usualAge: 0,
    chain: stored?.chain,
    told: stored?.told ?? {},
    incident: stored?.incident ?? null,
    outageSince: stored?.outageSince ?? null,
    silenced: stored?.silenced ?? false,
    quarantinedAt: stored?.quarantinedAt ?? null,
    excused: 0,
    hours: new Map(),
    days: new Map(),
  };
}

export function toStoredState(monitor: RuntimeMonitor): StoredMonitorState {
  const { checkState, flapping, chain, told, incident, outageSince, silenced, slowness, quarantinedAt } = monitor;
  return {
    standing: checkState,
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

/**
 * Applies a state that another host has stored. States are stored less often than heartbeats, so the time and result of
 * a later heartbeat are kept, and the time never passes a heartbeat that was not read yet.
 */
export function applyStoredState(monitor: RuntimeMonitor, stored: StoredMonitorState): void {
  const { checkState: current } = monitor;
  const { standing } = stored;
  const isLater = current.at !== null && standing.at !== null && current.at > standing.at;
  const result = isLater
    ? { status: current.status, msg: current.msg, ping: current.ping, retries: current.retries }
    : {};
  monitor.checkState = { ...standing, ...result, at: current.at };
  monitor.chain = stored.chain;
  monitor.flapping = stored.flapping;
  monitor.told = stored.told;
  monitor.incident = stored.incident;
  monitor.outageSince = stored.outageSince;
  monitor.silenced = stored.silenced;
  monitor.slowness = stored.slowness;
  monitor.quarantinedAt = stored.quarantinedAt;
}

export function toRules(config: MonitorConfig): MonitorRules {
  return {
    maxretries: config.maxretries,
    resendInterval: config.resendInterval,
    upsideDown: config.upsideDown === true,
    retryOnlyOnStatusCodeFailure: config.retryOnlyOnStatusCodeFailure === true,
  };
}

export function getIntervalMs({ interval }: MonitorConfig): number {
  return Math.max(200, interval * 1000);
}

export function getRetryMs(config: MonitorConfig): number {
  return Math.max(200, (config.retryInterval ?? config.interval) * 1000);
}

/** Returns the timeout of a check; defaults to 80 % of the interval. */
export function getTimeoutMs(config: MonitorConfig): number {
  const timeoutSeconds = config.timeout === null || config.timeout === 0 ? config.interval * 0.8 : config.timeout;
  return Math.max(100, timeoutSeconds * 1000);
}

/** Returns the gap between two heartbeats after which the status is unknown. */
export function getMaxGapMs(config: MonitorConfig): number {
  return 2 * Math.max(getIntervalMs(config), getRetryMs(config)) + getTimeoutMs(config) + 60_000;
}

/** Adds a heartbeat to the tally of its hour. */
export function countHeartbeat(
  monitor: RuntimeMonitor,
  heartbeat: TalliedHeartbeat,
  previous: Pick<CheckState, 'at' | 'status'>,
): void {
  const hourStart = Math.floor(heartbeat.at / hourMs) * hourMs;
  let tally = monitor.hours.get(hourStart);
  if (tally === undefined) {
    monitor.hours.set(hourStart, (tally = createTally()));
    for (const storedHour of monitor.hours.keys())
      if (storedHour <= hourStart - storedHours * hourMs) monitor.hours.delete(storedHour);
  }
  const previousHeartbeat =
    previous.at === null || previous.status === null ? undefined : { at: previous.at, status: previous.status };
  tallyHeartbeat(tally, heartbeat, previousHeartbeat, getMaxGapMs(monitor.config));
}

/** Returns the histogram of response times of a day in UTC. */
export function getDayHistogram(monitor: RuntimeMonitor, timestamp: number): Histogram {
  const day = Math.floor(timestamp / dayMs) * dayMs;
  let histogram = monitor.days.get(day);
  if (histogram === undefined) {
    monitor.days.set(day, (histogram = createHistogram()));
    for (const storedDay of monitor.days.keys())
      if (storedDay <= day - baselineDays * dayMs) monitor.days.delete(storedDay);
  }
  return histogram;
}

/** Returns the tally of the last 24 hours, with a share of the oldest hour. */
export function getLastDayTally(monitor: RuntimeMonitor, now: number): Tally {
  const sum = createTally();
  const from = now - dayMs;
  for (const [hour, tally] of monitor.hours) {
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
