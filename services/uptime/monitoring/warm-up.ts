import { setImmediate as nextTurn } from 'node:timers/promises';
import { addSpread, emptySpread, readSpread, count } from '../domain/histogram.ts';
import { addTally, emptyTally, tallyBeat } from '../domain/tally.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { BeatStore } from '../store/heartbeats.ts';
import type { BucketStore } from '../store/buckets.ts';
import { bucketMs } from '../store/tables.ts';
import { tallyOf } from './rollup.ts';
import { longestGapMs, type Watched } from './monitor-state.ts';

const hour = bucketMs[1];
const day = bucketMs[2];

/**
 * Restores the last 25 hours and the baseline of a monitor from data before `until`. Later heartbeats are already
 * counted.
 */
export async function warmUp(watched: Watched, beats: BeatStore, buckets: BucketStore, until: number): Promise<void> {
  const hours = await buckets.since(1, watched.id, until - 25 * hour);
  for (const bucket of hours) addTally(hourOf(watched, bucket.start), tallyOf(bucket));
  const rolled = (hours.at(-1)?.start ?? until - 26 * hour) + hour;
  let before: { readonly at: number; readonly status: 0 | 1 | 2 | 3 } | undefined;
  const today = emptySpread();
  const thisDay = Math.floor(until / day) * day;
  for (const beat of await beats.since(watched.id, rolled)) {
    if (beat.at >= until) break;
    tallyBeat(hourOf(watched, Math.floor(beat.at / hour) * hour), beat, before, longestGapMs(watched.config));
    if (beat.ping !== null && beat.status === heartbeatStatus.up) count(today, beat.ping);
    before = beat;
  }
  for (const bucket of hours) if (bucket.start >= thisDay) addSpread(today, readSpread(bucket.spread));
  addSpread(spreadOf(watched, thisDay), today);
  for (const bucket of await buckets.since(2, watched.id, thisDay - 6 * day)) {
    if (bucket.start < thisDay) addSpread(spreadOf(watched, bucket.start), readSpread(bucket.spread));
  }
  watched.usual = undefined;
}

/** Warms up all monitors, with a turn of the event loop between them. */
export async function warmUpAll(
  all: readonly Watched[],
  stores: { readonly beats: BeatStore; readonly buckets: BucketStore },
  until: number,
  isClosed: () => boolean,
): Promise<void> {
  for (const watched of all) {
    if (isClosed()) return;
    await warmUp(watched, stores.beats, stores.buckets, until);
    await nextTurn();
  }
}

function hourOf(watched: Watched, start: number) {
  const found = watched.hours.get(start) ?? emptyTally();
  watched.hours.set(start, found);
  return found;
}

function spreadOf(watched: Watched, start: number) {
  const found = watched.days.get(start) ?? emptySpread();
  watched.days.set(start, found);
  return found;
}
