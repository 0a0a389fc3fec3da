import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { parseQuery } from '../../kit/url-encoded.ts';
import { Problem } from '../../contracts/problem.ts';
import type { AppPages } from '../../contracts/app-pages.ts';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import { flag } from '../domain/parameters.ts';
import { refusalOf, refuse } from '../domain/refusals.ts';
import { isTopic, isTopicList } from '../domain/topics.ts';
import type { Limits } from '../access/limits.ts';
import type { RateVisitors } from '../access/subscriber-rate-limits.ts';
import { redirectToApp } from './server-info.ts';
import { findCall, type ApiRoutes } from './api-routes.ts';
import {
  addressOf,
  answerProblem,
  answerValue,
  credentialsOf,
  crossOrigin,
  parametersOf,
  type Asked,
  type Exchange,
} from './exchange.ts';
import type { OtherRoute } from './non-topic-routes.ts';
import type { PublishRoutes } from './publish.ts';
import type { SubscribeRoutes } from './subscribe.ts';

export interface ListenerParts {
  readonly context: Pick<Context, 'accounts' | 'caller' | 'log' | 'random'>;
  readonly publish: PublishRoutes;
  readonly subscribe: SubscribeRoutes;
  readonly about: ReadonlyMap<string, (exchange: Exchange) => void>;
  /** The account and administration calls and their like. */
  readonly api: ApiRoutes;
  readonly limits: Pick<Limits, 'request'>;
  readonly rates: Pick<RateVisitors, 'of'>;
  /** The sender's address is what the proxy before us says. */
  readonly behindProxy: () => boolean;
  /** Routes that are no topic's: what answers a method and path, undefined for those of none of them. */
  readonly others: (method: string, path: string) => OtherRoute | undefined;
  readonly pages: AppPages;
  readonly reserved: ReadonlySet<string>;
  /** Counts refused requests by the peer's code. */
  readonly refused: Counter;
  /** Hears of each request that is over. */
  readonly served: (method: string, status: number) => void;
}

/** All routes, on bare node:http: nothing stands between the bytes of a publish request and the message. */
export function pushListener(parts: ListenerParts): RequestListener {
  return (request, response) => {
    response.once('close', () => parts.served(request.method ?? '', response.statusCode));
    serve(parts, request, response).catch((error: unknown) => {
      answerProblem(response, problemOf(parts, error));
    });
  };
}

/** What homeport.yaml declares is changed there. */
function inPeerWords(problem: Problem): Problem {
  if (problem.code === 'accounts.provisioned') return refuse('user_provisioned', undefined, { cause: problem });
  if (problem.code === 'accounts.provisioned_token') return refuse('token_provisioned', undefined, { cause: problem });
  return problem;
}

/** What is told of an error; counts it. */
export function problemOf(parts: Pick<ListenerParts, 'context' | 'refused'>, error: unknown): Problem {
  const problem = error instanceof Problem ? inPeerWords(error) : internal(parts.context, error);
  parts.refused.inc({ code: refusalOf(problem)?.code ?? problem.status * 100 });
  return problem;
}

/**
 * Takes a request apart and proves its sender.
 *
 * @throws Problem 40101, 40401, 42909
 */
export async function readRequest(
  { context, behindProxy }: Pick<ListenerParts, 'context' | 'behindProxy'>,
  request: IncomingMessage,
): Promise<{ readonly path: string; readonly asked: Asked }> {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const path = decodePath(mark < 0 ? url : url.slice(0, mark));
  const query = mark < 0 ? undefined : parseQuery(url.slice(mark + 1));
  const address = addressOf(request, behindProxy());
  const { foreignSite } = context.caller(request);
  const credentials = credentialsOf(request, query, { remoteAddress: address, foreignSite });
  const { accounts } = context;
  const identity = credentials.authorization === undefined ? undefined : await accounts.authenticate(credentials);
  return { path, asked: { request, query, read: parametersOf(request, query), identity, address, foreignSite } };
}

async function serve(parts: ListenerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'OPTIONS') {
    response
      .writeHead(200, {
        ...crossOrigin,
        'Access-Control-Allow-Headers': '*',
        'Access-Control-Allow-Methods': 'GET, PUT, POST, PATCH, DELETE',
        'Content-Length': 0,
      })
      .end();
    return;
  }
  const { path, asked } = await readRequest(parts, request);
  if (request.method === 'GET' && changesByGet(path)) refuseForeignPage(asked);
  await dispatch(parts, path, { ...asked, response });
}

