import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { frameDenyHeaders } from '../../contracts/frame-headers.ts';
import type { Context } from '../../contracts/service.ts';
import { doneStates, isScheduled, queueStates, type Item } from '../domain/item.ts';
import type { Cookies } from '../cookies/cookies.ts';
import { createCookieRoutes } from './cookies.ts';
import type { EngineMonitor } from '../engine/engine-monitor.ts';
import type { AddResult, Intake } from '../add/intake.ts';
import type { Limits } from '../limits/limits.ts';
import type { LiveUpdates } from '../reporting/live-updates.ts';
import type { Previews } from '../add/previews.ts';
import type { Queue } from '../queue/queue.ts';
import type { Settings } from '../settings.ts';
import { getPathPrefix } from '../settings/public-paths.ts';
import type { QueueControl } from '../queue/queue-control.ts';
import { readNewestEnded } from '../store/history.ts';
import { DownloadStore } from '../store/store.ts';
import { createSubscriptionRoutes } from './subscriptions.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import { bad, readAdd } from '../wire/add.ts';
import { maxRetries } from '../wire/fields.ts';
import { toRecord } from '../wire/record.ts';
import { postRoute } from './post-route.ts';
import { parseIds } from './request-body.ts';
import { buildCorsHeaders, refuseForeignOrigin } from './cors.ts';
import { listFolder, sendDownload } from './files.ts';
import { checkSignIn } from './sign-in.ts';
import { createHttpListener, type Exchange, type Route } from '../../kit/http/listener.ts';
import { toQueryObject, type QueryObject } from '../../kit/http/query.ts';
import { addHeaders, jsonReply, redirectReply, textReply, type Reply } from '../../kit/http/respond.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import type { SocketIo } from '../../kit/socket-io.ts';
import { socketPath } from './socket-io.ts';
import { openApiDocument } from './openapi.ts';
import { createQueueControlRoutes } from './queue-control.ts';
import { toReasonPhrase } from './reason-phrase.ts';
import type { DownloadFiles } from '../files/download-files.ts';

/** Downloads, their changes, and how they are added. */
export interface DownloadRecords {
  readonly store: DownloadStore;
  readonly live: LiveUpdates;
  readonly intake: Intake;
  readonly previews: Previews;
}

/** Queue with what controls when it runs. */
export interface DownloadQueue {
  readonly queue: Queue;
  readonly queueControl: QueueControl;
  readonly limits: Limits;
  readonly engine: EngineMonitor;
}

export interface MetubeDependencies {
  readonly context: Context;
  readonly settings: Settings;
  readonly files: DownloadFiles;
  readonly downloads: DownloadRecords;
  readonly queueing: DownloadQueue;
  readonly socketIo: SocketIo;
  readonly subscriptions: Subscriptions;
  readonly cookies: Cookies;
}

/** Creates the listener of the service's port: MeTube's routes and additional ones. */
export function createMetubeListener(deps: MetubeDependencies): RequestListener {
  const { context, settings } = deps;
  const prefix = getPathPrefix(settings);
  return createHttpListener<Exchange, MetubeRoute>({
    routes: [
      ...mountAt(prefix, [...liveRoutes(deps), ...createMetubeRoutes(deps)]),
      ...(prefix === '/' ? [] : redirectRoutes(prefix)),
    ],
    router: { caseSensitive: false },
    context,
    service: 'downloads',
    dialect: {
      headers: frameDenyHeaders,
      // Without CORS headers, the browser refuses the request.
      preflight: () => jsonReply(200, { status: 'ok' }),
      renderProblem,
    },
    begin: (request, response) => addHeaders(response, buildCorsHeaders(settings, request)),
    async createCall(exchange, { isLive = false }) {
      if (isLive) refuseForeignOrigin(settings, exchange.request);
      else await authorize(deps, exchange);
      return exchange;
    },
    async handleUnmatched(exchange, getAllowed) {
      await authorize(deps, exchange);
      const allowed = getAllowed();
      if (allowed.length === 0) throw new Problem('downloads.unknown_path', 404, 'Not Found');
      const headers = { Allow: [...allowed, 'OPTIONS'].join(', ') };
      throw new Problem('downloads.method', 405, 'Method Not Allowed', { headers });
    },
  });
}

interface MetubeRoute extends Route {
  /** Live clients are authorized when they connect, and disconnected when their access ends. */
  readonly isLive?: boolean;
}

/** Returns the routes of MeTube and additional ones, without the path prefix. */
export function createMetubeRoutes(deps: MetubeDependencies): readonly MetubeRoute[] {
  return [
    ...informationRoutes(deps),
    ...historyRoutes(deps),
    ...fileRoutes(deps),
    ...createCookieRoutes(deps.cookies),
    ...queueRoutes(deps),
    ...createQueueControlRoutes(deps.queueing.queueControl),
    ...createSubscriptionRoutes(deps.subscriptions, deps.settings),
  ];
}

