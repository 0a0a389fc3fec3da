import type { IncomingMessage } from 'node:http';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { getHostName } from '../../kit/http/host-name.ts';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import { jsonReply, textReply, type Reply } from '../../kit/http/respond.ts';
import type { PublicNote } from '../../contracts/uptime/status-pages.ts';
import type { Options } from '../monitoring/options.ts';
import type { StatusPages, StoredPage } from '../store/status-pages.ts';
import type { SubscriberMail } from '../notifications/subscriber-mail.ts';
import { getPageMonitors, pageStatus } from '../wire/page-status.ts';
import { heartbeats, publicPage, type PublicPageDependencies } from '../wire/public-page.ts';
import { buildFeed } from '../wire/rss.ts';
import { buildContentSecurityPolicy, renderStatusPage, type FollowOptions } from '../wire/status-html.ts';

export interface StatusPageDependencies extends PublicPageDependencies {
  readonly options: Options;
  readonly context: Pick<Context, 'address' | 'publicUrl'>;
  readonly subscriberMail: SubscriberMail;
}

const historyPageSize = 10;
/** Time before the start at which maintenance windows are listed. */
const upcomingWindowMs = 7 * 86_400_000;

/** Returns the public routes of status pages. */
export function statusPageRoutes(dependencies: StatusPageDependencies): readonly Route[] {
  const page = (exchange: Exchange): Promise<Reply> => handlePage(dependencies, exchange);
  return [
    ...instanceRoutes(dependencies),
    ...pageApiRoutes(dependencies),
    { method: 'GET', path: '/status/:slug/rss', handle: (exchange) => handleFeed(dependencies, exchange) },
    { method: 'GET', path: '/status', handle: page },
    { method: 'GET', path: '/status-page', handle: page },
    { method: 'GET', path: '/status/:slug', handle: page },
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
  const { pages } = dependencies;
  return [
    {
      method: 'GET',
      path: '/api/status-page/heartbeat/:slug',
      async handle({ params }) {
        const page = pages.find(params['slug'] ?? '');
        const isPublic = page?.config.published === true;
        return jsonReply(200, isPublic ? await heartbeats(dependencies, page) : { heartbeatList: {}, uptimeList: {} });
      },
    },
    {
      method: 'GET',
      path: '/api/status-page/:slug',
      handle: async ({ params }) =>
        jsonReply(200, await publicPage(dependencies, getPublishedPage(pages, params['slug'] ?? ''))),
    },
    {
      method: 'GET',
      path: '/api/status-page/:slug/manifest.json',
      handle: ({ params }) => jsonReply(200, buildManifest(pages, params['slug'] ?? '')),
    },
    {
      method: 'GET',
      path: '/api/status-page/:slug/incident-history',
      handle: (exchange) => handleIncidentHistory(dependencies, exchange),
    },
  ];
}

/** @throws Problem `uptime.unknown_page` (404) */
function buildManifest(pages: StatusPages, pageSlug: string): object {
  const page = pages.find(pageSlug);
  if (page?.config.published !== true) throw new Problem('uptime.unknown_page', 404, 'Not Found');
  const { title, slug, icon } = page.config;
  return {
    name: title,
    start_url: `/status/${slug}`,
    display: 'standalone',
    icons: [{ src: icon, sizes: '128x128', type: 'image/png' }],
  };
}

async function handleIncidentHistory({ pages }: StatusPageDependencies, { params, query }: Exchange): Promise<Reply> {
  const page = getPublishedPage(pages, params['slug'] ?? '');
  const cursor = query.get('cursor') ?? '';
  const before = cursor === '' ? {} : { before: cursor };
  const pageNotes: readonly PublicNote[] = await pages.notes(page, { ...before, limit: historyPageSize + 1 });
  const incidents = pageNotes.slice(0, historyPageSize);
  const hasMore = pageNotes.length > historyPageSize;
  const nextCursor = hasMore ? (incidents.at(-1)?.createdDate ?? null) : null;
  return jsonReply(200, { ok: true, incidents, total: await pages.countNotes(page), nextCursor, hasMore });
}

/** Answers with the RSS feed of a status page. */
async function handleFeed(dependencies: StatusPageDependencies, { request, params }: Exchange): Promise<Reply> {
  const { pages, monitoring, clock } = dependencies;
  const { monitors } = monitoring;
  const page = getPublishedPage(pages, params['slug'] ?? '');
  const down = getPageMonitors(page, monitors).filter(({ checkState }) => checkState.status === 0);
  const link = `${getBaseUrl(dependencies, request)}/status/${page.config.slug}`;
  const notes = await pages.notes(page, { active: true });
  const feed = buildFeed({ page, link, notes, down, status: pageStatus(page, monitors), now: clock.now() });
  return textReply(200, feed, { 'Content-Type': 'application/rss+xml; charset=utf-8' });
}

/** Answers with the page of a status page. Unpublished and unknown pages are answered with 404. */
export async function handlePage(
  dependencies: StatusPageDependencies,
  { request, params: { slug } }: Exchange,
): Promise<Reply> {
  const { pages, monitoring, clock } = dependencies;
  const { monitors } = monitoring;
  const page =
    slug === undefined ? (pages.findByDomain(getHostName(request)) ?? pages.find('default')) : pages.find(slug);
  const publishedPage = page?.config.published === true ? page : undefined;
  const follow = publishedPage === undefined ? undefined : getFollowOptions(dependencies, publishedPage, request);
  const headers = {
    'Content-Security-Policy': buildContentSecurityPolicy({
      form: follow?.mail === true,
      script: publishedPage !== undefined,
    }),
    'Cache-Control': 'no-cache',
    'Content-Type': 'text/html; charset=utf-8',
  };
  if (publishedPage === undefined) return { status: 404, headers, body: renderStatusPage(undefined) };
  const [shown, beats] = await Promise.all([
    publicPage(dependencies, publishedPage),
    heartbeats(dependencies, publishedPage),
  ]);
  const body = renderStatusPage({
    page: publishedPage,
    publicPage: shown,
    beats,
    windows: dependencies.monitoring.maintenances.listForPage(publishedPage.id, upcomingWindowMs),
    status: pageStatus(publishedPage, monitors),
    now: clock.now(),
    follow,
  });
  return { status: 200, headers, body };
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