/** Returns true for the addresses at which a GET publishes, clears or deletes, as the peer's clients use them. */
function changesByGet(path: string): boolean {
  return /^\/[^/]+\/(?:publish|send|trigger)$|^\/[^/]+\/[^/]+\/(?:clear|read|delete)$/.test(path);
}

/**
 * Refuses a page of another site, which needs no more than an image for a GET, as the listener refuses its POST: it has to
 * send a credential of its own. Programs, and browsers on our own pages, are not affected.
 *
 * @throws Problem 40301
 */
function refuseForeignPage({ request, foreignSite }: Pick<Asked, 'request' | 'foreignSite'>): void {
  const mode = request.headers['sec-fetch-mode'];
  const isCredentialed = request.headers.authorization !== undefined && (mode === undefined || mode === 'cors');
  if (foreignSite && !isCredentialed) throw refuse('forbidden');
}

function topicIn(path: string): string {
  return path.slice(1).split('/', 1)[0] ?? '';
}

async function dispatch(parts: ListenerParts, path: string, exchange: Exchange): Promise<void> {
  const { method } = exchange.request;
  const writes = method === 'POST' || method === 'PUT';
  const about = method === 'GET' || method === 'HEAD' ? parts.about.get(path) : undefined;
  if (about !== undefined) return about(exchange);
  parts.limits.request(exchange, writes ? parts.rates.of(topicIn(path), exchange) : exchange);
  const call = findCall(parts.api, method ?? '', path);
  if (call !== undefined) return void (await call(exchange));
  const other = parts.others(method ?? '', path);
  if (other !== undefined) return other(exchange);

  if (path === '/' && writes) return parts.publish.json(exchange);
  const [first = '', second, third, ...rest] = path.slice(1).split('/');
  if (rest.length > 0 || !isTopicList(first)) throw refuse('not_found');
  if (second === undefined) {
    if (writes && isTopic(first)) return parts.publish.message(exchange, first);
    if (method === 'GET') return topicPage(parts, exchange, first);
  } else if (first === 'v1') {
    // A call that is not there is no message to a topic.
    throw refuse('not_found');
  } else if (third === undefined) {
    if (method === 'GET') return byVerb(parts, exchange, first, second);
    if (writes && isTopic(first) && isTopic(second)) return parts.publish.message(exchange, first, second);
    if (method === 'DELETE' && isTopic(first) && isTopic(second)) {
      return parts.publish.event(exchange, 'message_delete', first, second);
    }
  } else if (isTopic(first) && isTopic(second)) {
    if (method === 'GET' && third === 'delete') return parts.publish.event(exchange, 'message_delete', first, second);
    if ((method === 'GET' || method === 'PUT') && (third === 'clear' || third === 'read')) {
      return parts.publish.event(exchange, 'message_clear', first, second);
    }
  }
  throw refuse('not_found');
}

/** GET `/<topics>/<verb>`. */
async function byVerb(parts: ListenerParts, exchange: Exchange, topics: string, verb: string): Promise<void> {
  switch (verb) {
    case 'json':
    case 'sse':
    case 'raw':
      return parts.subscribe.read(exchange, topics, verb);
    case 'ws':
      return parts.subscribe.refuseWebSocket(exchange, topics);
    case 'auth':
      return parts.subscribe.check(exchange, topics);
    case 'publish':
    case 'send':
    case 'trigger':
      if (isTopic(topics)) return parts.publish.message(exchange, topics);
  }
  throw refuse('not_found');
}

function topicPage(parts: ListenerParts, exchange: Exchange, topic: string): void {
  if (parts.reserved.has(topic) || !isTopic(topic)) throw refuse('not_found');
  // How UnifiedPush distributors find out that this is a push server.
  if (flag(exchange.read('x-unifiedpush', 'unifiedpush', 'up'), false)) {
    answerValue(exchange.response, { unifiedpush: { version: 1 } });
    return;
  }
  redirectToApp(exchange, parts.pages);
}

function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw refuse('not_found', undefined, { cause });
  }
}

function internal({ log, random }: Pick<Context, 'log' | 'random'>, error: unknown): Problem {
  const id = random.text(8);
  log.error('request failed', { id, error });
  return refuse('internal', `reference ${id}`, { cause: error });
}
