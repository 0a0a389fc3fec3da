import type { Context } from '../../contracts/service.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { withEarlierStart } from '../domain/judge.ts';
import { createHistogram, recordValue, formatHistogram } from '../domain/histogram.ts';
import type { PastOutage } from '../store/incidents.ts';
import type { UptimeStores } from '../store/stores.ts';
import { bucketMs } from '../store/tables.ts';
import { warmUp } from '../monitoring/warm-up.ts';
import { getIntervalMs, type RuntimeMonitor } from '../monitoring/monitor-state.ts';
import type { MonitorHistory, ImportedHeartbeat, ImportedTally } from './backup.ts';

export interface HistoryDependencies {
  readonly context: Pick<Context, 'commit' | 'clock'>;
  readonly stores: Pick<UptimeStores, 'heartbeats' | 'buckets' | 'incidents'>;
}

const batchSize = 500;

/** Writes the imported history of a monitor: heartbeats of the last day, state changes, hours and days. */
export async function writeHistory(
  dependencies: HistoryDependencies,
  monitor: RuntimeMonitor,
  history: MonitorHistory,
  until: number,
): Promise<void> {
  const { context, stores } = dependencies;
  const { heartbeats, buckets } = stores;
  const importedHeartbeats = history.heartbeats.map((beat) => ({
    ...beat,
    monitorId: monitor.id,
    retries: 0,
    duration: 0,
  }));
  for (let offset = 0; offset < importedHeartbeats.length; offset += batchSize) {
    const batch = importedHeartbeats.slice(offset, offset + batchSize);
    await context.commit((transaction) => heartbeats.add(transaction, batch));
  }
  const rows = history.tallies.map((tally) => toRow(monitor, tally));
  if (rows.length > 0) await context.commit((transaction) => buckets.put(transaction, rows));
  await warmUp(monitor, heartbeats, buckets, Math.min(until, monitor.checkState.since ?? until));
  continueState(monitor, history.heartbeats);
}

/** Continues the imported state. The first check may have completed already. */
function continueState(monitor: RuntimeMonitor, beats: readonly ImportedHeartbeat[]): void {
  const newestFirst = beats.toSorted((a, b) => b.at - a.at);
  const [last] = newestFirst;
  const endIndex = newestFirst.findIndex(({ status }) => status !== last?.status);
  const first = newestFirst.at(endIndex === -1 ? -1 : endIndex - 1);
  if (first === undefined || last === undefined) return;
  const { status, at: since } = first;
  if (monitor.checkState.status === null) monitor.stoodElsewhere = { status, since, at: last.at };
  else if (monitor.checkState.status === status) monitor.checkState = withEarlierStart(monitor.checkState, since);
}

function toRow(
  monitor: RuntimeMonitor,
  { size, start, up, down, maintenance, share, ping, pingMin, pingMax }: ImportedTally,
) {
  const knownMs = Math.min(bucketMs[size], (up + down) * getIntervalMs(monitor.config));
  const histogram = createHistogram();
  if (up > 0 && ping > 0) recordValue(histogram, ping, up);
  return {
    ...{ size, monitor_id: monitor.id, start, up, down, maintenance },
    up_ms: Math.round(knownMs * share),
    down_ms: Math.round(knownMs * (1 - share)),
    ping_sum: Math.round(ping * up),
    pings: ping > 0 ? up : 0,
    ping_min: ping > 0 ? Math.round(pingMin) : null,
    ping_max: ping > 0 ? Math.round(pingMax) : null,
    p95: null,
    spread: formatHistogram(histogram),
  };
}

/** Returns completed outages from heartbeats. An ongoing outage is created by the first check. */
export function findOutages(monitorId: number, beats: readonly ImportedHeartbeat[]): readonly PastOutage[] {
  const pastIncidents: PastOutage[] = [];
  let start: ImportedHeartbeat | undefined;
  for (const beat of beats.toSorted((a, b) => a.at - b.at)) {
    if (beat.status === heartbeatStatus.down) start ??= beat;
    if (beat.status !== heartbeatStatus.up || start === undefined) continue;
    pastIncidents.push({ monitorId, startedAt: start.at, resolvedAt: beat.at, cause: start.msg });
    start = undefined;
  }
  return pastIncidents;
}

/** Writes outages ordered by their start, because lists of incidents are ordered by ID. */
export async function writeOutages(
  { context, stores: { incidents } }: HistoryDependencies,
  pastIncidents: readonly PastOutage[],
): Promise<void> {
  const sorted = pastIncidents.toSorted((a, b) => a.startedAt - b.startedAt);
  for (let offset = 0; offset < sorted.length; offset += batchSize) {
    const batch = sorted.slice(offset, offset + batchSize);
    await context.commit((transaction) => incidents.addPast(transaction, batch));
  }
}
