import type { CertificateChain, ChartPoint } from '../../contracts/uptime/views.ts';
import type { Clock } from '../../contracts/service.ts';
import {
  averagePing,
  addTally,
  emptyTally,
  tallyBeat,
  uptimeByBeats,
  uptimeByTime,
  type Tally,
} from '../domain/tally.ts';
import type { BeatStore } from '../store/heartbeats.ts';
import type { BucketStore } from '../store/buckets.ts';
import { bucketMs, type BucketSize } from '../store/tables.ts';
import type { Recorder } from './recorder.ts';
import { tallyOf } from './rollup.ts';
import { lastDay, longestGapMs, type Watched } from './monitor-state.ts';

const minute = 60_000;
const hour = bucketMs[1];
const day = bucketMs[2];

export interface FiguresParts {
  readonly clock: Clock;
  readonly beats: BeatStore;
  readonly buckets: BucketStore;
  readonly recorder: Pick<Recorder, 'settled'>;
}

/** Computes uptime and response times from stored buckets and the hours that are not stored yet. */
export class Figures {
  readonly #parts: FiguresParts;

  constructor(parts: FiguresParts) {
    this.#parts = parts;
  }

  /** Returns the tally of the last hours. */
  async over(watched: Watched, hours: number): Promise<Tally> {
    const now = this.#parts.clock.now();
    if (hours <= 24) return lastDay(watched, now);
    const from = now - hours * hour;
    const sum = emptyTally();
    let end = from;
    for (const [size, until] of hours <= 720
      ? ([[1, now]] as const)
      : ([
          [2, now],
          [1, now],
        ] as const)) {
      for (const bucket of await this.#parts.buckets.since(size, watched.id, Math.floor(end / day) * day)) {
        if (bucket.start < end - bucketMs[size] + 1 || bucket.start >= until) continue;
        addTally(sum, tallyOf(bucket));
        end = Math.max(end, bucket.start + bucketMs[size]);
      }
    }
    for (const [start, tally] of watched.hours) if (start >= end) addTally(sum, tally);
    return sum;
  }

  /** Returns the uptime from 0 to 1, as Uptime Kuma counts; 0 without heartbeats. */
  async ratio(watched: Watched, hours: number): Promise<number> {
    return uptimeByBeats(await this.over(watched, hours)) ?? 0;
  }

  /**
   * Returns chart points, oldest first: one per minute up to a day, one per hour up to 30 days, otherwise one per day.
   */
  async chart(watched: Watched, hours: number): Promise<ChartPoint[]> {
    const from = this.#parts.clock.now() - hours * hour;
    if (hours <= 24) return this.#minutes(watched, from);
    const size: BucketSize = hours <= 720 ? 1 : 2;
    const stored = await this.#parts.buckets.since(size, watched.id, from);
    const points = stored.map((bucket) => pointOf(bucket.start, tallyOf(bucket), bucket.p95));
    const end = stored.at(-1) === undefined ? from : (stored.at(-1)?.start ?? 0) + bucketMs[size];
    const open = new Map<number, Tally>();
    for (const [start, tally] of watched.hours) {
      if (start < end) continue;
      const at = Math.floor(start / bucketMs[size]) * bucketMs[size];
      const into = open.get(at) ?? emptyTally();
      addTally(into, tally);
      open.set(at, into);
    }
    return [...points, ...[...open].sort(([a], [b]) => a - b).map(([start, tally]) => pointOf(start, tally, null))];
  }

  async facts(watched: Watched): Promise<{
    uptime: { day: number | null; week: number | null; month: number | null; year: number | null };
    avgPing24h: number | null;
    certificate: CertificateChain | null;
    pushPath: string | null;
  }> {
    const today = lastDay(watched, this.#parts.clock.now());
    const [week, month, year] = await Promise.all([168, 720, 8760].map((hours) => this.over(watched, hours)));
    const by = (tally: Tally | undefined): number | null => (tally === undefined ? null : uptimeByTime(tally));
    const { pushToken, type } = watched.config;
    return {
      uptime: { day: by(today), week: by(week), month: by(month), year: by(year) },
      avgPing24h: averagePing(today),
      certificate: watched.chain ?? null,
      pushPath: type === 'push' && pushToken !== null ? `/api/push/${pushToken}` : null,
    };
  }

  async #minutes(watched: Watched, from: number): Promise<ChartPoint[]> {
    await this.#parts.recorder.settled();
    const made = new Map<number, { readonly tally: Tally; readonly pings: number[] }>();
    let before: Parameters<typeof tallyBeat>[2];
    for (const beat of await this.#parts.beats.since(watched.id, from)) {
      const start = Math.floor(beat.at / minute) * minute;
      const found = made.get(start) ?? { tally: emptyTally(), pings: [] };
      made.set(start, found);
      tallyBeat(found.tally, beat, before, longestGapMs(watched.config));
      if (beat.ping !== null) found.pings.push(beat.ping);
      before = beat;
    }
    return [...made].map(([start, { tally, pings }]) => {
      const sorted = pings.toSorted((a, b) => a - b);
      return pointOf(start, tally, sorted[Math.ceil(sorted.length * 0.95) - 1] ?? null);
    });
  }
}

function pointOf(start: number, tally: Tally, p95: number | null): ChartPoint {
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
