import type { Clock } from '../../contracts/service.ts';
import { publicConfig, type PublicNote } from '../../contracts/uptime/status-pages.ts';
import { getCertificateDays } from '../domain/certificate.ts';
import { removeCredentials } from '../domain/target.ts';
import { getUptimeByHeartbeats } from '../domain/tally.ts';
import { formatKumaTime } from '../domain/time-format.ts';
import type { StoredPage, StatusPages } from '../store/status-pages.ts';
import type { UptimeStores } from '../store/stores.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import { getLastDayTally } from '../monitoring/monitor-state.ts';
import { getPageMonitors } from './page-status.ts';
import { toKumaMaintenance } from './kuma-maintenance.ts';

const visibleHeartbeats = 100;
/** Age up to which outages are listed. */
const outageMs = 7 * 86_400_000;
const maxOutages = 20;

export interface PublicPageDependencies {
  readonly clock: Clock;
  readonly monitoring: Monitoring;
  readonly stores: UptimeStores;
  readonly pages: StatusPages;
}

export type PublicPage = Awaited<ReturnType<typeof publicPage>>;
export type Heartbeats = Awaited<ReturnType<typeof heartbeats>>;

/** Lists the outages of a page without their causes. */
async function listOutages({ stores: { incidents }, clock }: PublicPageDependencies, page: StoredPage) {
  if (!page.config.showOutages) return [];
  const visibleIds = new Set(page.groups.flatMap(({ monitorList }) => monitorList.map(({ id }) => id)));
  const recentIncidents = await incidents.listForMonitors([...visibleIds], clock.now() - outageMs, maxOutages);
  return recentIncidents.map(({ id, monitorIds, startedAt, resolvedAt, acknowledgedAt }) => ({
    id,
    monitorIds: monitorIds.filter((one) => visibleIds.has(one)),
    startedAt: formatKumaTime(startedAt).slice(0, 19),
    acknowledgedAt: acknowledgedAt === null ? null : formatKumaTime(acknowledgedAt).slice(0, 19),
    resolvedAt: resolvedAt === null ? null : formatKumaTime(resolvedAt).slice(0, 19),
  }));
}

/** Returns a page without the status of its monitors. */
export async function publicPage(dependencies: PublicPageDependencies, page: StoredPage) {
  const { pages, monitoring, clock } = dependencies;
  const { monitors, maintenances } = monitoring;
  const { config } = page;
  const incidents: readonly PublicNote[] = await pages.notes(page, { active: true });
  const publicGroupList = page.groups.map(({ id, name, weight, monitorList }) => ({
    id,
    name,
    weight,
    monitorList: monitorList.flatMap((entry) => {
      const monitor = monitors.find(entry.id);
      if (monitor === undefined) return [];
      const { type, url } = monitor.config;
      const days = getCertificateDays(monitor.chain, clock.now());
      return {
        id: entry.id,
        name: monitor.config.name,
        sendUrl: entry.sendUrl ? 1 : 0,
        type,
        ...(entry.sendUrl ? { url: entry.url ?? (url === null ? null : removeCredentials(url)) } : {}),
        ...(config.showTags ? { tags: [] } : {}),
        ...(config.showCertificateExpiry
          ? { certExpiryDaysRemaining: days ?? '', validCert: monitor.chain?.trusted ?? false }
          : {}),
      };
    }),
  }));
  return {
    config: publicConfig(config),
    incidents,
    incident: incidents[0] ?? null,
    publicGroupList,
    outages: await listOutages(dependencies, page),
    maintenanceList: maintenances.listForPage(page.id, 0).map(toKumaMaintenance),
  };
}

/** Returns the heartbeats and uptimes of a page. */
export async function heartbeats({ monitoring, stores, clock }: PublicPageDependencies, page: StoredPage) {
  const { monitors } = monitoring;
  const { heartbeats: beats } = stores;
  const list = getPageMonitors(page, monitors);
  const heartbeatsById = await beats.recent(
    list.map(({ id }) => id),
    visibleHeartbeats,
  );
  return {
    heartbeatList: Object.fromEntries(
      [...heartbeatsById].map(([id, some]) => [
        String(id),
        // Messages are not public.
        some.map(({ status, at, ping }) => ({ status, time: formatKumaTime(at), msg: '', ping })),
      ]),
    ),
    uptimeList: Object.fromEntries(
      list.map((monitor) => [
        `${String(monitor.id)}_24`,
        getUptimeByHeartbeats(getLastDayTally(monitor, clock.now())) ?? 0,
      ]),
    ),
  };
}
