import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import { Problem } from '../../contracts/problem.ts';
import { frameDenyHeaders } from '../../contracts/frame-headers.ts';
import type { Context } from '../../contracts/service.ts';
import { doneStates, isScheduled, queueStates, type Item } from '../domain/item.ts';
import type { Cookies } from '../cookies/cookies.ts';
import { cookieRoutes } from './cookies.ts';
import type { EngineWatch } from '../engine/engine-monitor.ts';
import type { Folders } from '../run/folders.ts';
import type { Added, Intake } from '../add/intake.ts';
import type { Limits } from '../limits/limits.ts';
import type { Live } from '../queue/live-updates.ts';
import type { Previews } from '../add/previews.ts';
import type { Queue } from '../queue/queue.ts';
import { prefixOf, type Settings } from '../settings.ts';
import type { QueueControl } from '../queue/queue-control.ts';
import { newestEnded } from '../store/history.ts';
import { DownloadStore } from '../store/store.ts';
import { subscriptionRoutes } from './subscriptions.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import type { Thumbnails } from '../run/thumbnails.ts';
import { bad, readAdd } from '../wire/add.ts';
import { mostRetries } from '../wire/fields.ts';
import { toRecord } from '../wire/record.ts';
import { bodyOf, idsOf, readBody } from './request-body.ts';
import { cors } from './cors.ts';
import { fileRoute, listRoute } from './files.ts';
import { signIn } from './sign-in.ts';
import { redirectToAppPage } from '../../kit/redirect-to-app.ts';
import type { SocketIo } from '../../kit/socket-io.ts';
import { socketPath } from './socket-io.ts';
import { openApiDocument } from './openapi.ts';
import { queueControlRoutes } from './queue-control.ts';

export interface RouteParts {
  readonly context: Context;
  readonly settings: Settings;
  readonly folders: Folders;
  readonly store: DownloadStore;
  readonly intake: Intake;
  readonly queue: Queue;
  readonly live: Live;
  readonly engine: EngineWatch;
  readonly queueControl: QueueControl;
  readonly thumbnails: Thumbnails;
  readonly socketIo: SocketIo;
  readonly limits: Limits;
  readonly previews: Previews;
  readonly subscriptions: Subscriptions;
  readonly cookies: Cookies;
}

/** The peer's routes and the specification's, on the service's own port. */
export function downloadsApp(parts: RouteParts): Express {
  const { context, settings, folders, store, intake, live } = parts;
  const records = (items: readonly Item[]) => items.map((item) => toRecord(item, live.progressFor(item)));
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_request, response, next) => {
    for (const [name, value] of Object.entries(frameDenyHeaders)) response.setHeader(name, value);
    next();
  });
  app.use(cors(settings));
  // Who may follow is asked once a client, not once a message.
  app.use(socketPath, (request, response) => parts.socketIo.http(request, response));
  app.use(signIn(context, settings));

  app.get('/', (request, response) => {
    const isAnswered = redirectToAppPage(request, response, { pages: context.appPages, path: '/downloads' });
    if (!isAnswered) response.type('text').send(aboutText);
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
  app.get('/history', async (_request, response) => {
    const [queue, pending, done] = await Promise.all([store.queue(), store.queue(['pending']), wholeHistory(context)]);
    response.json({ done: records(done), queue: records(queue), pending: records(pending) });
  });
  app.get('/status', async (_request, response) => {
    response.json(await status(parts, records));
  });
  app.get('/downloads', async (request, response) => {
    const { limit, offset, state, q } = historyQuery(request.query);
    const { items, total } = await new DownloadStore(context.reads).history({ limit, offset, state, q });
    response.json({ downloads: records(items), total });
  });
  for (const [path, root] of [
    ['/download', () => folders.downloads],
    ['/audio_download', () => folders.audio],
  ] as const) {
    const list: RequestHandler = async (request, response, next) => {
      if (settings.indexable) await listRoute(root())(request, response, next);
      else next();
    };
    app.get(`${path}/*path`, (request, response, next) => fileRoute(root())(request, response, next));
    app.get([path, `${path}/*path`], list);
  }

  app.use(cookieRoutes(parts.cookies));
  app.use(readBody);
  app.post('/add', async (request, response) => {
    const { url, order } = readAdd(bodyOf(request), settings);
    response.json(answer(await intake.add(url, order)));
  });
  app.post('/retry', async (request, response) => {
    const body = bodyOf(request);
    const id = body['id'];
    if (body['ids'] === undefined && (typeof id !== 'string' || id === ''))
      throw bad(`'id' must be a non-empty string`);
    response.json(answer(await retryAll(intake, typeof id === 'string' ? [id] : idsOf(body, mostRetries))));
  });
  app.post('/start', async (request, response) => {
    await intake.startPending(idsOf(bodyOf(request)));
    response.json({ status: 'ok' });
  });
  app.post('/delete', async (request, response) => {
    const body = bodyOf(request);
    const { where } = body;
    if (where !== 'queue' && where !== 'done') throw bad(`'where' must be 'queue' or 'done'`);
    const files = where === 'done' && settings.deleteFiles;
    await intake.remove(idsOf(body), where === 'queue' ? [...queueStates, 'pending'] : doneStates, { files });
    response.json({ status: 'ok' });
  });
  app.post('/cancel-add', async (_request, response) => {
    await intake.cancelAdds();
    response.json({ status: 'ok' });
  });
  app.use(queueControlRoutes(parts.queueControl));
  app.use(subscriptionRoutes(parts.subscriptions, settings));
  app.all(postOnly, (_request, response) => {
    response.setHeader('Allow', 'POST, OPTIONS');
    throw new Problem('downloads.method', 405, 'Method Not Allowed');
  });
  app.use(() => {
    throw new Problem('downloads.unknown_path', 404, 'Not Found');
  });
  app.use(renderProblem(context));
  const prefix = prefixOf(settings);
  return prefix === '/' ? app : below(prefix, app);
}

const aboutText = `Homeport downloads. POST /add adds one.
The page with the queue is Homeport's own: open Homeport, then Downloads.
`;

const usualRobots = 'User-agent: *\nDisallow: /download/\nDisallow: /audio_download/\n';

async function robotsText(file: string, { log }: Pick<Context, 'log'>): Promise<string> {
  if (file === '') return usualRobots;
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    log.warn('the file for robots.txt cannot be read', { file, error });
    return usualRobots;
  }
}

