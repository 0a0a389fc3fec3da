import type { RequestListener } from 'node:http';
import type { ListenerHandler, ListenerManifest } from '../../../services/contracts/listeners.ts';
import { decodePercentEncoding } from '../../../services/contracts/percent-encoding.ts';
import { getPath } from '../../../services/kit/http/errors.ts';
import { Router, type RoutePattern } from '../../../services/kit/http/router.ts';

/** Handlers of the host for the listener of the app. */
export interface AppHandlers {
  /** Answers requests below `/api` from the routes of all services; unknown paths get a 404 in the format of the API. */
  readonly handleApi: RequestListener;
  /** Answers all other paths from the built pages. */
  readonly handlePage: RequestListener;
}

interface AppRoute extends RoutePattern {
  readonly handle: RequestListener;
}

/**
 * Adds the app API and the pages to the handler of a listener whose manifest declares that. Other handlers are
 * returned unchanged.
 */
export function withApp(
  { app: declaration }: Pick<ListenerManifest, 'app'>,
  handler: ListenerHandler,
  app: AppHandlers,
): ListenerHandler {
  const { http } = handler;
  if (declaration === undefined || http === undefined) return handler;
  // The handlers answer all methods, so that all routes are declared and found as GET.
  const routes: readonly AppRoute[] = [
    ...declaration.ownPaths.map((path) => ({ method: 'GET', path, handle: http })),
    { method: 'GET', path: '/api/', handle: app.handleApi },
    { method: 'GET', path: '/api/*path', handle: app.handleApi },
  ];
  const router = new Router(routes, { ignoreTrailingSlash: false });
  return {
    ...handler,
    http(request, response) {
      const path = getPath(request);
      const match = router.find('GET', path);
      if (match !== undefined) match.route.handle(request, response);
      // No route matches malformed percent-encoding, which the API refuses with a 400.
      else if (decodePercentEncoding(path) === undefined) app.handleApi(request, response);
      else app.handlePage(request, response);
    },
  };
}
