import type { ReportRow } from '../../contracts/uptime/manage.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { getAveragePing, getUptimeByTime, type Tally } from '../domain/tally.ts';
import type { IncidentStore } from '../store/incidents.ts';
import type { Statistics } from './statistics.ts';
import { getMaxGapMs, type RuntimeMonitor } from './monitor-state.ts';

const dayMs = 86_400_000;
const hoursOfDay = 24;
const maxOutages = 10_000;

/**
 * Builds an availability report over a number of days.
 * @param target Required uptime in per cent
 */
export async function buildReport(
  monitors: readonly RuntimeMonitor[],
  { days, target }: { readonly days: number; readonly target: number },
  {
    figures,
    incidents,
    now,
  }: { readonly figures: Statistics; readonly incidents: IncidentStore; readonly now: number },
): Promise<ReportRow[]> {
  const rows: ReportRow[] = [];
  for (const monitor of monitors) {
    const tally = withOpenTime(await figures.getTally(monitor, days * hoursOfDay), monitor, now);
    const uptime = getUptimeByTime(tally);
    const knownSeconds = Math.round((tally.upMs + tally.downMs) / 1000);
    const downSeconds = Math.round(tally.downMs / 1000);
    const budget = Math.round(knownSeconds * (1 - target / 100));
    const since = now - days * dayMs;
    const recentIncidents = await incidents.listForMonitors([monitor.id], since, maxOutages);
    rows.push({
      id: monitor.id,
      name: monitor.config.name,
      uptime,
      downSeconds,
      knownSeconds,
      outages: recentIncidents.length + (startsOutage(monitor) ? 1 : 0),
      avgPing: getAveragePing(tally),
      budgetSeconds: budget,
      budgetLeftSeconds: budget - downSeconds,
      meets: uptime === null ? null : uptime * 100 >= target,
    });
  }
  return rows;
}

/** Adds the time since the last check with the status of that check, so that an ongoing outage counts up to now. */
function withOpenTime(tally: Tally, { config, checkState }: RuntimeMonitor, now: number): Tally {
  const openMs = checkState.at === null ? 0 : now - checkState.at;
  if (!config.active || openMs <= 0 || openMs > getMaxGapMs(config)) return tally;
  if (checkState.status === heartbeatStatus.up) return { ...tally, upMs: tally.upMs + openMs };
  if (checkState.status === heartbeatStatus.maintenance) return tally;
  return { ...tally, downMs: tally.downMs + openMs };
}

/** Returns true when the imported state is down; the first check then creates the incident. */
function startsOutage({ checkState, stoodElsewhere, incident }: RuntimeMonitor): boolean {
  return incident === null && checkState.status === null && stoodElsewhere?.status === heartbeatStatus.down;
}