const postOnly = [
  ...['/add', '/cancel-add', '/retry', '/start', '/delete', '/pause', '/resume', '/reorder'],
  ...['/subscribe', '/subscriptions/update', '/subscriptions/delete', '/subscriptions/check'],
  ...['/upload-cookies', '/delete-cookies'],
];

/** The same at a path prefix; whoever comes to the root, or by the link of a notice to a file, is led there. */
function below(prefix: string, app: Express): Express {
  const outer = express();
  outer.disable('x-powered-by');
  outer.get(['/', '/download/*path', '/audio_download/*path'], (request, response) => {
    response.redirect(302, prefix + request.url.slice(1));
  });
  return outer.use(prefix, app);
}

const largestHistory = 100_000;

/** The peer's clients expect the oldest first. */
export async function wholeHistory({ reads }: Pick<Context, 'reads'>): Promise<readonly Item[]> {
  return (await newestEnded(reads, largestHistory)).toReversed();
}

async function status(
  parts: RouteParts,
  records: (items: readonly Item[]) => unknown[],
): Promise<Record<string, unknown>> {
  const { context, settings, store, queue, live, engine, folders, queueControl } = parts;
  const [counts, paused, queued, pending, ytdlp, ffmpeg, diskFree] = await Promise.all([
    store.counts(),
    queueControl.isPaused(),
    store.queue(),
    store.queue(['pending']),
    context.engines.find('yt-dlp'),
    context.engines.find('ffmpeg'),
    folders.free(),
  ]);
  const scheduled = queued.filter(isScheduled).length;
  const speeds = queued.map(({ uid }) => live.progressOf(uid).speed ?? 0);
  return {
    status: 'ok',
    mode: settings.mode,
    max_concurrent: queue.bound,
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
    ...(engine.complaint === undefined ? {} : { msg: engine.complaint }),
    disk_free: diskFree,
  };
}

function historyQuery(query: Readonly<Record<string, unknown>>) {
  const state = query['status'] === 'error' ? 'failed' : query['status'];
  const known = state === undefined || state === '' || state === 'finished' || state === 'failed';
  if (!known) throw bad(`status must be one of ['error', 'finished']`);
  return {
    limit: wholeNumber(query['limit'], 'limit', 100, 1000),
    offset: wholeNumber(query['offset'], 'offset', 0, Number.MAX_SAFE_INTEGER),
    state: state === '' ? undefined : state,
    q: typeof query['q'] === 'string' ? query['q'] : undefined,
  } as const;
}

function wholeNumber(value: unknown, field: string, absent: number, largest: number): number {
  if (value === undefined || value === '') return absent;
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value)) throw bad(`${field} must be a non-negative integer`);
  return Math.min(Number(value), largest);
}

async function retryAll(intake: Intake, ids: readonly string[]): Promise<Added> {
  // Together: each may take the whole time there is for an answer.
  const results = await Promise.all([...new Set(ids)].map(async (id) => await intake.retry([id])));
  const failed = results.filter(({ status: outcome }) => outcome === 'error');
  const uids = results.flatMap((result) => result.uids);
  if (failed.length === 0)
    return results.length === 1 && results[0] !== undefined ? results[0] : { status: 'ok', uids };
  return { status: 'error', msg: failed.map(({ msg }) => msg ?? '').join(', '), uids };
}

function answer({ status: outcome, msg, uids }: Added): Record<string, unknown> {
  const names = uids.length === 1 ? { uid: uids[0] } : uids.length === 0 ? {} : { uids, count: uids.length };
  return { status: outcome, ...(msg === undefined ? {} : { msg }), ...names };
}

/** `error` and `message` are what the Firefox add-on shows, `msg` what every other client does. */
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
    // The peer repeats the message in the reason phrase, and some clients show that alone.
    response.statusMessage = /^[\x20-\x7e]{1,200}$/.test(detail) ? detail : (STATUS_CODES[code] ?? '');
    response.status(code).json({ status: 'error', msg: detail, error: detail, message: detail });
  };
}

function toProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  // What express itself refuses: a body too large or cut short, a path that cannot be decoded.
  if (error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500) {
    const detail = error.status === 413 ? 'The request body is too large.' : 'Bad Request';
    return new Problem('downloads.bad_request', error.status, detail, { cause: error });
  }
  return undefined;
}
