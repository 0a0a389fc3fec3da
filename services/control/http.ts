import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ControlContext } from '../contracts/control/host.ts';
import { Problem } from '../contracts/problem.ts';
import { findSessionSecret } from '../contracts/session.ts';
import { frameDenyHeaders } from '../contracts/frame-headers.ts';
import type { LiveEvents } from './events.ts';

/**
 * Listener of the control service: serves live events, metrics and the API description; the host serves everything
 * else.
 */
export function controlListener(context: ControlContext, events: LiveEvents): RequestListener {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { path, query } = splitTarget(request.url ?? '/');
    if (path === '/api/events') return events.connect(request, response, query);
    if (path === '/api/openapi.json')
      return send(request, response, 'application/json', () => JSON.stringify(context.host.openApi()));
    const metrics = /^\/metrics(?:\/([a-z]+))?$/.exec(path);
    if (metrics) return sendMetrics(context, request, response, metrics[1]);
    if (path === '/api' || path.startsWith('/api/')) context.host.handleApi(request, response);
    else context.host.handlePage(request, response);
  };
  return (request, response) => {
    answer(request, response).catch((error: unknown) => sendProblem(context, request, response, error));
  };
}

function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const queryStart = target.indexOf('?');
  if (queryStart < 0) return { path: target, query: new URLSearchParams() };
  return { path: target.slice(0, queryStart), query: new URLSearchParams(target.slice(queryStart + 1)) };
}

/** Sends the metrics of one service or of all, to administrators and accounts with a grant on the service `metrics`. */
async function sendMetrics(
  context: ControlContext,
  request: IncomingMessage,
  response: ServerResponse,
  service: string | undefined,
): Promise<void> {
  const identity = await context.accounts.authenticate({
    authorization: request.headers.authorization,
    session: findSessionSecret(request),
    ...context.caller(request),
  });
  if (!context.accounts.may(identity, 'metrics', 'read', service ?? 'all')) {
    if (identity) throw new Problem('accounts.forbidden', 403, 'This account has no grant to read metrics.');
    throw new Problem('accounts.sign_in', 401, 'Metrics need an access token, or an administrator.', {
      headers: { 'WWW-Authenticate': 'Basic realm="Homeport", charset="UTF-8"' },
    });
  }
  if (service !== undefined && !(await context.host.services()).some(({ id }) => id === service)) {
    throw new Problem('control.unknown_service', 404, `There is no service called ${service}.`);
  }
  await send(request, response, 'text/plain; version=0.0.4; charset=utf-8', () => context.host.metrics(service));
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  type: string,
  body: () => string | Promise<string>,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new Problem('control.method', 405, 'This address is read with GET.', { headers: { Allow: 'GET, HEAD' } });
  }
  const text = await body();
  response.writeHead(200, { ...frameDenyHeaders, 'Content-Type': type, 'Cache-Control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : text);
}

function sendProblem(
  context: ControlContext,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  let problem: Problem;
  if (error instanceof Problem) problem = error;
  else {
    const id = context.random.text(12);
    context.log.error('request failed', {
      event: 'request_failed',
      id,
      path: splitTarget(request.url ?? '/').path,
      error,
    });
    problem = new Problem('internal', 500, `Something went wrong here. The log has the details under ${id}.`);
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { code, detail } = problem;
  const body = `${JSON.stringify({ error: { code, detail } })}\n`;
  response.writeHead(problem.status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...frameDenyHeaders,
    ...problem.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
