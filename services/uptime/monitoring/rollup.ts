import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Insertable } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import {
  recordValue,
  createHistogram,
  quantile,
  parseHistogram,
  addHistogram,
  formatHistogram,
  countValues,
} from '../domain/histogram.ts';
import { addTally, createTally, tallyHeartbeat, type Tally } from '../domain/tally.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { HeartbeatStore, StoredHeartbeat } from '../store/heartbeats.ts';
import type { Bucket, BucketStore } from '../store/buckets.ts';
import { bucketMs, type BucketSize, type Tables } from '../store/tables.ts';
import { getIntervalMs, getMaxGapMs, type RuntimeMonitor } from './monitor-state.ts';
import { SingleFlight } from '../../kit/single-flight.ts';

const hourMs = bucketMs[1];
const dayMs = bucketMs[2];
/** Minimum number of heartbeats that are kept, regardless of their age. */
const minHeartbeats = 100;
const storedHours = 90 * 24;

export interface RollupDependencies {
  readonly context: Pick<Context, 'commit' | 'clock' | 'log'>;
  readonly beats: HeartbeatStore;
  readonly buckets: BucketStore;
  readonly all: () => readonly RuntimeMonitor[];
  /** Retention of days and state changes. */
  readonly keepDays: () => number;
}

/**
 * Rolls up heartbeats into hours and hours into days, and removes expired data. Heartbeats remain the source until
 * then, so that an interrupted run can be repeated.
 */
export class Rollup {
  readonly #dependencies: RollupDependencies;
  readonly #runs = new SingleFlight(() => this.#rollUpAll());
  #closed = false;

  constructor(dependencies: RollupDependencies) {
    this.#dependencies = dependencies;
  }

  run(): Promise<void> {
    return this.#runs.run();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#runs.settled();
  }

  async #rollUpAll(): Promise<void> {
    const { context, buckets, all } = this.#dependencies;
    try {
      const hours = await buckets.ends(1);
      const days = await buckets.ends(2);
      for (const monitor of all()) {
        if (this.#closed) return;
        await this.#rollUp(monitor, hours.get(monitor.id) ?? 0, days.get(monitor.id) ?? 0);
        await nextTurn();
      }
      if (!this.#closed)
        await context.commit((transaction) => this.#dependencies.beats.removeUnusedMessages(transaction));
    } catch (error) {
      context.log.error('heartbeat rollup failed', { error });
    }
  }

  async #rollUp(monitor: RuntimeMonitor, hoursEnd: number, daysEnd: number): Promise<void> {
    const { context, beats: heartbeats, buckets, keepDays } = this.#dependencies;
    const now = context.clock.now();
    const thisHour = Math.floor(now / hourMs) * hourMs;
    const thisDay = Math.floor(now / dayMs) * dayMs;
    if (hoursEnd < thisHour) {
      const rows = toHourBuckets(monitor, await heartbeats.since(monitor.id, hoursEnd), thisHour);
      if (rows.length > 0) await context.commit((transaction) => buckets.put(transaction, rows));
    }
    if (daysEnd < thisDay) {
      const rows = toDayBuckets(monitor.id, await buckets.since(1, monitor.id, daysEnd), thisDay);
      if (rows.length > 0) await context.commit((transaction) => buckets.put(transaction, rows));
    }
    const oldestRaw = Math.min(thisHour, now - Math.max(dayMs, minHeartbeats * getIntervalMs(monitor.config)));
    const important = now - keepDays() * dayMs;
    await context.commit(async (transaction) => {
      await heartbeats.removeOld(transaction, monitor.id, oldestRaw, important);
      await buckets.removeOld(transaction, 1, monitor.id, now - storedHours * hourMs);
      await buckets.removeOld(transaction, 2, monitor.id, important);
    });
  }
}

type Row = Insertable<Tables['buckets']>;

/** Rolls up heartbeats into completed hours. */
export function toHourBuckets(
  monitor: Pick<RuntimeMonitor, 'id' | 'config'>,
  heartbeats: readonly StoredHeartbeat[],
  until: number,
): Row[] {
  const entries = new Map<number, { readonly tally: Tally; readonly pings: number[] }>();
  let previous: StoredHeartbeat | undefined;
  for (const heartbeat of heartbeats) {
    const start = Math.floor(heartbeat.at / hourMs) * hourMs;
    if (start >= until) break;
    let entry = entries.get(start);
    if (entry === undefined) entries.set(start, (entry = { tally: createTally(), pings: [] }));
    tallyHeartbeat(entry.tally, heartbeat, previous, getMaxGapMs(monitor.config));
    if (heartbeat.ping !== null && heartbeat.status === heartbeatStatus.up) entry.pings.push(heartbeat.ping);
    previous = heartbeat;
  }
  return [...entries].map(([start, { tally, pings }]) => {
    const histogram = createHistogram();
    for (const ping of pings) recordValue(histogram, ping);
    return toRow(1, monitor.id, start, tally, histogram);
  });
}

function toDayBuckets(id: number, hours: readonly Bucket[], until: number): Row[] {
  const byDay = Map.groupBy(hours, ({ start }) => Math.floor(start / dayMs) * dayMs);
  return [...byDay]
    .filter(([start]) => start < until)
    .map(([start, dependencies]) => {
      const tally = createTally();
      const histogram = createHistogram();
      for (const part of dependencies) {
        addTally(tally, toTally(part));
        addHistogram(histogram, parseHistogram(part.spread));
      }
      return toRow(2, id, start, tally, histogram);
    });
}

function toRow(
  size: BucketSize,
  id: number,
  start: number,
  tally: Tally,
  histogram: ReturnType<typeof createHistogram>,
): Row {
  return {
    size,
    monitor_id: id,
    start,
    up: tally.up,
    down: tally.down,
    maintenance: tally.maintenance,
    up_ms: Math.round(tally.upMs),
    down_ms: Math.round(tally.downMs),
    ping_sum: tally.pingSum,
    pings: tally.pings,
    ping_min: tally.pingMin,
    ping_max: tally.pingMax,
    p95: countValues(histogram) === 0 ? null : clampPing(Math.round(quantile(histogram, 0.95)), tally),
    spread: formatHistogram(histogram),
  };
}

/** Limits a quantile to the known minimum and maximum, since bins are coarser. */
function clampPing(ping: number, { pingMin, pingMax }: Tally): number {
  return Math.min(pingMax ?? ping, Math.max(pingMin ?? ping, ping));
}

export function toTally(bucket: Bucket): Tally {
  return {
    up: bucket.up,
    down: bucket.down,
    maintenance: bucket.maintenance,
    upMs: bucket.up_ms,
    downMs: bucket.down_ms,
    pingSum: bucket.ping_sum,
    pings: bucket.pings,
    pingMin: bucket.ping_min,
    pingMax: bucket.ping_max,
  };
}
