import express, { type Express } from 'express';
import type { ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { ApiKeys } from './api-keys.ts';
import { pushRoute, type PushParts } from './push.ts';
import { renderProblem, restRoutes } from './rest.ts';

export interface AppParts extends PushParts {
  readonly context: Context;
  readonly keys: ApiKeys;
  readonly handlers: readonly ApiHandler[];
}

/** The service's own port: what the peer's clients know, and our own API for programs. */
export function uptimeApp(parts: AppParts): Express {
  const { context, keys, handlers } = parts;
  const app = express();
  app.disable('x-powered-by');
  app.use((_request, response, next) => {
    response.setHeader('X-Frame-Options', 'SAMEORIGIN');
    next();
  });
  app.all('/api/push/:token', pushRoute(parts));
  app.use(restRoutes(context, keys, handlers));
  app.use(() => {
    throw new Problem('uptime.unknown_path', 404, 'There is nothing at this address.');
  });
  app.use(renderProblem(context));
  return app;
}
