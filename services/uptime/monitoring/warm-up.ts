import { setImmediate as nextTurn } from 'node:timers/promises';
import { addHistogram, createHistogram, parseHistogram, recordValue } from '../domain/histogram.ts';
import { addTally, createTally, tallyHeartbeat } from '../domain/tally.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { HeartbeatStore } from '../store/heartbeats.ts';
import type { BucketStore } from '../store/buckets.ts';
import { bucketMs } from '../store/tables.ts';
import { toTally } from './rollup.ts';
import { getMaxGapMs, type RuntimeMonitor } from './monitor-state.ts';

const hourMs = bucketMs[1];
const dayMs = bucketMs[2];

/**
 * Restores the last 25 hours and the baseline of a monitor from data before `until`. Later heartbeats are already
 * counted.
 */
export async function warmUp(
  monitor: RuntimeMonitor,
  beats: HeartbeatStore,
  buckets: BucketStore,
  until: number,
): Promise<void> {
  const hours = await buckets.since(1, monitor.id, until - 25 * hourMs);
  for (const bucket of hours) addTally(getHourTally(monitor, bucket.start), toTally(bucket));
  const rolledUpUntil = (hours.at(-1)?.start ?? until - 26 * hourMs) + hourMs;
  let previous: { readonly at: number; readonly status: 0 | 1 | 2 | 3 } | undefined;
  const todayHistogram = createHistogram();
  const thisDay = Math.floor(until / dayMs) * dayMs;
  for (const heartbeat of await beats.since(monitor.id, rolledUpUntil)) {
    if (heartbeat.at >= until) break;
    tallyHeartbeat(
      getHourTally(monitor, Math.floor(heartbeat.at / hourMs) * hourMs),
      heartbeat,
      previous,
      getMaxGapMs(monitor.config),
    );
    if (heartbeat.ping !== null && heartbeat.status === heartbeatStatus.up) recordValue(todayHistogram, heartbeat.ping);
    previous = heartbeat;
  }
  for (const bucket of hours) if (bucket.start >= thisDay) addHistogram(todayHistogram, parseHistogram(bucket.spread));
  addHistogram(getOrCreateHistogram(monitor, thisDay), todayHistogram);
  for (const bucket of await buckets.since(2, monitor.id, thisDay - 6 * dayMs)) {
    if (bucket.start < thisDay)
      addHistogram(getOrCreateHistogram(monitor, bucket.start), parseHistogram(bucket.spread));
  }
  monitor.usual = undefined;
}

/** Warms up all monitors, with a turn of the event loop between them. */
export async function warmUpAll(
  all: readonly RuntimeMonitor[],
  stores: { readonly beats: HeartbeatStore; readonly buckets: BucketStore },
  until: number,
  isClosed: () => boolean,
): Promise<void> {
  for (const monitor of all) {
    if (isClosed()) return;
    await warmUp(monitor, stores.beats, stores.buckets, until);
    await nextTurn();
  }
}

function getHourTally(monitor: RuntimeMonitor, start: number) {
  const entry = monitor.hours.get(start) ?? createTally();
  monitor.hours.set(start, entry);
  return entry;
}

function getOrCreateHistogram(monitor: RuntimeMonitor, start: number) {
  const entry = monitor.days.get(start) ?? createHistogram();
  monitor.days.set(start, entry);
  return entry;
}
