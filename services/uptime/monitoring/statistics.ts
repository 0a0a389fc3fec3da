import type { CertificateChain, ChartPoint } from '../../contracts/uptime/views.ts';
import type { Clock } from '../../contracts/service.ts';
import {
  getAveragePing,
  addTally,
  createTally,
  tallyHeartbeat,
  getUptimeByHeartbeats,
  getUptimeByTime,
  type Tally,
} from '../domain/tally.ts';
import type { HeartbeatStore } from '../store/heartbeats.ts';
import type { BucketStore } from '../store/buckets.ts';
import { bucketMs, type BucketSize } from '../store/tables.ts';
import type { Recorder } from './recorder.ts';
import { toTally } from './rollup.ts';
import { getLastDayTally, getMaxGapMs, type RuntimeMonitor } from './monitor-state.ts';

const minuteMs = 60_000;
const hourMs = bucketMs[1];
const dayMs = bucketMs[2];

export interface StatisticsDependencies {
  readonly clock: Clock;
  readonly beats: HeartbeatStore;
  readonly buckets: BucketStore;
  readonly recorder: Pick<Recorder, 'flush'>;
}

/** Computes uptime and response times from stored buckets and the hours that are not stored yet. */
export class Statistics {
  readonly #dependencies: StatisticsDependencies;

  constructor(dependencies: StatisticsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the tally of the last hours. */
  async getTally(monitor: RuntimeMonitor, hours: number): Promise<Tally> {
    const now = this.#dependencies.clock.now();
    if (hours <= 24) return getLastDayTally(monitor, now);
    const from = now - hours * hourMs;
    const total = createTally();
    let end = from;
    for (const [size, until] of hours <= 720
      ? ([[1, now]] as const)
      : ([
          [2, now],
          [1, now],
        ] as const)) {
      for (const bucket of await this.#dependencies.buckets.since(size, monitor.id, Math.floor(end / dayMs) * dayMs)) {
        if (bucket.start < end - bucketMs[size] + 1 || bucket.start >= until) continue;
        addTally(total, toTally(bucket));
        end = Math.max(end, bucket.start + bucketMs[size]);
      }
    }
    for (const [start, tally] of monitor.hours) if (start >= end) addTally(total, tally);
    return total;
  }

  /** Returns the uptime from 0 to 1, as Uptime Kuma counts; 0 without heartbeats. */
  async getUptimeRatio(monitor: RuntimeMonitor, hours: number): Promise<number> {
    return getUptimeByHeartbeats(await this.getTally(monitor, hours)) ?? 0;
  }

  /**
   * Returns chart points, oldest first: one per minute up to a day, one per hour up to 30 days, otherwise one per day.
   */
  async getChart(monitor: RuntimeMonitor, hours: number): Promise<ChartPoint[]> {
    const from = this.#dependencies.clock.now() - hours * hourMs;
    if (hours <= 24) return this.#minutes(monitor, from);
    const size: BucketSize = hours <= 720 ? 1 : 2;
    const buckets = await this.#dependencies.buckets.since(size, monitor.id, from);
    const points = buckets.map((bucket) => toChartPoint(bucket.start, toTally(bucket), bucket.p95));
    const end = buckets.at(-1) === undefined ? from : (buckets.at(-1)?.start ?? 0) + bucketMs[size];
    const openBuckets = new Map<number, Tally>();
    for (const [start, tally] of monitor.hours) {
      if (start < end) continue;
      const bucketStart = Math.floor(start / bucketMs[size]) * bucketMs[size];
      const into = openBuckets.get(bucketStart) ?? createTally();
      addTally(into, tally);
      openBuckets.set(bucketStart, into);
    }
    return [
      ...points,
      ...[...openBuckets].sort(([a], [b]) => a - b).map(([start, tally]) => toChartPoint(start, tally, null)),
    ];
  }

  /**
   * Returns chart points of the time span of the same length before, oldest first: one per hour up to 30 days,
   * otherwise one per day. Minutes are not stored for that long.
   */
  async getPreviousChart(monitor: RuntimeMonitor, hours: number): Promise<ChartPoint[]> {
    const until = this.#dependencies.clock.now() - hours * hourMs;
    const size: BucketSize = hours <= 720 ? 1 : 2;
    const buckets = await this.#dependencies.buckets.since(size, monitor.id, until - hours * hourMs);
    return buckets
      .filter(({ start }) => start < until)
      .map((bucket) => toChartPoint(bucket.start, toTally(bucket), bucket.p95));
  }

  async getFacts(monitor: RuntimeMonitor): Promise<{
    uptime: { day: number | null; week: number | null; month: number | null; year: number | null };
    avgPing24h: number | null;
    certificate: CertificateChain | null;
    pushPath: string | null;
    description: string | null;
    dependsOn: number[];
  }> {
    const lastDay = getLastDayTally(monitor, this.#dependencies.clock.now());
    const [week, month, year] = await Promise.all([168, 720, 8760].map((hours) => this.getTally(monitor, hours)));
    const toUptime = (tally: Tally | undefined): number | null => (tally === undefined ? null : getUptimeByTime(tally));
    const { pushToken, type, description, dependsOn } = monitor.config;
    return {
      uptime: { day: toUptime(lastDay), week: toUptime(week), month: toUptime(month), year: toUptime(year) },
      avgPing24h: getAveragePing(lastDay),
      certificate: monitor.chain ?? null,
      pushPath: type === 'push' && pushToken !== null ? `/api/push/${pushToken}` : null,
      description,
      dependsOn: [...(dependsOn ?? [])],
    };
  }

  async #minutes(monitor: RuntimeMonitor, from: number): Promise<ChartPoint[]> {
    await this.#dependencies.recorder.flush();
    const byMinute = new Map<number, { readonly tally: Tally; readonly pings: number[] }>();
    let previous: Parameters<typeof tallyHeartbeat>[2];
    for (const beat of await this.#dependencies.beats.since(monitor.id, from)) {
      const start = Math.floor(beat.at / minuteMs) * minuteMs;
      const entry = byMinute.get(start) ?? { tally: createTally(), pings: [] };
      byMinute.set(start, entry);
      tallyHeartbeat(entry.tally, beat, previous, getMaxGapMs(monitor.config));
      if (beat.ping !== null) entry.pings.push(beat.ping);
      previous = beat;
    }
    return [...byMinute].map(([start, { tally, pings }]) => {
      const sorted = pings.toSorted((a, b) => a - b);
      return toChartPoint(start, tally, sorted[Math.ceil(sorted.length * 0.95) - 1] ?? null);
    });
  }
}

function toChartPoint(start: number, tally: Tally, p95: number | null): ChartPoint {
  return {
    timestamp: Math.round(start / 1000),
    up: tally.up,
    down: tally.down,
    avgPing: tally.pings === 0 ? null : Math.round((tally.pingSum / tally.pings) * 10) / 10,
    minPing: tally.pingMin,
    maxPing: tally.pingMax,
    p95,
    ...(tally.maintenance === 0 ? {} : { maintenance: tally.maintenance }),
  };
}