async function authorize({ context, settings }: MetubeDependencies, { request }: Exchange): Promise<void> {
  refuseForeignOrigin(settings, request);
  await checkSignIn(context, settings, request);
}

function informationRoutes({ context, settings }: MetubeDependencies): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/',
      handle({ request, response }) {
        if (redirectToAppPage(request, response, { pages: context.appPages, path: '/downloads' })) return undefined;
        return textReply(200, rootText);
      },
    },
    {
      method: 'GET',
      path: '/robots.txt',
      handle: async () => textReply(200, await robotsText(settings.robotsFile, context)),
    },
    { method: 'GET', path: '/openapi.json', handle: () => jsonReply(200, openApiDocument()) },
    {
      method: 'GET',
      path: '/version',
      handle: async () =>
        jsonReply(200, { 'yt-dlp': (await context.engines.find('yt-dlp')).version, version: 'homeport' }),
    },
    {
      method: 'GET',
      path: '/presets',
      handle: () => jsonReply(200, { presets: Object.keys(settings.ytdlPresets).toSorted() }),
    },
  ];
}

function historyRoutes(deps: MetubeDependencies): readonly Route[] {
  const { context } = deps;
  const { store, live } = deps.downloads;
  const records = (items: readonly Item[]) => items.map((item) => toRecord(item, live.getItemProgress(item)));
  return [
    {
      method: 'GET',
      path: '/history',
      async handle() {
        const [queue, pending, done] = await Promise.all([
          store.queue(),
          store.queue(['pending']),
          readFullHistory(context),
        ]);
        return jsonReply(200, { done: records(done), queue: records(queue), pending: records(pending) });
      },
    },
    { method: 'GET', path: '/status', handle: async () => jsonReply(200, await readStatus(deps, records)) },
    {
      method: 'GET',
      path: '/downloads',
      async handle({ query }) {
        const { limit, offset, state, q } = parseHistoryQuery(toQueryObject(query));
        const { items, total } = await new DownloadStore(context.reads).history({ limit, offset, state, q });
        return jsonReply(200, { downloads: records(items), total });
      },
    },
  ];
}

/** Returns the routes of finished files and, if enabled, of lists of them. */
function fileRoutes({ settings, files: { folders } }: MetubeDependencies): readonly Route[] {
  const handle = async (root: string, exchange: Exchange): Promise<Reply | undefined> => {
    if (exchange.params['path'] !== undefined && (await sendDownload(root, exchange))) return undefined;
    const list = settings.indexable ? await listFolder(root, exchange) : undefined;
    if (list === undefined) throw new Problem('downloads.unknown_path', 404, 'Not Found');
    return list;
  };
  const roots = { '/download': () => folders.downloads, '/audio_download': () => folders.audio };
  return Object.entries(roots).flatMap(([path, getRoot]) =>
    [path, `${path}/*path`].map((each) => ({
      method: 'GET',
      path: each,
      handle: (exchange: Exchange) => handle(getRoot(), exchange),
    })),
  );
}

function queueRoutes({ settings, downloads: { intake } }: MetubeDependencies): readonly Route[] {
  return [
    postRoute('/add', async (body) => {
      const { url, order } = readAdd(body, settings);
      return toResponse(await intake.add(url, order));
    }),
    postRoute('/retry', async (body) => {
      const id = body['id'];
      if (body['ids'] === undefined && (typeof id !== 'string' || id === ''))
        throw bad(`'id' must be a non-empty string`);
      return toResponse(await retryEach(intake, typeof id === 'string' ? [id] : parseIds(body, maxRetries)));
    }),
    postRoute('/start', async (body) => {
      await intake.startPending(parseIds(body));
      return { status: 'ok' };
    }),
    postRoute('/delete', async (body) => {
      const { where } = body;
      if (where !== 'queue' && where !== 'done') throw bad(`'where' must be 'queue' or 'done'`);
      const files = where === 'done' && settings.deleteFiles;
      await intake.remove(parseIds(body), where === 'queue' ? [...queueStates, 'pending'] : doneStates, { files });
      return { status: 'ok' };
    }),
    {
      method: 'POST',
      path: '/cancel-add',
      async handle() {
        await intake.cancelAdds();
        return jsonReply(200, { status: 'ok' });
      },
    },
  ];
}

const rootText = `Homeport downloads. POST /add adds one.
The page with the queue is Homeport's own: open Homeport, then Downloads.
`;

const defaultRobots = 'User-agent: *\nDisallow: /download/\nDisallow: /audio_download/\n';

async function robotsText(file: string, { log }: Pick<Context, 'log'>): Promise<string> {
  if (file === '') return defaultRobots;
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    log.warn('robots.txt file not readable', { file, error });
    return defaultRobots;
  }
}

/** Returns the routes of live clients. */
function liveRoutes({ socketIo }: MetubeDependencies): readonly MetubeRoute[] {
  return [socketPath, `${socketPath}/*rest`].map((path) => ({
    method: '*',
    path,
    isLive: true,
    handle: ({ request, response }) => socketIo.http(request, response),
  }));
}

