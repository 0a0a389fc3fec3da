import { Problem } from '../../../services/contracts/problem.ts';
import type { ApiHandler } from '../../../services/contracts/api.ts';

/** Handler that matches a path, with its parameters. */
export interface RouteMatch {
  readonly handler: ApiHandler;
  readonly params: Readonly<Record<string, string>>;
}

/** Segment of a route's path: a text to match, or the name of a parameter. */
type Segment = { readonly text: string } | { readonly parameter: string };
const parseSegments = new WeakMap<ApiHandler, readonly Segment[]>();

/**
 * Returns all handlers whose path matches, for any method, most literal first: `/api/jobs/dead` before
 * `/api/jobs/:id`.
 * @throws Problem `api.bad_path` (400) when a parameter is not valid percent-encoded UTF-8.
 */
export function matchRoutes(handlers: readonly ApiHandler[], path: string): RouteMatch[] {
  const parts = split(path);
  const fitting = handlers
    .map((handler) => ({ handler, segments: compiled(handler) }))
    .filter(({ segments }) => matchesSegments(segments, parts))
    .sort((a, b) => compare(a.segments, b.segments));
  return fitting.map(({ handler, segments }) => ({ handler, params: parameters(segments, parts) }));
}

/** Returns the parameter names of a path, and the path in OpenAPI syntax: `/api/inbox/{id}`. */
export function describePath(path: string): { readonly openApi: string; readonly parameters: readonly string[] } {
  const segments = parse(path);
  const parts = segments.map((segment) => ('text' in segment ? segment.text : `{${segment.parameter}}`));
  return {
    openApi: `/${parts.join('/')}`,
    parameters: segments.flatMap((segment) => ('parameter' in segment ? [segment.parameter] : [])),
  };
}

function compiled(handler: ApiHandler): readonly Segment[] {
  let segments = parseSegments.get(handler);
  if (segments === undefined) parseSegments.set(handler, (segments = parse(handler.route.path)));
  return segments;
}

function parse(path: string): readonly Segment[] {
  return split(path).map((part) => {
    if (!part.startsWith(':')) {
      if (/[:*{}()]/.test(part)) throw new Error(`The route ${path} uses more than whole-segment parameters.`);
      return { text: part };
    }
    if (!/^:[A-Za-z_]\w*$/.test(part)) throw new Error(`The route ${path} has a parameter that is no plain name.`);
    return { parameter: part.slice(1) };
  });
}

/** A trailing slash is ignored, as in Express. */
function split(path: string): string[] {
  return path.replace(/^\//, '').replace(/\/$/, '').split('/');
}

function matchesSegments(segments: readonly Segment[], parts: readonly string[]): boolean {
  if (segments.length !== parts.length) return false;
  return segments.every((segment, index) => ('text' in segment ? segment.text === parts[index] : parts[index] !== ''));
}

function compare(a: readonly Segment[], b: readonly Segment[]): number {
  const index = a.findIndex((segment, index) => 'text' in segment !== 'text' in (b[index] ?? segment));
  if (index < 0) return 0;
  return 'text' in (a[index] ?? { parameter: '' }) ? -1 : 1;
}

function parameters(segments: readonly Segment[], parts: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    if ('parameter' in segment) params[segment.parameter] = decode(parts[index] ?? '');
  }
  return params;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    throw new Problem('api.bad_path', 400, 'The path is not valid percent-encoded UTF-8.', { cause: error });
  }
}
