import express, { type Request, type Router } from 'express';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import type { UptimeOptions } from '../../contracts/uptime/views.ts';
import type { ShownNote } from '../../contracts/uptime/status-pages.ts';
import { certificateDays } from '../domain/certificate.ts';
import { withoutCredentials } from '../domain/target.ts';
import { uptimeByBeats } from '../domain/tally.ts';
import { peerTime } from '../domain/time.ts';
import type { BeatStore } from '../store/beats.ts';
import type { KnownPage, StatusPages } from '../store/status-pages.ts';
import type { Monitors } from '../watch/monitors.ts';
import { lastDay } from '../watch/watched.ts';
import { monitorsOf, pageStatus } from '../wire/page-status.ts';
import { feedOf } from '../wire/rss.ts';
import { statusPageHtml } from '../wire/status-html.ts';

export interface StatusPageParts {
  readonly clock: Clock;
  readonly monitors: Monitors;
  readonly beats: BeatStore;
  readonly pages: StatusPages;
  readonly options: () => UptimeOptions;
}

const shownBeats = 100;
const historyPage = 10;

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
  router.get('/api/entry-page', (_request, response) => {
    response.json({ type: 'entryPage', entryPage: 'dashboard' });
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
  router.get(['/status', '/status-page', '/status/:slug'], async (request: Request<{ slug?: string }>, response) => {
    const page = pages.find(request.params.slug ?? 'default');
    const known = page?.config.published === true ? page : undefined;
    response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'none'; frame-ancestors 'self'"); // prettier-ignore
    response.setHeader('Cache-Control', 'no-cache');
    response.status(known === undefined ? 404 : 200).type('html');
    if (known === undefined) return void response.send(statusPageHtml(undefined));
    const [shown, beats] = await Promise.all([publicPage(parts, known), heartbeats(parts, known)]);
    response.send(statusPageHtml({ page: known, shown, beats, status: pageStatus(known, monitors), now: clock.now() }));
  });
  return router;
}

export type PublicPage = Awaited<ReturnType<typeof publicPage>>;
export type Heartbeats = Awaited<ReturnType<typeof heartbeats>>;

async function publicPage({ pages, monitors, clock }: StatusPageParts, page: KnownPage) {
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
  return { config, incidents, incident: incidents[0] ?? null, publicGroupList, maintenanceList: [] };
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

function baseOf({ options }: StatusPageParts, request: Request): string {
  const { publicUrl } = options();
  return publicUrl === ''
    ? `${request.protocol}://${request.headers.host ?? 'localhost'}`
    : publicUrl.replace(/\/$/, '');
}
