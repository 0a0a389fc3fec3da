import type { Context } from '../../contracts/service.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { stoodSince } from '../domain/judge.ts';
import { emptySpread, count, spreadText } from '../domain/histogram.ts';
import type { BeatStore } from '../store/heartbeats.ts';
import type { BucketStore } from '../store/buckets.ts';
import type { IncidentStore, PastOutage } from '../store/incidents.ts';
import { bucketMs } from '../store/tables.ts';
import { warmUp } from '../monitoring/warm-up.ts';
import { intervalMs, type Watched } from '../monitoring/monitor-state.ts';
import type { Past, PastBeat, PastTally } from './backup.ts';

export interface PastParts {
  readonly context: Pick<Context, 'commit' | 'clock'>;
  readonly beats: BeatStore;
  readonly buckets: BucketStore;
  readonly incidents: IncidentStore;
}

const atOnce = 500;

/** Writes the imported history of a monitor: heartbeats of the last day, state changes, hours and days. */
export async function writePast(parts: PastParts, watched: Watched, past: Past, until: number): Promise<void> {
  const { context, beats, buckets } = parts;
  const found = past.beats.map((beat) => ({ ...beat, monitorId: watched.id, retries: 0, duration: 0 }));
  for (let at = 0; at < found.length; at += atOnce) {
    const part = found.slice(at, at + atOnce);
    await context.commit((transaction) => beats.add(transaction, part));
  }
  const rows = past.tallies.map((tally) => rowOf(watched, tally));
  if (rows.length > 0) await context.commit((transaction) => buckets.put(transaction, rows));
  await warmUp(watched, beats, buckets, Math.min(until, watched.standing.since ?? until));
  goOn(watched, past.beats);
}

/** Continues the imported state. The first check may have completed already. */
function goOn(watched: Watched, beats: readonly PastBeat[]): void {
  const newest = beats.toSorted((a, b) => b.at - a.at);
  const [last] = newest;
  const end = newest.findIndex(({ status }) => status !== last?.status);
  const first = newest.at(end === -1 ? -1 : end - 1);
  if (first === undefined || last === undefined) return;
  const { status, at: since } = first;
  if (watched.standing.status === null) watched.stoodElsewhere = { status, since, at: last.at };
  else if (watched.standing.status === status) watched.standing = stoodSince(watched.standing, since);
}

function rowOf(watched: Watched, { size, start, up, down, maintenance, share, ping, pingMin, pingMax }: PastTally) {
  const known = Math.min(bucketMs[size], (up + down) * intervalMs(watched.config));
  const spread = emptySpread();
  if (up > 0 && ping > 0) count(spread, ping, up);
  return {
    ...{ size, monitor_id: watched.id, start, up, down, maintenance },
    up_ms: Math.round(known * share),
    down_ms: Math.round(known * (1 - share)),
    ping_sum: Math.round(ping * up),
    pings: ping > 0 ? up : 0,
    ping_min: ping > 0 ? Math.round(pingMin) : null,
    ping_max: ping > 0 ? Math.round(pingMax) : null,
    p95: null,
    spread: spreadText(spread),
  };
}

/** Returns completed outages from heartbeats. An ongoing outage is created by the first check. */
export function outagesOf(monitorId: number, beats: readonly PastBeat[]): readonly PastOutage[] {
  const outages: PastOutage[] = [];
  let began: PastBeat | undefined;
  for (const beat of beats.toSorted((a, b) => a.at - b.at)) {
    if (beat.status === heartbeatStatus.down) began ??= beat;
    if (beat.status !== heartbeatStatus.up || began === undefined) continue;
    outages.push({ monitorId, startedAt: began.at, resolvedAt: beat.at, cause: began.msg });
    began = undefined;
  }
  return outages;
}

/** Writes outages ordered by their start, because lists of incidents are ordered by ID. */
export async function writeOutages(
  { context, incidents }: Pick<PastParts, 'context' | 'incidents'>,
  outages: readonly PastOutage[],
): Promise<void> {
  const sorted = outages.toSorted((a, b) => a.startedAt - b.startedAt);
  for (let at = 0; at < sorted.length; at += atOnce) {
    const part = sorted.slice(at, at + atOnce);
    await context.commit((transaction) => incidents.addPast(transaction, part));
  }
}
