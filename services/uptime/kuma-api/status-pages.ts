import type { IncomingMessage } from 'node:http';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { getHostName } from '../../kit/http/host-name.ts';
import { getAccessHeaders, type PageAccess } from '../app-api/page-access.ts';
import { negotiateRequestLanguage, runInLanguage } from '../../kit/language.ts';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import { jsonReply, redirectReply, textReply, type Reply } from '../../kit/http/respond.ts';
import type { PublicNote } from '../../contracts/uptime/status-pages.ts';
import type { Options } from '../monitoring/options.ts';
import type { StoredPage } from '../store/status-pages.ts';
import { buildNotFoundReply, buildRefusalReply, getPagePath, handlePassword } from './page-password.ts';
import { historyRoute } from './status-page-history.ts';
import type { SubscriberMail } from '../notifications/subscriber-mail.ts';
import { readProductFont } from '../../kit/http/product-font.ts';
import { getDailyHistories } from '../wire/daily-status.ts';
import { getPageMonitors, pageStatus } from '../wire/page-status.ts';
import { heartbeats, publicPage, type PublicPageDependencies } from '../wire/public-page.ts';
import { buildFeed } from '../wire/rss.ts';
import { buildContentSecurityPolicy } from '../wire/status-page/document.ts';
import { renderStatusPage, type FollowOptions } from '../wire/status-page/page.ts';
import { fontPath } from '../wire/status-page/style-sheet.ts';

export interface StatusPageDependencies extends PublicPageDependencies {
  readonly options: Options;
  readonly context: Pick<Context, 'address' | 'publicUrl'>;
  readonly subscriberMail: SubscriberMail;
  readonly access: PageAccess;
}

const historyPageSize = 10;
/** Number of resolved notes that a page shows, and of the notes among which they are found. */
const maxPastNotes = 5;
const maxNotes = 50;
/** Time before the start at which maintenance windows are listed. */
const upcomingWindowMs = 7 * 86_400_000;

/** Returns the public routes of status pages. */
export function statusPageRoutes(dependencies: StatusPageDependencies): readonly Route[] {
  const page = (exchange: Exchange): Promise<Reply> => handlePage(dependencies, exchange);
  return [
    ...instanceRoutes(dependencies),
    ...pageApiRoutes(dependencies),
    { method: 'GET', path: '/status/:slug/rss', handle: (exchange) => handleFeed(dependencies, exchange) },
    historyRoute(dependencies),
    { method: 'GET', path: fontPath, handle: handleFont },
    { method: 'GET', path: '/status', handle: page },
    { method: 'GET', path: '/status-page', handle: page },
    { method: 'GET', path: '/status/:slug', handle: page },
    { method: 'POST', path: '/status/:slug/open', handle: (exchange) => handlePassword(dependencies, exchange) },
  ];
}

/** Returns the headers of the public API for a path. Pages of any origin may read it. */
export function buildPublicHeaders(path: string): Readonly<Record<string, string>> {
  if (!/^\/api\/(?:status-page|entry-page)(?:\/|$)/i.test(path)) return {};
  return { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-cache' };
}

/** Returns the routes that describe the server. */
function instanceRoutes({ pages }: StatusPageDependencies): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/entry-page',
      handle({ request }) {
        const domainPage = pages.findByDomain(getHostName(request));
        return jsonReply(
          200,
          domainPage === undefined
            ? { type: 'entryPage', entryPage: 'dashboard' }
            : { type: 'statusPageMatchedDomain', statusPageSlug: domainPage.config.slug },
        );
      },
    },
    { method: 'GET', path: '/robots.txt', handle: () => textReply(200, 'User-agent: *\nDisallow: /') },
    {
      method: 'GET',
      path: '/setup-database-info',
      handle: () => jsonReply(200, { runningSetup: false, needSetup: false }),
    },
  ];
}

/** Returns the JSON routes of a status page. */
function pageApiRoutes(dependencies: StatusPageDependencies): readonly Route[] {
  const { pages, access } = dependencies;
  return [
    {
      method: 'GET',
      path: '/api/status-page/heartbeat/:slug',
      async handle({ params, request }) {
        const page = pages.find(params['slug'] ?? '');
        if (page?.config.published !== true) return jsonReply(200, { heartbeatList: {}, uptimeList: {} });
        await access.authorize(page, request);
        return jsonReply(200, await heartbeats(dependencies, page), getAccessHeaders(page));
      },
    },
    {
      method: 'GET',
      path: '/api/status-page/:slug',
      async handle(exchange) {
        const page = await openPage(dependencies, exchange);
        return jsonReply(200, await publicPage(dependencies, page), getAccessHeaders(page));
      },
    },
    {
      method: 'GET',
      path: '/api/status-page/:slug/manifest.json',
      async handle({ params, request }) {
        const page = pages.find(params['slug'] ?? '');
        if (page?.config.published !== true) throw new Problem('uptime.unknown_page', 404, 'Not Found');
        await access.authorize(page, request);
        return jsonReply(200, buildManifest(page), getAccessHeaders(page));
      },
    },
    {
      method: 'GET',
      path: '/api/status-page/:slug/incident-history',
      handle: (exchange) => handleIncidentHistory(dependencies, exchange),
    },
  ];
}

function buildManifest({ config: { title, slug, icon } }: StoredPage): object {
  return {
    name: title,
    start_url: `/status/${slug}`,
    display: 'standalone',
    icons: [{ src: icon, sizes: '128x128', type: 'image/png' }],
  };
}

