import type { ReportRow } from '../../contracts/uptime/manage.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { averagePing, uptimeByTime, type Tally } from '../domain/tally.ts';
import type { IncidentStore } from '../store/incidents.ts';
import type { Figures } from './statistics.ts';
import { longestGapMs, type Watched } from './monitor-state.ts';

const dayMs = 86_400_000;
const hoursOfDay = 24;
const mostOutages = 10_000;

/**
 * Builds an availability report over a number of days.
 * @param target Required uptime in per cent
 */
export async function reportOf(
  all: readonly Watched[],
  { days, target }: { readonly days: number; readonly target: number },
  { figures, incidents, now }: { readonly figures: Figures; readonly incidents: IncidentStore; readonly now: number },
): Promise<ReportRow[]> {
  const rows: ReportRow[] = [];
  for (const watched of all) {
    const tally = untilNow(await figures.over(watched, days * hoursOfDay), watched, now);
    const uptime = uptimeByTime(tally);
    const known = Math.round((tally.upMs + tally.downMs) / 1000);
    const down = Math.round(tally.downMs / 1000);
    const budget = Math.round(known * (1 - target / 100));
    const since = now - days * dayMs;
    const outages = await incidents.ofMonitors([watched.id], since, mostOutages);
    rows.push({
      id: watched.id,
      name: watched.config.name,
      uptime,
      downSeconds: down,
      knownSeconds: known,
      outages: outages.length + (beginsOutage(watched) ? 1 : 0),
      avgPing: averagePing(tally),
      budgetSeconds: budget,
      budgetLeftSeconds: budget - down,
      meets: uptime === null ? null : uptime * 100 >= target,
    });
  }
  return rows;
}

/** Adds the time since the last check with the status of that check, so that an ongoing outage counts up to now. */
function untilNow(tally: Tally, { config, standing }: Watched, now: number): Tally {
  const open = standing.at === null ? 0 : now - standing.at;
  if (!config.active || open <= 0 || open > longestGapMs(config)) return tally;
  if (standing.status === heartbeatStatus.up) return { ...tally, upMs: tally.upMs + open };
  if (standing.status === heartbeatStatus.maintenance) return tally;
  return { ...tally, downMs: tally.downMs + open };
}

/** Returns true when the imported state is down; the first check then creates the incident. */
function beginsOutage({ standing, stoodElsewhere, incident }: Watched): boolean {
  return incident === null && standing.status === null && stoodElsewhere?.status === heartbeatStatus.down;
}
