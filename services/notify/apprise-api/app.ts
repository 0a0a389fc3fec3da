import express, { type ErrorRequestHandler, type Express } from 'express';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import { Problem } from '../../contracts/problem.ts';
import { frameDenyHeaders } from '../../contracts/frame-headers.ts';
import { sentences } from '../wire/notify.ts';
import { catalogueRoutes } from './catalogue.ts';
import { configurationRoutes } from './configuration.ts';
import { notifyRoutes } from './notify.ts';
import { sendSentence } from './response.ts';
import type { RouteDependencies } from './request.ts';

function createErrorHandler(dependencies: RouteDependencies): ErrorRequestHandler {
  const { log, random } = dependencies.context;
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    if (error instanceof Problem) {
      for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
      if (error.status === 401 && !response.hasHeader('WWW-Authenticate')) {
        response.setHeader('WWW-Authenticate', 'Basic realm="notify", charset="UTF-8"');
      }
      if (error.status >= 500) log.warn('request failed', { code: error.code, error });
      sendSentence(request, response, error.status, error.detail);
      return;
    }
    // Express reports a malformed path as a URIError.
    if (error instanceof URIError) {
      sendSentence(request, response, 404, sentences.notFound);
      return;
    }
    const id = random.text(8);
    log.error('unexpected error', { id, error });
    sendSentence(request, response, 500, `Unexpected error ${id}; the log has the details.`);
  };
}

/** Creates the app for the HTTP API of Apprise API. */
export function createApp(dependencies: RouteDependencies): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const requests = dependencies.context.metrics.counter({
    name: 'aggregator_requests_total',
    help: 'Requests to the aggregator by the status of their answer.',
    labels: ['code'],
    initial: [200, 204, 400, 424].map((code) => ({ code })),
  });
  app.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'max-age=0, no-cache, no-store, must-revalidate, private');
    for (const [name, value] of Object.entries(frameDenyHeaders)) response.setHeader(name, value);
    response.once('finish', () => requests.inc({ code: response.statusCode }));
    next();
  });
  app.get('/', (request, response) => {
    if (dependencies.settings.apiOnly) {
      response.status(421).type('text/plain').send('There are no pages here; post notifications to /notify/KEY.\n');
      return;
    }
    const isRedirected = redirectToAppPage(request, response, {
      pages: dependencies.context.appPages,
      path: '/delivery',
    });
    if (!isRedirected) response.type('text/plain').send('Post notifications to /notify/KEY.\n');
  });
  app.use(notifyRoutes(dependencies));
  app.use(configurationRoutes(dependencies));
  app.use(catalogueRoutes(dependencies));
  app.use(() => {
    throw new Problem('notify.unknown_path', 404, sentences.notFound);
  });
  app.use(createErrorHandler(dependencies));
  return app;
}