async function handleIncidentHistory(dependencies: StatusPageDependencies, exchange: Exchange): Promise<Reply> {
  const { pages } = dependencies;
  const page = await openPage(dependencies, exchange);
  const cursor = exchange.query.get('cursor') ?? '';
  const before = cursor === '' ? {} : { before: cursor };
  const pageNotes: readonly PublicNote[] = await pages.notes(page, { ...before, limit: historyPageSize + 1 });
  const incidents = pageNotes.slice(0, historyPageSize);
  const hasMore = pageNotes.length > historyPageSize;
  const nextCursor = hasMore ? (incidents.at(-1)?.createdDate ?? null) : null;
  const total = await pages.countNotes(page);
  return jsonReply(200, { ok: true, incidents, total, nextCursor, hasMore }, getAccessHeaders(page));
}

/** Answers with the font of the pages. */
async function handleFont(): Promise<Reply> {
  const headers = { 'Content-Type': 'font/woff2', 'Cache-Control': 'public, max-age=31536000, immutable' };
  return { status: 200, headers, body: await readProductFont() };
}

/** Answers with the RSS feed of a status page. */
async function handleFeed(dependencies: StatusPageDependencies, exchange: Exchange): Promise<Reply> {
  const { pages, monitoring, clock } = dependencies;
  const { monitors } = monitoring;
  const page = await openPage(dependencies, exchange);
  const down = getPageMonitors(page, monitors).filter(({ checkState }) => checkState.status === 0);
  const link = `${getBaseUrl(dependencies, exchange.request)}/status/${page.config.slug}`;
  const notes = await pages.notes(page, { active: true });
  const feed = buildFeed({ page, link, notes, down, status: pageStatus(page, monitors), now: clock.now() });
  return textReply(200, feed, { 'Content-Type': 'application/rss+xml; charset=utf-8', ...getAccessHeaders(page) });
}

/**
 * Answers with the page of a status page in the language of the visitor. Unpublished and unknown pages are answered with
 * 404.
 */
export function handlePage(dependencies: StatusPageDependencies, exchange: Exchange): Promise<Reply> {
  const language = negotiateRequestLanguage(exchange.request.headers['accept-language']);
  return runInLanguage(language, () => buildPage(dependencies, exchange));
}

async function buildPage(
  dependencies: StatusPageDependencies,
  { request, params: { slug } }: Exchange,
): Promise<Reply> {
  const { pages, access } = dependencies;
  const page =
    slug === undefined ? (pages.findByDomain(getHostName(request)) ?? pages.find('default')) : pages.find(slug);
  if (page?.config.published !== true) return buildNotFoundReply();
  // The cookie of a page is valid below its path.
  if (page.config.access === 'password' && slug === undefined && getPagePath(page, request) !== '/')
    return redirectReply(302, getPagePath(page, request), { 'Cache-Control': 'no-store' });
  try {
    await access.authorize(page, request);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    return buildRefusalReply(page, error);
  }
  return renderOpenPage(dependencies, page, request);
}

async function renderOpenPage(
  dependencies: StatusPageDependencies,
  page: StoredPage,
  request: IncomingMessage,
): Promise<Reply> {
  const { pages, monitoring, clock } = dependencies;
  const follow = getFollowOptions(dependencies, page, request);
  const headers = {
    'Content-Security-Policy': buildContentSecurityPolicy({ form: follow?.mail === true, script: true }),
    'Cache-Control': 'no-cache',
    'Content-Type': 'text/html; charset=utf-8',
    Vary: 'Accept-Language',
    ...getAccessHeaders(page),
  };
  const [shown, beats, histories, allNotes] = await Promise.all([
    publicPage(dependencies, page),
    heartbeats(dependencies, page),
    getDailyHistories(dependencies, page),
    pages.notes(page, { limit: maxNotes }),
  ]);
  const body = renderStatusPage({
    page,
    publicPage: shown,
    beats,
    histories,
    pastNotes: allNotes.filter(({ active, pin }) => !active || !pin).slice(0, maxPastNotes),
    windows: monitoring.maintenances.listForPage(page.id, upcomingWindowMs),
    status: pageStatus(page, monitoring.monitors),
    now: clock.now(),
    follow,
  });
  return { status: 200, headers, body };
}

/**
 * Returns the published page of a request whose caller may see it.
 * @throws Problem `uptime.unknown_page` (404), and those of {@link PageAccess.authorize}
 */
async function openPage({ pages, access }: StatusPageDependencies, { params, request }: Exchange): Promise<StoredPage> {
  const page = pages.get(params['slug'] ?? '');
  if (!page.config.published) throw new Problem('uptime.unknown_page', 404, 'Status Page Not Found');
  await access.authorize(page, request);
  return page;
}

/**
 * Returns how visitors can follow the page. The topic has a link only when the same host name reaches Push, which a
 * gateway name does not.
 */
function getFollowOptions(
  { context, pages, subscriberMail }: StatusPageDependencies,
  page: StoredPage,
  request: IncomingMessage,
): FollowOptions | undefined {
  const { subscribable, pushTopic: topic } = page.config;
  if (!subscribable || (topic === null && !subscriberMail.isConfigured)) return undefined;
  const isDirect = !isGatewayRequest(request) && pages.findByDomain(getHostName(request)) === undefined;
  const pushAddress = isDirect ? context.address('push') : undefined;
  const link =
    pushAddress === undefined || topic === null ? undefined : new URL(encodeURIComponent(topic), pushAddress);
  if (link !== undefined) link.hostname = getHostName(request);
  return { mail: subscriberMail.isConfigured, topic, link: link?.href };
}

function getBaseUrl({ options, context }: StatusPageDependencies, request: IncomingMessage): string {
  const { publicUrl } = options.current;
  return publicUrl === '' ? (context.publicUrl(request) ?? 'http://localhost') : publicUrl.replace(/\/$/, '');
}
