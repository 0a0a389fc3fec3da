import * as m from '#messages/control-problems';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { ControlContext } from '../contracts/control/host.ts';
import { frameDenyHeaders } from '../contracts/frame-headers.ts';
import { Problem } from '../contracts/problem.ts';
import { findSessionSecret } from '../contracts/session.ts';
import { createHttpListener, type Exchange, type Route } from '../kit/http/listener.ts';
import { negotiateRequestLanguage, runInLanguage } from '../kit/language.ts';
import { jsonReply, textReply, type Reply } from '../kit/http/respond.ts';
import { apiPageHeaders, renderApiPage } from './api-page/page.ts';
import type { LiveEvents } from './events.ts';

const commonHeaders = { ...frameDenyHeaders, 'Cache-Control': 'no-store' };

/** Patterns of the paths that the control service serves. The host serves everything else on its listener. */
export const ownPaths = [
  '/api',
  '/api/events',
  '/api/openapi.json',
  '/metrics',
  '/metrics/:service',
  '/health/live',
  '/health/ready',
];

/** Listener of the control service: serves live events, metrics and the API description. */
export function controlListener(context: ControlContext, events: LiveEvents): RequestListener {
  const routes: readonly Route[] = [
    {
      method: '*',
      path: '/api/events',
      handle: ({ request, response, query }) =>
        inRequestLanguage(request, () => events.connect(request, response, query)),
    },
    {
      method: 'GET',
      path: '/api/openapi.json',
      handle: async () =>
        jsonReply(200, await context.host.openApi(), { ...commonHeaders, 'Content-Type': 'application/json' }),
    },
    { method: 'GET', path: '/api', handle: (exchange) => getApiPage(context, exchange) },
    { method: 'GET', path: '/metrics', handle: (exchange) => getMetrics(context, exchange) },
    { method: 'GET', path: '/metrics/:service', handle: (exchange) => getMetrics(context, exchange) },
    { method: 'GET', path: '/health/live', handle: () => healthReply(200, { status: 'live' }) },
    { method: 'GET', path: '/health/ready', handle: () => getReadiness(context) },
  ];
  return createHttpListener({
    routes,
    router: { ignoreTrailingSlash: false },
    context,
    service: 'control',
    dialect: { renderProblem },
    createCall: (exchange) => exchange,
    handleUnmatched: (_exchange, getAllowed) => refuse(getAllowed()),
  });
}

/** Runs work in the language that the page of a request shows. */
function inRequestLanguage<T>(request: IncomingMessage, work: () => Promise<T>): Promise<T> {
  return runInLanguage(negotiateRequestLanguage(request.headers['accept-language']), work);
}

function renderProblem({ code, detail, status, headers }: Problem): Reply {
  return {
    ...jsonReply(status, { error: { code, detail } }, { ...commonHeaders, ...headers }),
    body: `${JSON.stringify({ error: { code, detail } })}\n`,
  };
}

function refuse(allowed: readonly string[]): never {
  if (allowed.length === 0) throw new Problem('control.unknown_path', 404, m.pathNotFound());
  throw new Problem('control.method', 405, m.readWithGet(), { headers: { Allow: 'GET, HEAD' } });
}

async function getReadiness({ host }: ControlContext): Promise<Reply> {
  const readiness = await host.readiness();
  return healthReply(readiness.status === 'ready' ? 200 : 503, readiness);
}

function healthReply(status: number, body: object): Reply {
  return jsonReply(status, body, { ...commonHeaders, 'Content-Type': 'application/json' });
}

/** Returns the documentation of the API, with the address that the client uses in its examples. */
async function getApiPage(context: ControlContext, { request }: Exchange): Promise<Reply> {
  const base = context.publicUrl(request) ?? context.publicUrl() ?? '';
  return textReply(200, renderApiPage(await context.host.openApi(), base), apiPageHeaders);
}

/** Returns the metrics of one service or of all, to administrators and accounts with a grant on the service `metrics`. */
async function getMetrics(context: ControlContext, { request, params: { service } }: Exchange): Promise<Reply> {
  const identity = await context.accounts.authenticate({
    authorization: request.headers.authorization,
    session: findSessionSecret(request),
    ...context.caller(request),
  });
  if (!context.accounts.may(identity, 'metrics', 'read', service ?? 'all')) {
    if (identity) throw new Problem('accounts.forbidden', 403, m.metricsRefused());
    throw new Problem('accounts.sign_in', 401, m.metricsSignIn(), {
      headers: { 'WWW-Authenticate': 'Basic realm="Homeport", charset="UTF-8"' },
    });
  }
  if (service !== undefined && !(await context.host.services()).some(({ id }) => id === service)) {
    throw new Problem('control.unknown_service', 404, m.serviceNotFound({ service }));
  }
  return textReply(200, await context.host.metrics(service), {
    ...commonHeaders,
    'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
  });
}
