import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { parseQuery } from '../../kit/http/url-encoded.ts';
import { Problem } from '../../contracts/problem.ts';
import type { AppPages } from '../../contracts/app-pages.ts';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import { sendReply } from '../../kit/http/respond.ts';
import { parseFlag } from '../domain/parameters.ts';
import { findRefusal, refuse } from '../domain/refusals.ts';
import { isTopic, isTopicList } from '../domain/topics.ts';
import type { Visitors } from '../topics/visitors.ts';
import { redirectToApp } from './server-info.ts';
import { findCall, type ApiRoutes } from './api-routes.ts';
import {
  getClientAddress,
  answerProblem,
  answerValue,
  getCredentials,
  crossOrigin,
  createParameters,
  type RequestContext,
  type Exchange,
} from './exchange.ts';
import type { NonTopicRoute } from './non-topic-routes.ts';
import type { PublishRoutes } from './publish.ts';
import type { SubscribeRoutes } from './subscribe.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

/** Handlers of the paths of the API. */
export interface ListenerRoutes {
  readonly publish: PublishRoutes;
  readonly subscribe: SubscribeRoutes;
  readonly serverInfo: ReadonlyMap<string, (exchange: Exchange) => void>;
  /** Account, administration and web push routes. */
  readonly api: ApiRoutes;
  /** Returns the handler of paths that are not topics, such as files. */
  readonly findNonTopicRoute: (method: string, path: string) => NonTopicRoute | undefined;
  readonly reserved: ReadonlySet<string>;
}

export interface ListenerDependencies {
  readonly context: Pick<Context, 'accounts' | 'caller' | 'log' | 'random'>;
  readonly routes: ListenerRoutes;
  readonly visitors: Pick<Visitors, 'limits' | 'subscriberRateLimits'>;
  /** True when the client address is taken from the proxy's header. */
  readonly behindProxy: () => boolean;
  readonly pages: AppPages;
  /** Counts refused requests by ntfy's error code. */
  readonly refused: Counter;
  /** Called after each request. */
  readonly onServed: (method: string, status: number) => void;
}

/** Dispatches all routes directly on node:http, to keep publishing fast. */
export function pushListener(dependencies: ListenerDependencies): RequestListener {
  return (request, response) => {
    response.once('close', () => dependencies.onServed(request.method ?? '', response.statusCode));
    serve(dependencies, request, response).catch((error: unknown) => {
      answerProblem(response, toProblem(dependencies, error));
    });
  };
}

/** Converts problems of accounts declared in homeport.yaml, which can only be changed there. */
function toNtfyProblem(problem: Problem): Problem {
  if (problem.code === 'accounts.provisioned') return refuse('user_provisioned', undefined, { cause: problem });
  if (problem.code === 'accounts.provisioned_token') return refuse('token_provisioned', undefined, { cause: problem });
  return problem;
}

/** Returns the problem sent to the client and counts it. */
export function toProblem(dependencies: Pick<ListenerDependencies, 'context' | 'refused'>, error: unknown): Problem {
  const problem = error instanceof Problem ? toNtfyProblem(error) : internal(dependencies.context, error);
  dependencies.refused.inc({ code: findRefusal(problem)?.code ?? problem.status * 100 });
  return problem;
}

/**
 * Parses a request and authenticates its sender.
 *
 * @throws Problem 40101, 40401, 42909
 */
export async function readRequest(
  { context, behindProxy }: Pick<ListenerDependencies, 'context' | 'behindProxy'>,
  request: IncomingMessage,
): Promise<{ readonly path: string; readonly requestContext: RequestContext }> {
  const url = request.url ?? '/';
  const queryStart = url.indexOf('?');
  const path = decodePath(queryStart < 0 ? url : url.slice(0, queryStart));
  const query = queryStart < 0 ? undefined : parseQuery(url.slice(queryStart + 1));
  const address = getClientAddress(request, behindProxy());
  const { isCrossSite: foreignSite } = context.caller(request);
  const credentials = getCredentials(request, query, { remoteAddress: address, isCrossSite: foreignSite });
  const { accounts } = context;
  const identity = credentials.authorization === undefined ? undefined : await accounts.authenticate(credentials);
  return {
    path,
    requestContext: { request, query, read: createParameters(request, query), identity, address, foreignSite },
  };
}

const preflightHeaders = {
  ...crossOrigin,
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Allow-Methods': 'GET, PUT, POST, PATCH, DELETE',
};

async function serve(
  dependencies: ListenerDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'OPTIONS') {
    return sendReply(response, { status: 200, headers: preflightHeaders });
  }
  const { path, requestContext } = await readRequest(dependencies, request);
  if (request.method === 'GET' && changesByGet(path)) refuseForeignPage(requestContext);
  await dispatch(dependencies, path, { ...requestContext, response });
}

