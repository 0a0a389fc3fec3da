import type { RequestListener } from 'node:http';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { getPath } from '../../../services/kit/http/errors.ts';
import type { ListeningService } from './service-listeners.ts';

/** Handlers of the host for the listener of the app. */
export interface AppHandlers {
  /** Answers requests below `/api` from the routes of all services; unknown paths get a 404 in the format of the API. */
  readonly handleApi: RequestListener;
  /** Answers all other paths from the built pages. */
  readonly handlePage: RequestListener;
}

/**
 * Adds the app API and the pages to the main listener of a service whose manifest declares that. Other services are
 * returned unchanged.
 */
export function withApp(
  { listeners = [] }: ServiceDescriptor,
  service: ListeningService,
  app: AppHandlers,
): ListeningService {
  const ownPaths = listeners[0]?.app?.ownPaths.map(toPattern);
  const { http } = service;
  if (ownPaths === undefined || http === undefined) return service;
  const handle: RequestListener = (request, response) => {
    const path = getPath(request);
    if (ownPaths.some((pattern) => pattern.test(path))) http(request, response);
    else if (path.startsWith('/api/')) app.handleApi(request, response);
    else app.handlePage(request, response);
  };
  return { http: handle, ...(service.upgrade !== undefined && { upgrade: service.upgrade }) };
}

/** Converts the pattern of a path. Its segments contain only letters, digits, dots and hyphens. */
function toPattern(path: string): RegExp {
  const segments = path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replaceAll('.', '\\.')));
  return new RegExp(`^${segments.join('/')}$`);
}
