import type { IncomingMessage, RequestListener } from 'node:http';
import { frameDenyHeaders } from '../../contracts/frame-headers.ts';
import { Problem } from '../../contracts/problem.ts';
import { createHttpListener, type Exchange, type Route } from '../../kit/http/listener.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import type { Reply } from '../../kit/http/respond.ts';
import { sentences } from '../wire/notify.ts';
import { catalogueRoutes } from './catalogue.ts';
import { configurationRoutes } from './configuration.ts';
import { notifyRoutes } from './notify.ts';
import type { RouteDependencies } from './request.ts';
import { sentenceReply, textReply } from './response.ts';

const commonHeaders = {
  ...frameDenyHeaders,
  'Cache-Control': 'max-age=0, no-cache, no-store, must-revalidate, private',
};
const challenge = { 'WWW-Authenticate': 'Basic realm="notify", charset="UTF-8"' };

/** Creates the listener for the HTTP API of Apprise API. */
export function createListener(dependencies: RouteDependencies): RequestListener {
  const { context } = dependencies;
  const requests = context.metrics.counter({
    name: 'aggregator_requests_total',
    help: 'Requests to the aggregator by the status of their answer.',
    labels: ['code'],
    initial: [200, 204, 400, 424].map((code) => ({ code })),
  });
  const routes: readonly Route[] = [
    { method: 'GET', path: '/', handle: (exchange) => handleRoot(dependencies, exchange) },
    ...notifyRoutes(dependencies),
    ...configurationRoutes(dependencies),
    ...catalogueRoutes(dependencies),
  ];
  return createHttpListener({
    routes,
    router: { caseSensitive: false },
    context,
    service: 'notify',
    dialect: { headers: commonHeaders, renderProblem },
    begin: (_request, response) => {
      response.once('finish', () => requests.inc({ code: response.statusCode }));
    },
    createCall: (exchange) => exchange,
    handleUnmatched: () => {
      throw new Problem('notify.unknown_path', 404, sentences.notFound);
    },
  });
}

function handleRoot({ context, settings }: RouteDependencies, { request, response }: Exchange): Reply | undefined {
  if (settings.apiOnly) return textReply(421, 'There are no pages here; post notifications to /notify/KEY.\n');
  if (redirectToAppPage(request, response, { pages: context.appPages, path: '/delivery' })) return undefined;
  return textReply(200, 'Post notifications to /notify/KEY.\n');
}

function renderProblem({ status, detail, headers }: Problem, request: IncomingMessage): Reply {
  const reply = sentenceReply(request, status, detail);
  return { ...reply, headers: { ...reply.headers, ...(status === 401 ? challenge : {}), ...headers } };
}
