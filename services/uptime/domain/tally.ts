import { heartbeatStatus, type HeartbeatStatus } from '../../contracts/uptime/monitor.ts';

/** Sums of the heartbeats in a time span. */
export interface Tally {
  up: number;
  down: number;
  maintenance: number;
  /** Time that is attributed to the status of the preceding heartbeat. */
  upMs: number;
  downMs: number;
  pingSum: number;
  pings: number;
  pingMin: number | null;
  pingMax: number | null;
}

export interface TalliedHeartbeat {
  readonly at: number;
  readonly status: HeartbeatStatus;
  readonly ping: number | null;
}

export function createTally(): Tally {
  return { up: 0, down: 0, maintenance: 0, upMs: 0, downMs: 0, pingSum: 0, pings: 0, pingMin: null, pingMax: null };
}

/**
 * Adds a heartbeat. A pending heartbeat counts as down.
 * @param maxGapMs Gap after which the time between two heartbeats is unknown
 */
export function tallyHeartbeat(
  tally: Tally,
  heartbeat: TalliedHeartbeat,
  previous: Pick<TalliedHeartbeat, 'at' | 'status'> | undefined,
  maxGapMs: number,
): void {
  if (heartbeat.status === heartbeatStatus.up) tally.up += 1;
  else if (heartbeat.status === heartbeatStatus.maintenance) tally.maintenance += 1;
  else tally.down += 1;
  if (heartbeat.ping !== null && heartbeat.status === heartbeatStatus.up) {
    tally.pingSum += heartbeat.ping;
    tally.pings += 1;
    tally.pingMin = Math.min(tally.pingMin ?? heartbeat.ping, heartbeat.ping);
    tally.pingMax = Math.max(tally.pingMax ?? heartbeat.ping, heartbeat.ping);
  }
  if (previous === undefined || heartbeat.at <= previous.at || heartbeat.at - previous.at > maxGapMs) return;
  if (previous.status === heartbeatStatus.up) tally.upMs += heartbeat.at - previous.at;
  else if (previous.status !== heartbeatStatus.maintenance) tally.downMs += heartbeat.at - previous.at;
}

export function addTally(into: Tally, from: Readonly<Tally>): void {
  into.up += from.up;
  into.down += from.down;
  into.maintenance += from.maintenance;
  into.upMs += from.upMs;
  into.downMs += from.downMs;
  into.pingSum += from.pingSum;
  into.pings += from.pings;
  if (from.pingMin !== null) into.pingMin = Math.min(into.pingMin ?? from.pingMin, from.pingMin);
  if (from.pingMax !== null) into.pingMax = Math.max(into.pingMax ?? from.pingMax, from.pingMax);
}

/** Returns the share of up time; by heartbeats when no time is known; null without heartbeats. */
export function getUptimeByTime({ up, down, upMs, downMs }: Readonly<Tally>): number | null {
  if (upMs + downMs > 0) return upMs / (upMs + downMs);
  return getUptimeByHeartbeats({ up, down });
}

/** Returns the share of up heartbeats, as Uptime Kuma counts. */
export function getUptimeByHeartbeats({ up, down }: Pick<Tally, 'up' | 'down'>): number | null {
  return up + down === 0 ? null : up / (up + down);
}

export function getAveragePing({ pingSum, pings }: Readonly<Tally>): number | null {
  return pings === 0 ? null : pingSum / pings;
}
