import type { Clock } from '../../contracts/service.ts';
import { publicConfig, type PublicNote } from '../../contracts/uptime/status-pages.ts';
import { certificateDays } from '../domain/certificate.ts';
import { withoutCredentials } from '../domain/target.ts';
import { uptimeByBeats } from '../domain/tally.ts';
import { peerTime } from '../domain/time-format.ts';
import type { BeatStore } from '../store/heartbeats.ts';
import type { IncidentStore } from '../store/incidents.ts';
import type { KnownPage, StatusPages } from '../store/status-pages.ts';
import type { Maintenances } from '../monitoring/maintenances.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import { lastDay } from '../monitoring/monitor-state.ts';
import { monitorsOf } from './page-status.ts';
import { peerMaintenance } from './kuma-maintenance.ts';

const shownBeats = 100;
/** Age up to which outages are listed. */
const outageMs = 7 * 86_400_000;
const mostOutages = 20;

export interface PublicPageParts {
  readonly clock: Clock;
  readonly monitors: Monitors;
  readonly beats: BeatStore;
  readonly pages: StatusPages;
  readonly maintenances: Maintenances;
  readonly incidents: Pick<IncidentStore, 'ofMonitors'>;
}

export type PublicPage = Awaited<ReturnType<typeof publicPage>>;
export type Heartbeats = Awaited<ReturnType<typeof heartbeats>>;

/** Lists the outages of a page without their causes. */
async function outagesOf({ incidents, clock }: PublicPageParts, page: KnownPage) {
  if (!page.config.showOutages) return [];
  const shown = new Set(page.groups.flatMap(({ monitorList }) => monitorList.map(({ id }) => id)));
  const found = await incidents.ofMonitors([...shown], clock.now() - outageMs, mostOutages);
  return found.map(({ id, monitorIds, startedAt, resolvedAt, acknowledgedAt }) => ({
    id,
    monitorIds: monitorIds.filter((one) => shown.has(one)),
    startedAt: peerTime(startedAt).slice(0, 19),
    acknowledgedAt: acknowledgedAt === null ? null : peerTime(acknowledgedAt).slice(0, 19),
    resolvedAt: resolvedAt === null ? null : peerTime(resolvedAt).slice(0, 19),
  }));
}

/** Returns a page without the status of its monitors. */
export async function publicPage(parts: PublicPageParts, page: KnownPage) {
  const { pages, monitors, maintenances, clock } = parts;
  const { config } = page;
  const incidents: readonly PublicNote[] = await pages.notes(page, { active: true });
  const publicGroupList = page.groups.map(({ id, name, weight, monitorList }) => ({
    id,
    name,
    weight,
    monitorList: monitorList.flatMap((shown) => {
      const watched = monitors.find(shown.id);
      if (watched === undefined) return [];
      const { type, url } = watched.config;
      const days = certificateDays(watched.chain, clock.now());
      return {
        id: shown.id,
        name: watched.config.name,
        sendUrl: shown.sendUrl ? 1 : 0,
        type,
        ...(shown.sendUrl ? { url: shown.url ?? (url === null ? null : withoutCredentials(url)) } : {}),
        ...(config.showTags ? { tags: [] } : {}),
        ...(config.showCertificateExpiry
          ? { certExpiryDaysRemaining: days ?? '', validCert: watched.chain?.trusted ?? false }
          : {}),
      };
    }),
  }));
  return {
    config: publicConfig(config),
    incidents,
    incident: incidents[0] ?? null,
    publicGroupList,
    outages: await outagesOf(parts, page),
    maintenanceList: maintenances.ofPage(page.id, 0).map(peerMaintenance),
  };
}

/** Returns the heartbeats and uptimes of a page. */
export async function heartbeats({ monitors, beats, clock }: PublicPageParts, page: KnownPage) {
  const list = monitorsOf(page, monitors);
  const found = await beats.recent(
    list.map(({ id }) => id),
    shownBeats,
  );
  return {
    heartbeatList: Object.fromEntries(
      [...found].map(([id, some]) => [
        String(id),
        // Messages are not public.
        some.map(({ status, at, ping }) => ({ status, time: peerTime(at), msg: '', ping })),
      ]),
    ),
    uptimeList: Object.fromEntries(
      list.map((watched) => [`${String(watched.id)}_24`, uptimeByBeats(lastDay(watched, clock.now())) ?? 0]),
    ),
  };
}
