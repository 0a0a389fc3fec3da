import express, { type ErrorRequestHandler, type Express } from 'express';
import type { ApiHandler } from '../contracts/api.ts';
import { Problem } from '../contracts/problem.ts';
import type { Context } from '../contracts/service.ts';
import { redirectToAppPage } from '../kit/http/redirect-to-app.ts';
import type { ApiKeys } from './store/api-keys.ts';
import { badgeRoutes, type BadgeDependencies } from './kuma-api/badges.ts';
import { createReportHandler, type ManagementDependencies } from './app-api/management-handlers.ts';
import { openApiDocument } from './app-api/openapi.ts';
import { createMetricsHandler } from './kuma-api/metrics.ts';
import { createPushHandler, type PushDependencies } from './kuma-api/push.ts';
import { toProblem, renderProblem, restRoutes } from './app-api/rest.ts';
import type { Tags } from './store/tags.ts';
import { socketPath, type KumaSocket } from './kuma-api/server.ts';
import { statusPageRoutes, type StatusPageDependencies } from './kuma-api/status-pages.ts';
import { subscribeRoutes, type SubscribeDependencies } from './app-api/subscribe.ts';

export interface AppDependencies
  extends PushDependencies, BadgeDependencies, StatusPageDependencies, SubscribeDependencies {
  readonly context: Context;
  readonly keys: ApiKeys;
  readonly handlers: readonly ApiHandler[];
  readonly manage: ManagementDependencies;
  readonly tags: Tags;
  readonly socket: Pick<KumaSocket, 'http'>;
}

/** Creates the HTTP app of the service's listener: the API of Uptime Kuma, and the app API. */
export function createHttpApp(dependencies: AppDependencies): Express {
  const { context, keys, handlers } = dependencies;
  const app = express();
  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    response.setHeader('X-Frame-Options', 'SAMEORIGIN');
    next();
  });
  app.use(socketPath, (request, response) => dependencies.socket.http(request, response));
  app.all('/api/push/:token', createPushHandler(dependencies));
  app.use(subscribeRoutes(dependencies));
  app.use(statusPageRoutes(dependencies));
  app.get('/', (request, response) => {
    const isAnswered = redirectToAppPage(request, response, { pages: context.appPages, path: '/uptime' });
    if (!isAnswered) response.type('text').send('Homeport uptime. /openapi.json describes it.\n');
  });
  app.get('/openapi.json', (_request, response) => {
    response.json(openApiDocument(handlers));
  });
  app.get('/metrics', createMetricsHandler(dependencies));
  app.use(badgeRoutes(dependencies));
  app.use(['/api/badge', '/api/status-page', '/status'], renderForVisitors(context));
  app.get('/api/report.csv', createReportHandler(dependencies.manage));
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
    const { status, code, detail } = toProblem(error, log, random);
    const publicStatus = status === 404 || status === 500 ? status : code.startsWith('database.') ? 503 : 403;
    response.status(publicStatus).json({ status: 'fail', msg: detail });
  };
}
