import type { ReportRow } from '../../contracts/uptime/manage.ts';
import { beatStatus } from '../../contracts/uptime/monitor.ts';
import { averagePing, uptimeByTime } from '../domain/tally.ts';
import type { IncidentStore } from '../store/incidents.ts';
import type { Figures } from './figures.ts';
import type { Watched } from './watched.ts';

const dayMs = 86_400_000;
const hoursOfDay = 24;
const mostOutages = 10_000;

/** How monitors did over so many days, against a share of time (per cent) that they are to be up. */
export async function reportOf(
  all: readonly Watched[],
  { days, target }: { readonly days: number; readonly target: number },
  { figures, incidents, now }: { readonly figures: Figures; readonly incidents: IncidentStore; readonly now: number },
): Promise<ReportRow[]> {
  const rows: ReportRow[] = [];
  for (const watched of all) {
    const tally = await figures.over(watched, days * hoursOfDay);
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

/** Another program left it down: the outage is there, and the first check here writes it down. */
function beginsOutage({ standing, stoodElsewhere, incident }: Watched): boolean {
  return incident === null && standing.status === null && stoodElsewhere?.status === beatStatus.down;
}
