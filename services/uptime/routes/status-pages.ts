import express, { type Request, type Router } from 'express';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock, Context } from '../../contracts/service.ts';
import type { UptimeOptions } from '../../contracts/uptime/views.ts';
import { publicConfig, type ShownNote } from '../../contracts/uptime/status-pages.ts';
import { certificateDays } from '../domain/certificate.ts';
import { withoutCredentials } from '../domain/target.ts';
import { uptimeByBeats } from '../domain/tally.ts';
import { peerTime } from '../domain/time.ts';
import type { BeatStore } from '../store/beats.ts';
import type { IncidentStore } from '../store/incidents.ts';
import type { KnownPage, StatusPages } from '../store/status-pages.ts';
import type { SubscriberMail } from '../tell/subscriber-mail.ts';
import type { Maintenances } from '../watch/maintenances.ts';
import { peerMaintenance } from '../wire/peer-maintenance.ts';
import type { Monitors } from '../watch/monitors.ts';
import { lastDay } from '../watch/watched.ts';
import { monitorsOf, pageStatus } from '../wire/page-status.ts';
import { feedOf } from '../wire/rss.ts';
import { pagePolicy, statusPageHtml, type Follow } from '../wire/status-html.ts';

export interface StatusPageParts {
  readonly clock: Clock;
  readonly monitors: Monitors;
  readonly beats: BeatStore;
  readonly pages: StatusPages;
  readonly maintenances: Maintenances;
  readonly incidents: Pick<IncidentStore, 'ofMonitors'>;
  readonly options: () => UptimeOptions;
  readonly context: Pick<Context, 'address'>;
  readonly subscriberMail: SubscriberMail;
  /** Where a request reached us. */
  readonly outside: Context['publicUrl'];
}

const shownBeats = 100;
const historyPage = 10;
/** Outages stay on the page so long, and so many of them. */
const outageMs = 7 * 86_400_000;
const mostOutages = 20;
/** Windows are on the page so long before they begin. */
const comingMs = 7 * 86_400_000;

/** Status pages for visitors and for the programs that read them; nobody signs in here. */
export function statusPageRoutes(parts: StatusPageParts): Router {
  const { pages, monitors, clock } = parts;
  const router = express.Router();
  const published = (slug: string): KnownPage => {
    const page = pages.get(slug);
    if (!page.config.published) throw new Problem('uptime.unknown_page', 404, 'Status Page Not Found');
    return page;
  };
  router.use(['/api/status-page', '/api/entry-page'], (_request, response, next) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Cache-Control', 'no-cache');
    next();
  });
  router.get('/api/entry-page', (request, response) => {
    const own = pages.ofDomain(request.hostname);
    response.json(
      own === undefined
        ? { type: 'entryPage', entryPage: 'dashboard' }
        : { type: 'statusPageMatchedDomain', statusPageSlug: own.config.slug },
    );
  });
  router.get('/robots.txt', (_request, response) => {
    response.type('text').send('User-agent: *\nDisallow: /');
  });
  router.get('/setup-database-info', (_request, response) => {
    response.json({ runningSetup: false, needSetup: false });
  });
  router.get('/api/status-page/heartbeat/:slug', async (request, response) => {
    const page = pages.find(request.params.slug);
    response.json(
      page?.config.published === true ? await heartbeats(parts, page) : { heartbeatList: {}, uptimeList: {} },
    );
  });
  router.get('/api/status-page/:slug', async (request, response) => {
    response.json(await publicPage(parts, published(request.params.slug)));
  });
  router.get('/api/status-page/:slug/manifest.json', (request, response) => {
    const page = pages.find(request.params.slug);
    if (page?.config.published !== true) throw new Problem('uptime.unknown_page', 404, 'Not Found');
    const { title, slug, icon } = page.config;
    response.json({
      name: title,
      start_url: `/status/${slug}`,
      display: 'standalone',
      icons: [{ src: icon, sizes: '128x128', type: 'image/png' }],
    });
  });
  router.get('/api/status-page/:slug/incident-history', async (request, response) => {
    const page = published(request.params.slug);
    const { cursor } = request.query;
    const before = typeof cursor === 'string' && cursor !== '' ? { before: cursor } : {};
    const found: readonly ShownNote[] = await pages.notes(page, { ...before, limit: historyPage + 1 });
    const incidents = found.slice(0, historyPage);
    const hasMore = found.length > historyPage;
    const nextCursor = hasMore ? (incidents.at(-1)?.createdDate ?? null) : null;
    response.json({ ok: true, incidents, total: await pages.countNotes(page), nextCursor, hasMore });
  });
  router.get('/status/:slug/rss', async (request, response) => {
    const page = published(request.params.slug);
    const down = monitorsOf(page, monitors).filter(({ standing }) => standing.status === 0);
    const link = `${baseOf(parts, request)}/status/${page.config.slug}`;
    const notes = await pages.notes(page, { active: true });
    response.type('application/rss+xml').send(feedOf({ page, link, notes, down, status: pageStatus(page, monitors), now: clock.now() })); // prettier-ignore
  });
  router.get(
    ['/', '/status', '/status-page', '/status/:slug'],
    async (request: Request<{ slug?: string }>, response, next) => {
      // prettier-ignore
      const own = pages.ofDomain(request.hostname);
      if (request.path === '/' && own === undefined) return next();
      const page = request.params.slug === undefined ? (own ?? pages.find('default')) : pages.find(request.params.slug);
      const known = page?.config.published === true ? page : undefined;
      const follow = known === undefined ? undefined : followOf(parts, known, request);
      response.setHeader('Content-Security-Policy', pagePolicy(follow?.mail === true));
      response.setHeader('Cache-Control', 'no-cache');
      response.status(known === undefined ? 404 : 200).type('html');
      if (known === undefined) return void response.send(statusPageHtml(undefined));
      const [shown, beats] = await Promise.all([publicPage(parts, known), heartbeats(parts, known)]);
      response.send(statusPageHtml({ page: known, shown, beats, windows: parts.maintenances.ofPage(known.id, comingMs), status: pageStatus(known, monitors), now: clock.now(), follow })); // prettier-ignore
    },
  );
  return router;
}

