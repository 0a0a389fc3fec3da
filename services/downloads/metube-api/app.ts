import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import { Problem } from '../../contracts/problem.ts';
import { frameDenyHeaders } from '../../contracts/frame-headers.ts';
import type { Context } from '../../contracts/service.ts';
import { doneStates, isScheduled, queueStates, type Item } from '../domain/item.ts';
import type { Cookies } from '../cookies/cookies.ts';
import { createCookieRoutes } from './cookies.ts';
import type { EngineMonitor } from '../engine/engine-monitor.ts';
import type { Folders } from '../run/folders.ts';
import type { AddResult, Intake } from '../add/intake.ts';
import type { Limits } from '../limits/limits.ts';
import type { LiveUpdates } from '../queue/live-updates.ts';
import type { Previews } from '../add/previews.ts';
import type { Queue } from '../queue/queue.ts';
import type { Settings } from '../settings.ts';
import { getPathPrefix } from '../settings/public-paths.ts';
import type { QueueControl } from '../queue/queue-control.ts';
import { readNewestEnded } from '../store/history.ts';
import { DownloadStore } from '../store/store.ts';
import { createSubscriptionRoutes } from './subscriptions.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import type { Thumbnails } from '../run/thumbnails.ts';
import { bad, readAdd } from '../wire/add.ts';
import { maxRetries } from '../wire/fields.ts';
import { toRecord } from '../wire/record.ts';
import { parseBody, parseIds, readBody } from './request-body.ts';
import { createCors } from './cors.ts';
import { createFileHandler, createListHandler } from './files.ts';
import { createSignIn } from './sign-in.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import type { SocketIo } from '../../kit/socket-io.ts';
import { socketPath } from './socket-io.ts';
import { openApiDocument } from './openapi.ts';
import { createQueueControlRoutes } from './queue-control.ts';

export interface MetubeDependencies {
  readonly context: Context;
  readonly settings: Settings;
  readonly folders: Folders;
  readonly store: DownloadStore;
  readonly intake: Intake;
  readonly queue: Queue;
  readonly live: LiveUpdates;
  readonly engine: EngineMonitor;
  readonly queueControl: QueueControl;
  readonly thumbnails: Thumbnails;
  readonly socketIo: SocketIo;
  readonly limits: Limits;
  readonly previews: Previews;
  readonly subscriptions: Subscriptions;
  readonly cookies: Cookies;
}

/** Creates the HTTP app on the service's port: MeTube's routes and additional ones. */
export function createMetubeApp(deps: MetubeDependencies): Express {
  const { context, settings } = deps;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_request, response, next) => {
    for (const [name, value] of Object.entries(frameDenyHeaders)) response.setHeader(name, value);
    next();
  });
  app.use(createCors(settings));
  // Live clients are authorized when they connect, and disconnected when their access ends.
  app.use(socketPath, (request, response) => deps.socketIo.http(request, response));
  app.use(createSignIn(context, settings));

  addInformationRoutes(app, deps);
  addHistoryRoutes(app, deps);
  addFileRoutes(app, deps);

  app.use(createCookieRoutes(deps.cookies));
  app.use(readBody);
  addQueueRoutes(app, deps);
  app.use(createQueueControlRoutes(deps.queueControl));
  app.use(createSubscriptionRoutes(deps.subscriptions, settings));
  app.all(postOnlyPaths, (_request, response) => {
    response.setHeader('Allow', 'POST, OPTIONS');
    throw new Problem('downloads.method', 405, 'Method Not Allowed');
  });
  app.use(() => {
    throw new Problem('downloads.unknown_path', 404, 'Not Found');
  });
  app.use(renderProblem(context));
  const prefix = getPathPrefix(settings);
  return prefix === '/' ? app : mountAt(prefix, app);
}

function addInformationRoutes(app: Express, { context, settings }: MetubeDependencies): void {
  app.get('/', (request, response) => {
    const isAnswered = redirectToAppPage(request, response, { pages: context.appPages, path: '/downloads' });
    if (!isAnswered) response.type('text').send(rootText);
  });
  app.get('/robots.txt', async (_request, response) => {
    response.type('text').send(await robotsText(settings.robotsFile, context));
  });
  app.get('/openapi.json', (_request, response) => {
    response.json(openApiDocument());
  });
  app.get('/version', async (_request, response) => {
    const engine = await context.engines.find('yt-dlp');
    response.json({ 'yt-dlp': engine.version, version: 'homeport' });
  });
  app.get('/presets', (_request, response) => {
    response.json({ presets: Object.keys(settings.ytdlPresets).toSorted() });
  });
}