/** Puts the prefix before the paths of routes. */
function mountAt(prefix: string, routes: readonly MetubeRoute[]): readonly MetubeRoute[] {
  return routes.map((route) => ({ ...route, path: prefix + route.path.slice(1) }));
}

/** Returns redirects to the prefix for the root, and for links to files in notifications. */
function redirectRoutes(prefix: string): readonly Route[] {
  return ['/', '/download/*path', '/audio_download/*path'].map((path) => ({
    method: 'GET',
    path,
    handle: ({ request }) => redirectReply(302, prefix + (request.url ?? '/').slice(1)),
  }));
}

const maxHistory = 100_000;

/** Returns the history, oldest first as MeTube's clients expect. */
export async function readFullHistory({ reads }: Pick<Context, 'reads'>): Promise<readonly Item[]> {
  return (await readNewestEnded(reads, maxHistory)).toReversed();
}

async function readStatus(
  deps: MetubeDependencies,
  records: (items: readonly Item[]) => unknown[],
): Promise<Record<string, unknown>> {
  const { context, settings } = deps;
  const { store, live } = deps.downloads;
  const { queue, engine, queueControl } = deps.queueing;
  const { folders } = deps.files;
  const [counts, paused, queued, pending, ytdlp, ffmpeg, diskFree] = await Promise.all([
    store.counts(),
    queueControl.isPaused(),
    store.queue(),
    store.queue(['pending']),
    context.engines.find('yt-dlp'),
    context.engines.find('ffmpeg'),
    folders.getFreeBytes(),
  ]);
  const scheduled = queued.filter(isScheduled).length;
  const speeds = queued.map(({ uid }) => live.getProgress(uid).speed ?? 0);
  return {
    status: 'ok',
    mode: settings.mode,
    max_concurrent: queue.maxRunning,
    paused,
    counts: {
      queued: (counts.get('waiting') ?? 0) - scheduled,
      preparing: counts.get('preparing') ?? 0,
      downloading: counts.get('downloading') ?? 0,
      postprocessing: counts.get('postprocessing') ?? 0,
      paused: counts.get('paused') ?? 0,
      pending: counts.get('pending') ?? 0,
      scheduled,
      finished: counts.get('finished') ?? 0,
      error: counts.get('failed') ?? 0,
    },
    speed: speeds.reduce((sum, speed) => sum + speed, 0),
    queue: records(queued),
    pending: records(pending),
    engine: { 'yt-dlp': ytdlp.version, ffmpeg: ffmpeg.version, js: engine.js ?? null },
    ...(engine.problems === undefined ? {} : { msg: engine.problems }),
    disk_free: diskFree,
  };
}

function parseHistoryQuery(query: QueryObject) {
  const state = query['status'] === 'error' ? 'failed' : query['status'];
  const isKnownState = state === undefined || state === '' || state === 'finished' || state === 'failed';
  if (!isKnownState) throw bad(`status must be one of ['error', 'finished']`);
  return {
    limit: parseInteger(query['limit'], 'limit', 100, 1000),
    offset: parseInteger(query['offset'], 'offset', 0, Number.MAX_SAFE_INTEGER),
    state: state === '' ? undefined : state,
    q: typeof query['q'] === 'string' ? query['q'] : undefined,
  } as const;
}

function parseInteger(value: unknown, field: string, defaultValue: number, max: number): number {
  if (value === undefined || value === '') return defaultValue;
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) throw bad(`${field} must be a non-negative integer`);
  return Math.min(Number(value), max);
}

async function retryEach(intake: Intake, ids: readonly string[]): Promise<AddResult> {
  // In parallel: each retry may take the full response timeout.
  const results = await Promise.all([...new Set(ids)].map(async (id) => await intake.retry([id])));
  const failed = results.filter(({ status }) => status === 'error');
  const uids = results.flatMap((result) => result.uids);
  if (failed.length === 0)
    return results.length === 1 && results[0] !== undefined ? results[0] : { status: 'ok', uids };
  return { status: 'error', msg: failed.map(({ msg }) => msg ?? '').join(', '), uids };
}

function toResponse({ status, msg, uids }: AddResult): Record<string, unknown> {
  const uidFields = uids.length === 1 ? { uid: uids[0] } : uids.length === 0 ? {} : { uids, count: uids.length };
  return { status, ...(msg === undefined ? {} : { msg }), ...uidFields };
}

/** Renders a problem. The Firefox add-on shows `error` and `message`, all other clients `msg`. */
function renderProblem({ status, detail, headers }: Problem): Reply {
  // MeTube repeats the message in the reason phrase, which is all that some clients show.
  const reason = toReasonPhrase(detail, status);
  const body = { status: 'error', msg: detail, error: detail, message: detail };
  return { ...jsonReply(status, body, headers), reason };
}