/** How visitors may follow the page; the topic leads to where this machine is known by the same name, which a gateway's is not. */
function followOf(
  { context, pages, subscriberMail }: StatusPageParts,
  page: KnownPage,
  request: Request,
): Follow | undefined {
  // prettier-ignore
  const { subscribable, pushTopic: topic } = page.config;
  if (!subscribable || (topic === null && !subscriberMail.isSet)) return undefined;
  const isDirect = !isGatewayRequest(request) && pages.ofDomain(request.hostname) === undefined;
  const push = isDirect ? context.address('push') : undefined;
  const link = push === undefined || topic === null ? undefined : new URL(encodeURIComponent(topic), push);
  if (link !== undefined) link.hostname = request.hostname;
  return { mail: subscriberMail.isSet, topic, link: link?.href };
}

export type PublicPage = Awaited<ReturnType<typeof publicPage>>;
export type Heartbeats = Awaited<ReturnType<typeof heartbeats>>;

/** Outages of its monitors, for everybody: when, and of what, but not why. */
async function outagesOf({ incidents, clock }: StatusPageParts, page: KnownPage) {
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

async function publicPage(parts: StatusPageParts, page: KnownPage) {
  const { pages, monitors, maintenances, clock } = parts;
  const { config } = page;
  const incidents: readonly ShownNote[] = await pages.notes(page, { active: true });
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

async function heartbeats({ monitors, beats, clock }: StatusPageParts, page: KnownPage) {
  const list = monitorsOf(page, monitors);
  const found = await beats.recent(
    list.map(({ id }) => id),
    shownBeats,
  );
  return {
    heartbeatList: Object.fromEntries(
      [...found].map(([id, some]) => [
        String(id),
        // What a beat says may be nobody's business.
        some.map(({ status, at, ping }) => ({ status, time: peerTime(at), msg: '', ping })),
      ]),
    ),
    uptimeList: Object.fromEntries(
      list.map((watched) => [`${String(watched.id)}_24`, uptimeByBeats(lastDay(watched, clock.now())) ?? 0]),
    ),
  };
}

function baseOf({ options, outside }: StatusPageParts, request: Request): string {
  const { publicUrl } = options();
  return publicUrl === '' ? (outside(request) ?? 'http://localhost') : publicUrl.replace(/\/$/, '');
}
