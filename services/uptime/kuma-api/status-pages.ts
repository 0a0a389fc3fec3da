import express, { type Request, type RequestHandler, type Router } from 'express';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { UptimeOptions } from '../../contracts/uptime/views.ts';
import type { PublicNote } from '../../contracts/uptime/status-pages.ts';
import type { StatusPages, StoredPage } from '../store/status-pages.ts';
import type { SubscriberMail } from '../notifications/subscriber-mail.ts';
import { getPageMonitors, pageStatus } from '../wire/page-status.ts';
import { heartbeats, publicPage, type PublicPageDependencies } from '../wire/public-page.ts';
import { buildFeed } from '../wire/rss.ts';
import { buildContentSecurityPolicy, renderStatusPage, type FollowOptions } from '../wire/status-html.ts';

export interface StatusPageDependencies extends PublicPageDependencies {
  readonly options: () => UptimeOptions;
  readonly context: Pick<Context, 'address'>;
  readonly subscriberMail: SubscriberMail;
  /** Returns the public URL of a request. */
  readonly getPublicUrl: Context['publicUrl'];
}

const historyPageSize = 10;
/** Time before the start at which maintenance windows are listed. */
const upcomingWindowMs = 7 * 86_400_000;

/** Returns the public routes of status pages. */
export function statusPageRoutes(dependencies: StatusPageDependencies): Router {
  const router = express.Router();
  router.use(['/api/status-page', '/api/entry-page'], (_request, response, next) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Cache-Control', 'no-cache');
    next();
  });
  addInstanceRoutes(router, dependencies);
  addPageApiRoutes(router, dependencies);
  addFeedRoute(router, dependencies);
  router.get(['/', '/status', '/status-page', '/status/:slug'], createPageHandler(dependencies));
  return router;
}

/** Adds the routes that describe the server. */
function addInstanceRoutes(router: Router, { pages }: StatusPageDependencies): void {
  router.get('/api/entry-page', (request, response) => {
    const domainPage = pages.findByDomain(request.hostname);
    response.json(
      domainPage === undefined
        ? { type: 'entryPage', entryPage: 'dashboard' }
        : { type: 'statusPageMatchedDomain', statusPageSlug: domainPage.config.slug },
    );
  });
  router.get('/robots.txt', (_request, response) => {
    response.type('text').send('User-agent: *\nDisallow: /');
  });
  router.get('/setup-database-info', (_request, response) => {
    response.json({ runningSetup: false, needSetup: false });
  });
}

/** Adds the JSON routes of a status page. */
function addPageApiRoutes(router: Router, dependencies: StatusPageDependencies): void {
  const { pages } = dependencies;
  router.get('/api/status-page/heartbeat/:slug', async (request, response) => {
    const page = pages.find(request.params.slug);
    response.json(
      page?.config.published === true ? await heartbeats(dependencies, page) : { heartbeatList: {}, uptimeList: {} },
    );
  });
  router.get('/api/status-page/:slug', async (request, response) => {
    response.json(await publicPage(dependencies, getPublishedPage(pages, request.params.slug)));
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
    const page = getPublishedPage(pages, request.params.slug);
    const { cursor } = request.query;
    const before = typeof cursor === 'string' && cursor !== '' ? { before: cursor } : {};
    const pageNotes: readonly PublicNote[] = await pages.notes(page, { ...before, limit: historyPageSize + 1 });
    const incidents = pageNotes.slice(0, historyPageSize);
    const hasMore = pageNotes.length > historyPageSize;
    const nextCursor = hasMore ? (incidents.at(-1)?.createdDate ?? null) : null;
    response.json({ ok: true, incidents, total: await pages.countNotes(page), nextCursor, hasMore });
  });
}

/** Adds the RSS feed of a status page. */
function addFeedRoute(router: Router, dependencies: StatusPageDependencies): void {
  const { pages, monitors, clock } = dependencies;
  router.get('/status/:slug/rss', async (request, response) => {
    const page = getPublishedPage(pages, request.params.slug);
    const down = getPageMonitors(page, monitors).filter(({ checkState }) => checkState.status === 0);
    const topicLink = `${getBaseUrl(dependencies, request)}/status/${page.config.slug}`;
    const notes = await pages.notes(page, { active: true });
    response
      .type('application/rss+xml')
      .send(buildFeed({ page, link: topicLink, notes, down, status: pageStatus(page, monitors), now: clock.now() }));
  });
}

/** Returns the handler of the HTML pages. Unpublished and unknown pages are answered with 404. */
function createPageHandler(dependencies: StatusPageDependencies): RequestHandler<{ slug?: string }> {
  const { pages, monitors, clock } = dependencies;
  return async (request, response, next) => {
    const domainPage = pages.findByDomain(request.hostname);
    if (request.path === '/' && domainPage === undefined) return next();
    const page =
      request.params.slug === undefined ? (domainPage ?? pages.find('default')) : pages.find(request.params.slug);
    const publishedPage = page?.config.published === true ? page : undefined;
    const follow = publishedPage === undefined ? undefined : getFollowOptions(dependencies, publishedPage, request);
    const policy = { form: follow?.mail === true, script: publishedPage !== undefined };
    response.setHeader('Content-Security-Policy', buildContentSecurityPolicy(policy));
    response.setHeader('Cache-Control', 'no-cache');
    response.status(publishedPage === undefined ? 404 : 200).type('html');
    if (publishedPage === undefined) return void response.send(renderStatusPage(undefined));
    const [shown, beats] = await Promise.all([
      publicPage(dependencies, publishedPage),
      heartbeats(dependencies, publishedPage),
    ]);
    response.send(
      renderStatusPage({
        page: publishedPage,
        publicPage: shown,
        beats,
        windows: dependencies.maintenances.listForPage(publishedPage.id, upcomingWindowMs),
        status: pageStatus(publishedPage, monitors),
        now: clock.now(),
        follow,
      }),
    );
  };
}

/** @throws Problem `uptime.unknown_page` (404) */
function getPublishedPage(pages: StatusPages, slug: string): StoredPage {
  const page = pages.get(slug);
  if (!page.config.published) throw new Problem('uptime.unknown_page', 404, 'Status Page Not Found');
  return page;
}

/**
 * Returns how visitors can follow the page. The topic has a link only when the same host name reaches Push, which a
 * gateway name does not.
 */
function getFollowOptions(
  { context, pages, subscriberMail }: StatusPageDependencies,
  page: StoredPage,
  request: Request,
): FollowOptions | undefined {
  const { subscribable, pushTopic: topic } = page.config;
  if (!subscribable || (topic === null && !subscriberMail.isConfigured)) return undefined;
  const isDirect = !isGatewayRequest(request) && pages.findByDomain(request.hostname) === undefined;
  const pushAddress = isDirect ? context.address('push') : undefined;
  const link =
    pushAddress === undefined || topic === null ? undefined : new URL(encodeURIComponent(topic), pushAddress);
  if (link !== undefined) link.hostname = request.hostname;
  return { mail: subscriberMail.isConfigured, topic, link: link?.href };
}

function getBaseUrl({ options, getPublicUrl: outside }: StatusPageDependencies, request: Request): string {
  const { publicUrl } = options();
  return publicUrl === '' ? (outside(request) ?? 'http://localhost') : publicUrl.replace(/\/$/, '');
}
