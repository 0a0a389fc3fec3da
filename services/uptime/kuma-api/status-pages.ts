import express, { type Request, type Router } from 'express';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { UptimeOptions } from '../../contracts/uptime/views.ts';
import type { PublicNote } from '../../contracts/uptime/status-pages.ts';
import type { KnownPage } from '../store/status-pages.ts';
import type { SubscriberMail } from '../notifications/subscriber-mail.ts';
import { monitorsOf, pageStatus } from '../wire/page-status.ts';
import { heartbeats, publicPage, type PublicPageParts } from '../wire/public-page.ts';
import { feedOf } from '../wire/rss.ts';
import { pagePolicy, statusPageHtml, type Follow } from '../wire/status-html.ts';

export interface StatusPageParts extends PublicPageParts {
  readonly options: () => UptimeOptions;
  readonly context: Pick<Context, 'address'>;
  readonly subscriberMail: SubscriberMail;
  /** Returns the public URL of a request. */
  readonly outside: Context['publicUrl'];
}

const historyPage = 10;
/** Time before the start at which maintenance windows are listed. */
const comingMs = 7 * 86_400_000;

/** Returns the public routes of status pages. */
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
    const found: readonly PublicNote[] = await pages.notes(page, { ...before, limit: historyPage + 1 });
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
    response
      .type('application/rss+xml')
      .send(feedOf({ page, link, notes, down, status: pageStatus(page, monitors), now: clock.now() }));
  });
  router.get(
    ['/', '/status', '/status-page', '/status/:slug'],
    async (request: Request<{ slug?: string }>, response, next) => {
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
      response.send(
        statusPageHtml({
          page: known,
          shown,
          beats,
          windows: parts.maintenances.ofPage(known.id, comingMs),
          status: pageStatus(known, monitors),
          now: clock.now(),
          follow,
        }),
      );
    },
  );
  return router;
}

/**
 * Returns how visitors can follow the page. The topic has a link only when the same host name reaches Push, which a
 * gateway name does not.
 */
function followOf(
  { context, pages, subscriberMail }: StatusPageParts,
  page: KnownPage,
  request: Request,
): Follow | undefined {
  const { subscribable, pushTopic: topic } = page.config;
  if (!subscribable || (topic === null && !subscriberMail.isSet)) return undefined;
  const isDirect = !isGatewayRequest(request) && pages.ofDomain(request.hostname) === undefined;
  const push = isDirect ? context.address('push') : undefined;
  const link = push === undefined || topic === null ? undefined : new URL(encodeURIComponent(topic), push);
  if (link !== undefined) link.hostname = request.hostname;
  return { mail: subscriberMail.isSet, topic, link: link?.href };
}

function baseOf({ options, outside }: StatusPageParts, request: Request): string {
  const { publicUrl } = options();
  return publicUrl === '' ? (outside(request) ?? 'http://localhost') : publicUrl.replace(/\/$/, '');
}
