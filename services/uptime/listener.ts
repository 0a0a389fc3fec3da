import type { RequestListener } from 'node:http';
import type { ApiHandler } from '../contracts/api.ts';
import type { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import { getPath } from '../kit/http/errors.ts';
import { getHostName } from '../kit/http/host-name.ts';
import { createHttpListener, type Exchange, type Route } from '../kit/http/listener.ts';
import { redirectToAppPage } from '../kit/http/redirect-to-app.ts';
import { addHeaders, jsonReply, textReply, type Reply } from '../kit/http/respond.ts';
import { revalidate } from '../kit/http/revalidation.ts';
import { badgeRoutes } from './kuma-api/badges.ts';
import { createReportHandler } from './app-api/management-handlers.ts';
import { openApiDocument } from './app-api/openapi.ts';
import { createMetricsHandler } from './kuma-api/metrics.ts';
import { createPushHandler } from './kuma-api/push.ts';
import { PageAccess } from './app-api/page-access.ts';
import { renderProblem, restRoutes } from './app-api/rest.ts';
import type { Monitoring } from './monitoring/monitoring.ts';
import type { Options } from './monitoring/options.ts';
import type { StatusPageFeature } from './status-pages/status-page-feature.ts';
import type { UptimeStores } from './store/stores.ts';
import { socketPath, type KumaSocket } from './kuma-api/server.ts';
import {
  buildPublicHeaders,
  handlePage,
  statusPageRoutes,
  type StatusPageDependencies,
} from './kuma-api/status-pages.ts';
import { subscribeRoutes } from './app-api/subscribe.ts';

interface ListenerDependencies {
  readonly context: Context;
  readonly monitoring: Monitoring;
  readonly stores: UptimeStores;
  readonly statusPages: StatusPageFeature;
  readonly options: Options;
  readonly socket: Pick<KumaSocket, 'http'>;
  readonly handlers: readonly ApiHandler[];
}

/** Creates the listener of the service's port: the API of Uptime Kuma, and the app API. */
export function createUptimeListener(dependencies: ListenerDependencies): RequestListener {
  const { context, monitoring, stores, statusPages, options, socket, handlers } = dependencies;
  const { clock } = context;
  const { pages, subscribers, subscriberMail } = statusPages;
  const access = new PageAccess(context, stores.keys);
  const publicPages = { access, clock, context, monitoring, options, pages, stores, subscriberMail };
  const routes: readonly Route[] = [
    ...[socketPath, `${socketPath}/*rest`].map((path) => ({
      method: '*',
      path,
      handle: ({ request, response }: Exchange) => socket.http(request, response),
    })),
    { method: '*', path: '/api/push/:token', handle: createPushHandler(monitoring) },
    ...subscribeRoutes({ access, context, pages, subscribers, subscriberMail }),
    ...statusPageRoutes(publicPages),
    { method: 'GET', path: '/', handle: (exchange) => handleRoot(context, publicPages, exchange) },
    { method: 'GET', path: '/openapi.json', handle: () => jsonReply(200, openApiDocument(handlers)) },
    { method: 'GET', path: '/metrics', handle: createMetricsHandler(context, monitoring, stores) },
    ...badgeRoutes({ access, clock, monitoring, pages }),
    { method: 'GET', path: '/api/report.csv', handle: createReportHandler({ context, monitoring, stores, pages }) },
    ...restRoutes(context, stores.keys, handlers),
  ];
  return createHttpListener({
    routes: routes.map(withRevalidation),
    router: { caseSensitive: false },
    context,
    service: 'uptime',
    dialect: {
      headers: { 'X-Frame-Options': 'SAMEORIGIN' },
      renderProblem: (problem, request) =>
        visitorPaths.test(getPath(request)) ? renderForVisitors(problem) : renderProblem(problem),
    },
    begin: (request, response) => addHeaders(response, buildPublicHeaders(getPath(request))),
    createCall: (exchange) => exchange,
  });
}

/** Paths that visitors without an account open. */
const visitorPaths = /^\/(?:api\/badge|api\/status-page|status)(?:\/|$)/i;

function withRevalidation({ handle, ...pattern }: Route): Route {
  return {
    ...pattern,
    async handle(exchange) {
      const reply = await handle(exchange);
      return typeof reply === 'object' ? revalidate(exchange.request, reply) : undefined;
    },
  };
}

/** Answers with the status page of the host name, or leads to the page of the app. */
async function handleRoot(
  { appPages }: Pick<Context, 'appPages'>,
  dependencies: StatusPageDependencies,
  exchange: Exchange,
): Promise<Reply | undefined> {
  const { request, response } = exchange;
  if (dependencies.pages.findByDomain(getHostName(request)) !== undefined) return handlePage(dependencies, exchange);
  if (redirectToAppPage(request, response, { pages: appPages, path: '/uptime' })) return undefined;
  return textReply(200, 'Homeport uptime. /openapi.json describes it.\n');
}

/**
 * Renders problems of badges and status pages as Uptime Kuma does: 404, 500 and 503 are kept, others become 403. Those of
 * the sign-in of a page, which Uptime Kuma does not have, are kept as well.
 */
function renderForVisitors({ status, code, detail, headers }: Problem): Reply {
  if (status === 401 || status === 429) return jsonReply(status, { status: 'fail', msg: detail }, headers);
  const publicStatus = status === 404 || status === 500 ? status : code.startsWith('database.') ? 503 : 403;
  return jsonReply(publicStatus, { status: 'fail', msg: detail });
}
