import * as m from '#messages/host-problems';
import type { ApiHandler, ApiRoute } from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { Router } from '../../../services/kit/http/router.ts';
import { decodePercentEncoding } from '../../../services/contracts/percent-encoding.ts';
import { CachedByHandlers } from './cached-by-handlers.ts';

/** Handler that matches a request, with its parameters. */
export interface RouteMatch {
  readonly handler: ApiHandler;
  readonly params: Readonly<Record<string, string>>;
}

interface Entry {
  readonly method: ApiRoute<unknown, unknown, unknown>['method'];
  readonly path: string;
  readonly handler: ApiHandler;
}

/** Finds the handler of a request among those of the running services. */
export class ApiRoutes {
  readonly #router: CachedByHandlers<Router<Entry>>;

  /** @param getHandlers called for each request, since services start and stop */
  constructor(getHandlers: () => readonly ApiHandler[]) {
    this.#router = new CachedByHandlers(getHandlers, (handlers) => new Router(handlers.map(toEntry)));
  }

  /**
   * Returns the handler for a raw path; literal segments take precedence: `/api/jobs/dead` over `/api/jobs/:id`.
   * @throws Problem `api.bad_path` (400) for malformed percent-encoding, `api.unknown_path` (404), `api.unknown_method`
   * (405)
   */
  find(method: string, path: string): RouteMatch {
    const router = this.#router.get();
    const match = router.find(method, path);
    if (match !== undefined) return { handler: match.route.handler, params: match.params };
    requireValidEncoding(path);
    const allowed = router.getAllowedMethods(path);
    if (allowed.length === 0) throw buildUnknownPathProblem();
    const methods = allowed.join(', ');
    const headers = { Allow: methods };
    throw new Problem('api.unknown_method', 405, m.methodNotAllowed({ methods }), { headers });
  }
}

/** Builds the problem for a path without a route. */
export function buildUnknownPathProblem(): Problem {
  return new Problem('api.unknown_path', 404, m.pathNotFound());
}

/** Returns the parameter names of a path, and the path in OpenAPI syntax: `/api/inbox/{id}`. */
export function describePath(path: string): { readonly openApi: string; readonly parameters: readonly string[] } {
  const segments = splitPath(path);
  return {
    openApi: `/${segments.map((segment) => (segment.startsWith(':') ? `{${segment.slice(1)}}` : segment)).join('/')}`,
    parameters: segments.filter((segment) => segment.startsWith(':')).map((segment) => segment.slice(1)),
  };
}

function toEntry(handler: ApiHandler): Entry {
  const { method, path } = handler.route;
  splitPath(path);
  return { method, path, handler };
}

/** Splits the path of a route, whose segments are texts or parameters. */
function splitPath(path: string): readonly string[] {
  const segments = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  for (const segment of segments) {
    if (/^:[A-Za-z_]\w*$/.test(segment) || !/[:*{}()]/.test(segment)) continue;
    throw new Error(`The route ${path} uses more than whole-segment parameters with plain names.`);
  }
  return segments;
}

function requireValidEncoding(path: string): void {
  if (decodePercentEncoding(path) === undefined) throw new Problem('api.bad_path', 400, m.pathInvalid());
}