function addHistoryRoutes(app: Express, deps: MetubeDependencies): void {
  const { context, store, live } = deps;
  const records = (items: readonly Item[]) => items.map((item) => toRecord(item, live.getItemProgress(item)));
  app.get('/history', async (_request, response) => {
    const [queue, pending, done] = await Promise.all([
      store.queue(),
      store.queue(['pending']),
      readFullHistory(context),
    ]);
    response.json({ done: records(done), queue: records(queue), pending: records(pending) });
  });
  app.get('/status', async (_request, response) => {
    response.json(await readStatus(deps, records));
  });
  app.get('/downloads', async (request, response) => {
    const { limit, offset, state, q } = parseHistoryQuery(request.query);
    const { items, total } = await new DownloadStore(context.reads).history({ limit, offset, state, q });
    response.json({ downloads: records(items), total });
  });
}

/** Serves finished files and, if enabled, lists of them. */
function addFileRoutes(app: Express, { settings, folders }: MetubeDependencies): void {
  for (const [path, root] of [
    ['/download', () => folders.downloads],
    ['/audio_download', () => folders.audio],
  ] as const) {
    const listHandler: RequestHandler = async (request, response, next) => {
      if (settings.indexable) await createListHandler(root())(request, response, next);
      else next();
    };
    app.get(`${path}/*path`, (request, response, next) => createFileHandler(root())(request, response, next));
    app.get([path, `${path}/*path`], listHandler);
  }
}

function addQueueRoutes(app: Express, { settings, intake }: MetubeDependencies): void {
  app.post('/add', async (request, response) => {
    const { url, order } = readAdd(parseBody(request), settings);
    response.json(toResponse(await intake.add(url, order)));
  });
  app.post('/retry', async (request, response) => {
    const body = parseBody(request);
    const id = body['id'];
    if (body['ids'] === undefined && (typeof id !== 'string' || id === ''))
      throw bad(`'id' must be a non-empty string`);
    response.json(toResponse(await retryEach(intake, typeof id === 'string' ? [id] : parseIds(body, maxRetries))));
  });
  app.post('/start', async (request, response) => {
    await intake.startPending(parseIds(parseBody(request)));
    response.json({ status: 'ok' });
  });
  app.post('/delete', async (request, response) => {
    const body = parseBody(request);
    const { where } = body;
    if (where !== 'queue' && where !== 'done') throw bad(`'where' must be 'queue' or 'done'`);
    const files = where === 'done' && settings.deleteFiles;
    await intake.remove(parseIds(body), where === 'queue' ? [...queueStates, 'pending'] : doneStates, { files });
    response.json({ status: 'ok' });
  });
  app.post('/cancel-add', async (_request, response) => {
    await intake.cancelAdds();
    response.json({ status: 'ok' });
  });
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

const postOnlyPaths = [
  ...['/add', '/cancel-add', '/retry', '/start', '/delete', '/pause', '/resume', '/reorder'],
  ...['/subscribe', '/subscriptions/update', '/subscriptions/delete', '/subscriptions/check'],
  ...['/upload-cookies', '/delete-cookies'],
];

/** Mounts the app at a path prefix. Requests to the root, and links to files in notifications, are redirected. */
function mountAt(prefix: string, app: Express): Express {
  const outer = express();
  outer.disable('x-powered-by');
  outer.get(['/', '/download/*path', '/audio_download/*path'], (request, response) => {
    response.redirect(302, prefix + request.url.slice(1));
  });
  return outer.use(prefix, app);
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
  const { context, settings, store, queue, live, engine, folders, queueControl } = deps;
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

function parseHistoryQuery(query: Readonly<Record<string, unknown>>) {
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

/** Renders errors. The Firefox add-on shows `error` and `message`, all other clients `msg`. */
function renderProblem({ log }: Context): ErrorRequestHandler {
  return (error: unknown, request, response: Response, next) => {
    if (response.headersSent) return void next(error);
    const problem = toProblem(error);
    let detail = problem?.detail;
    if (detail === undefined) {
      const id = randomUUID();
      log.error('request failed', { id, method: request.method, path: request.path, error });
      detail = `Something went wrong here; the log has it under ${id}.`;
    }
    const code = problem?.status ?? 500;
    for (const [name, value] of Object.entries(problem?.headers ?? {})) response.setHeader(name, value);
    // MeTube repeats the message in the reason phrase, which is all that some clients show.
    response.statusMessage = /^[\x20-\x7e]{1,200}$/.test(detail) ? detail : (STATUS_CODES[code] ?? '');
    response.status(code).json({ status: 'error', msg: detail, error: detail, message: detail });
  };
}

function toProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  // Errors of express: a body that is too large or incomplete, or an invalid path.
  if (error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500) {
    const detail = error.status === 413 ? 'The request body is too large.' : 'Bad Request';
    return new Problem('downloads.bad_request', error.status, detail, { cause: error });
  }
  return undefined;
}
