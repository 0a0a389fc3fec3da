import * as m from '#messages/kit-problems';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { getPath, respondToError, type ErrorContext } from './errors.ts';
import { addHeaders, sendReply, type Reply, type ResponseHeaders } from './respond.ts';
import { Router, type RoutePattern, type RouterOptions } from './router.ts';

/** Request and response with the parsed target. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Raw path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Decoded path parameters by the names of the route. */
  readonly params: Readonly<Record<string, string>>;
}

/** Reply of a handler, or nothing from one that writes the response itself. */
type HandlerResult = Reply | undefined | void;

/** Route of a listener, declared as data. `Call` is the argument of its handler. */
export interface Route<Call extends Exchange = Exchange> extends RoutePattern {
  /**
   * Returns the reply, or writes the response itself and returns nothing.
   * @throws Problem, which the listener renders in the format of the peer.
   */
  readonly handle: (call: Call) => HandlerResult | Promise<HandlerResult>;
}

/** Form of the responses that the clients of a listener expect. */
export interface ListenerDialect {
  /** Header fields of every response. */
  readonly headers?: ResponseHeaders;
  /** Answers OPTIONS requests; without it they are routed like others. */
  readonly preflight?: (request: IncomingMessage) => Reply;
  /** Renders a problem in the format of the peer. */
  readonly renderProblem: (problem: Problem, request: IncomingMessage) => Reply;
}

/** Routes of a listener and the dialect of its peer. */
export interface ListenerOptions<Call extends Exchange, Declared extends Route<Call>> {
  readonly routes: readonly Declared[];
  readonly router?: RouterOptions;
  readonly context: ErrorContext;
  /** First part of the codes of problems, such as `git` in `git.failed`. */
  readonly service: string;
  readonly dialect: ListenerDialect;
  /** Runs before a route is found, for header fields that depend on the request. */
  readonly begin?: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * Creates the call of a handler from the declaration of the route: authenticates, checks access and reads the body.
   * @throws Problem
   */
  readonly createCall: (exchange: Exchange, route: Declared) => Call | Promise<Call>;
  /**
   * Handles requests without a route. `getAllowed` returns the methods of the path. Default: Problem 405 with `Allow`,
   * or 404.
   */
  readonly handleUnmatched?: (
    exchange: Exchange,
    getAllowed: () => readonly string[],
  ) => Promise<HandlerResult> | HandlerResult;
}

/** Creates a request listener from routes that are declared as data. */
export function createHttpListener<Call extends Exchange, Declared extends Route<Call>>(
  options: ListenerOptions<Call, Declared>,
): RequestListener {
  const router = new Router(options.routes, options.router);
  return (request, response) => {
    serve(options, router, request, response).catch((error: unknown) =>
      respondToError(request, response, error, {
        ...options.context,
        code: `${options.service}.failed`,
        render: options.dialect.renderProblem,
      }),
    );
  };
}

async function serve<Call extends Exchange, Declared extends Route<Call>>(
  options: ListenerOptions<Call, Declared>,
  router: Router<Declared>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers, preflight } = options.dialect;
  if (headers !== undefined) addHeaders(response, headers);
  options.begin?.(request, response);
  const method = request.method ?? 'GET';
  if (method === 'OPTIONS' && preflight !== undefined) return sendReply(response, preflight(request));
  const path = getPath(request);
  const match = router.find(method, path);
  const exchange: Exchange = {
    request,
    response,
    path,
    query: new URLSearchParams(request.url?.slice(path.length + 1)),
    params: match?.params ?? {},
  };
  const reply =
    match === undefined
      ? await handleUnmatched(options, exchange, () => router.getAllowedMethods(path))
      : await match.route.handle(await options.createCall(exchange, match.route));
  if (typeof reply === 'object') sendReply(response, reply);
}

function handleUnmatched(
  { service, handleUnmatched: handle }: Pick<ListenerOptions<never, never>, 'service' | 'handleUnmatched'>,
  exchange: Exchange,
  getAllowed: () => readonly string[],
): Promise<HandlerResult> | HandlerResult {
  if (handle !== undefined) return handle(exchange, getAllowed);
  const allowed = getAllowed();
  if (allowed.length === 0) throw new Problem(`${service}.unknown_path`, 404, m.unknownPath());
  const headers = { Allow: allowed.join(', ') };
  throw new Problem(`${service}.unknown_method`, 405, 'Method Not Allowed', { headers });
}
