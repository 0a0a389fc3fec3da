import express, { type ErrorRequestHandler, type Express } from 'express';
import type { ApiHandler } from '../contracts/api.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import { redirectToAppPage } from '../kit/redirect-to-app.ts';
import type { ApiKeys } from './store/api-keys.ts';
import { badgeRoutes, type BadgeParts } from './kuma-api/badges.ts';
import { reportFile, type ManageParts } from './app-api/management-handlers.ts';
import { openApiDocument } from './app-api/openapi.ts';
import { peerMetrics } from './kuma-api/metrics.ts';
import { pushRoute, type PushParts } from './kuma-api/push.ts';
import { problemOf, renderProblem, restRoutes } from './app-api/rest.ts';
import type { Tags } from './store/tags.ts';
import { socketPath, type UptimeSocket } from './kuma-api/server.ts';
import { statusPageRoutes, type StatusPageParts } from './kuma-api/status-pages.ts';
import { subscribeRoutes, type SubscribeParts } from './app-api/subscribe.ts';

export interface AppParts extends PushParts, BadgeParts, StatusPageParts, SubscribeParts {
  readonly context: Context;
  readonly keys: ApiKeys;
  readonly handlers: readonly ApiHandler[];
  readonly manage: ManageParts;
  readonly tags: Tags;
  readonly socket: Pick<UptimeSocket, 'http'>;
}

/** Creates the HTTP app of the service's listener: the API of Uptime Kuma, and the app API. */
export function uptimeApp(parts: AppParts): Express {
  const { context, keys, handlers } = parts;
  const app = express();
  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    response.setHeader('X-Frame-Options', 'SAMEORIGIN');
    next();
  });
  app.use(socketPath, (request, response) => parts.socket.http(request, response));
  app.all('/api/push/:token', pushRoute(parts));
  app.use(subscribeRoutes(parts));
  app.use(statusPageRoutes(parts));
  app.get('/', (request, response) => {
    const isAnswered = redirectToAppPage(request, response, { pages: context.appPages, path: '/uptime' });
    if (!isAnswered) response.type('text').send('Homeport uptime. /openapi.json describes it.\n');
  });
  app.get('/openapi.json', (_request, response) => {
    response.json(openApiDocument(handlers));
  });
  app.get('/metrics', peerMetrics(parts));
  app.use(badgeRoutes(parts));
  app.use(['/api/badge', '/api/status-page', '/status'], renderForVisitors(context));
  app.get('/api/report.csv', reportFile(parts.manage));
  app.use(restRoutes(context, keys, handlers));
  app.use(() => {
    throw new Problem('uptime.unknown_path', 404, 'There is nothing at this address.');
  });
  app.use(renderProblem(context));
  return app;
}

/**
 * Renders errors of badges and status pages in the format of Uptime Kuma: 404, 500 and 503 are kept, others become 403.
 */
function renderForVisitors({ log, random }: Pick<Context, 'log' | 'random'>): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    const { status, code, detail } = problemOf(error, log, random);
    const known = status === 404 || status === 500 ? status : code.startsWith('database.') ? 503 : 403;
    response.status(known).json({ status: 'fail', msg: detail });
  };
}
