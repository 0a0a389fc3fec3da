import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Insertable } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import { count, emptySpread, quantile, readSpread, addSpread, spreadText, total } from '../domain/histogram.ts';
import { addTally, emptyTally, tallyBeat, type Tally } from '../domain/tally.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { BeatStore, StoredBeat } from '../store/heartbeats.ts';
import type { Bucket, BucketStore } from '../store/buckets.ts';
import { bucketMs, type BucketSize, type Tables } from '../store/tables.ts';
import { intervalMs, longestGapMs, type Watched } from './monitor-state.ts';

const hour = bucketMs[1];
const day = bucketMs[2];
/** Minimum number of heartbeats that are kept, regardless of their age. */
const leastBeats = 100;
const keptHours = 90 * 24;

export interface RollupParts {
  readonly context: Pick<Context, 'commit' | 'clock' | 'log'>;
  readonly beats: BeatStore;
  readonly buckets: BucketStore;
  readonly all: () => readonly Watched[];
  /** Retention of days and state changes. */
  readonly keepDays: () => number;
}

/**
 * Rolls up heartbeats into hours and hours into days, and removes expired data. Heartbeats remain the source until
 * then, so that an interrupted run can be repeated.
 */
export class Rollup {
  readonly #parts: RollupParts;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(parts: RollupParts) {
    this.#parts = parts;
  }

  run(): Promise<void> {
    this.#running ??= this.#all().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #all(): Promise<void> {
    const { context, buckets, all } = this.#parts;
    try {
      const hours = await buckets.ends(1);
      const days = await buckets.ends(2);
      for (const watched of all()) {
        if (this.#closed) return;
        await this.#one(watched, hours.get(watched.id) ?? 0, days.get(watched.id) ?? 0);
        await nextTurn();
      }
      if (!this.#closed) await context.commit((transaction) => this.#parts.beats.forgetMessages(transaction));
    } catch (error) {
      context.log.error('hours and days of beats could not be made; it is tried again', { error });
    }
  }

  async #one(watched: Watched, hoursEnd: number, daysEnd: number): Promise<void> {
    const { context, beats, buckets, keepDays } = this.#parts;
    const now = context.clock.now();
    const thisHour = Math.floor(now / hour) * hour;
    const thisDay = Math.floor(now / day) * day;
    if (hoursEnd < thisHour) {
      const made = hoursOf(watched, await beats.since(watched.id, hoursEnd), thisHour);
      if (made.length > 0) await context.commit((transaction) => buckets.put(transaction, made));
    }
    if (daysEnd < thisDay) {
      const made = daysOf(watched.id, await buckets.since(1, watched.id, daysEnd), thisDay);
      if (made.length > 0) await context.commit((transaction) => buckets.put(transaction, made));
    }
    const raw = Math.min(thisHour, now - Math.max(day, leastBeats * intervalMs(watched.config)));
    const important = now - keepDays() * day;
    await context.commit(async (transaction) => {
      await beats.removeOld(transaction, watched.id, raw, important);
      await buckets.removeOld(transaction, 1, watched.id, now - keptHours * hour);
      await buckets.removeOld(transaction, 2, watched.id, important);
    });
  }
}

type Row = Insertable<Tables['buckets']>;

/** Rolls up heartbeats into completed hours. */
export function hoursOf(watched: Pick<Watched, 'id' | 'config'>, beats: readonly StoredBeat[], until: number): Row[] {
  const made = new Map<number, { readonly tally: Tally; readonly pings: number[] }>();
  let before: StoredBeat | undefined;
  for (const beat of beats) {
    const start = Math.floor(beat.at / hour) * hour;
    if (start >= until) break;
    let found = made.get(start);
    if (found === undefined) made.set(start, (found = { tally: emptyTally(), pings: [] }));
    tallyBeat(found.tally, beat, before, longestGapMs(watched.config));
    if (beat.ping !== null && beat.status === heartbeatStatus.up) found.pings.push(beat.ping);
    before = beat;
  }
  return [...made].map(([start, { tally, pings }]) => {
    const spread = emptySpread();
    for (const ping of pings) count(spread, ping);
    return rowOf(1, watched.id, start, tally, spread);
  });
}

function daysOf(id: number, hours: readonly Bucket[], until: number): Row[] {
  const byDay = Map.groupBy(hours, ({ start }) => Math.floor(start / day) * day);
  return [...byDay]
    .filter(([start]) => start < until)
    .map(([start, parts]) => {
      const tally = emptyTally();
      const spread = emptySpread();
      for (const part of parts) {
        addTally(tally, tallyOf(part));
        addSpread(spread, readSpread(part.spread));
      }
      return rowOf(2, id, start, tally, spread);
    });
}

function rowOf(size: BucketSize, id: number, start: number, tally: Tally, spread: ReturnType<typeof emptySpread>): Row {
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
    p95: total(spread) === 0 ? null : within(Math.round(quantile(spread, 0.95)), tally),
    spread: spreadText(spread),
  };
}

/** Limits a quantile to the known minimum and maximum, since bins are coarser. */
function within(ping: number, { pingMin, pingMax }: Tally): number {
  return Math.min(pingMax ?? ping, Math.max(pingMin ?? ping, ping));
}

export function tallyOf(bucket: Bucket): Tally {
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