/** Returns true for paths at which a GET publishes, clears or deletes, as ntfy clients use them. */
function changesByGet(path: string): boolean {
  return /^\/[^/]+\/(?:publish|send|trigger)$|^\/[^/]+\/[^/]+\/(?:clear|read|delete)$/.test(path);
}

/**
 * Refuses a GET from a page of another site without credentials, which an image tag could send; the listener
 * refuses such POST requests. Programs and browsers on Homeport's pages are not affected.
 *
 * @throws Problem 40301
 */
function refuseForeignPage({ request, foreignSite }: Pick<RequestContext, 'request' | 'foreignSite'>): void {
  const mode = request.headers['sec-fetch-mode'];
  const isCredentialed = request.headers.authorization !== undefined && (mode === undefined || mode === 'cors');
  if (foreignSite && !isCredentialed) throw refuse('forbidden');
}

function getTopicSegment(path: string): string {
  return path.slice(1).split('/', 1)[0] ?? '';
}

async function dispatch(dependencies: ListenerDependencies, path: string, exchange: Exchange): Promise<void> {
  const { method } = exchange.request;
  const writes = method === 'POST' || method === 'PUT';
  const infoRoute = method === 'GET' || method === 'HEAD' ? dependencies.routes.serverInfo.get(path) : undefined;
  if (infoRoute !== undefined) return infoRoute(exchange);
  dependencies.visitors.limits.request(
    exchange,
    writes ? dependencies.visitors.subscriberRateLimits.getChargedSender(getTopicSegment(path), exchange) : exchange,
  );
  const call = findCall(dependencies.routes.api, method ?? '', path);
  if (call !== undefined) return void (await call(exchange));
  const nonTopicRoute = dependencies.routes.findNonTopicRoute(method ?? '', path);
  if (nonTopicRoute !== undefined) return nonTopicRoute(exchange);

  if (path === '/' && writes) return dependencies.routes.publish.json(exchange);
  const [first = '', second, third, ...rest] = path.slice(1).split('/');
  if (rest.length > 0 || !isTopicList(first)) throw refuse('not_found');
  if (second === undefined) {
    if (writes && isTopic(first)) return dependencies.routes.publish.message(exchange, first);
    if (method === 'GET') return topicPage(dependencies, exchange, first);
  } else if (first === 'v1') {
    // Unknown API routes are not treated as messages to a topic.
    throw refuse('not_found');
  } else if (third === undefined) {
    if (method === 'GET') return dispatchVerb(dependencies, exchange, first, second);
    if (writes && isTopic(first) && isTopic(second))
      return dependencies.routes.publish.message(exchange, first, second);
    if (method === 'DELETE' && isTopic(first) && isTopic(second)) {
      return dependencies.routes.publish.event(exchange, 'message_delete', first, second);
    }
  } else if (isTopic(first) && isTopic(second)) {
    if (method === 'GET' && third === 'delete')
      return dependencies.routes.publish.event(exchange, 'message_delete', first, second);
    if ((method === 'GET' || method === 'PUT') && (third === 'clear' || third === 'read')) {
      return dependencies.routes.publish.event(exchange, 'message_clear', first, second);
    }
  }
  throw refuse('not_found');
}

/** Dispatches GET `/<topics>/<verb>`. */
async function dispatchVerb(
  dependencies: ListenerDependencies,
  exchange: Exchange,
  topics: string,
  verb: string,
): Promise<void> {
  switch (verb) {
    case 'json':
    case 'sse':
    case 'raw':
      return dependencies.routes.subscribe.read(exchange, topics, verb);
    case 'ws':
      return dependencies.routes.subscribe.refuseWebSocket(exchange, topics);
    case 'auth':
      return dependencies.routes.subscribe.check(exchange, topics);
    case 'publish':
    case 'send':
    case 'trigger':
      if (isTopic(topics)) return dependencies.routes.publish.message(exchange, topics);
  }
  throw refuse('not_found');
}

function topicPage(dependencies: ListenerDependencies, exchange: Exchange, topic: string): void {
  if (dependencies.routes.reserved.has(topic) || !isTopic(topic)) throw refuse('not_found');
  // UnifiedPush distributors detect a push server by this response.
  if (parseFlag(exchange.read('x-unifiedpush', 'unifiedpush', 'up'), false)) {
    answerValue(exchange.response, { unifiedpush: { version: 1 } });
    return;
  }
  redirectToApp(exchange, dependencies.pages);
}

function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  const decoded = decodePercentEncoding(path);
  if (decoded === undefined) throw refuse('not_found');
  return decoded;
}

function internal({ log, random }: Pick<Context, 'log' | 'random'>, error: unknown): Problem {
  const id = random.text(8);
  log.error('request failed', { event: 'request_failed', id, error });
  return refuse('internal', `reference ${id}`, { cause: error });
}
