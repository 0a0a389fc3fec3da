import { METHODS } from 'node:http';
import createFindMyWay, { type HTTPMethod } from 'find-my-way';

/** Method and path of a route. */
export interface RoutePattern {
  /** Method, several, or `*` for all. GET routes also match HEAD. */
  readonly method: string | readonly string[];
  /**
   * Path: `:name` matches one segment or, before a suffix as in `:sha.diff`, a part of one; `*name` matches the rest
   * of the path, or everything before the segments that follow it.
   */
  readonly path: string;
}

/** Route that matches a request, with its parameters. */
export interface RouteMatch<Pattern extends RoutePattern> {
  readonly route: Pattern;
  /** Decoded parameters by the names of the route. */
  readonly params: Readonly<Record<string, string>>;
}

/** Rules for matching paths. */
export interface RouterOptions {
  /** Distinguishes upper and lower case. Default true. */
  readonly caseSensitive?: boolean;
  /** Ignores a slash at the end of a path. Default true. */
  readonly ignoreTrailingSlash?: boolean;
}

/** Route with a wildcard. It matches paths that end with `suffix`. */
interface WildcardRoute<Pattern> {
  readonly route: Pattern;
  readonly name: string;
  /** Text after the wildcard, such as `/statuses`; empty for most routes. */
  readonly suffix: string;
}

type RouteTree = ReturnType<typeof createFindMyWay>;

interface Entry<Pattern> {
  readonly route: Pattern | undefined;
  readonly wildcards: WildcardRoute<Pattern>[];
}

/**
 * Finds the route of a request. Literal segments take precedence over parameters, and parameters over wildcards,
 * independent of the order of the routes.
 */
export class Router<Pattern extends RoutePattern> {
  readonly #routes: readonly Pattern[];
  readonly #options: RouterOptions;
  /** Built for the first request, since compiling the routes of all services takes a tenth of the start. */
  #tree: RouteTree | undefined;
  readonly #methods = new Set<string>();
  readonly #wildcards = new Map<string, Entry<Pattern>>();

  /** @throws Error for two routes with the same method and path. */
  constructor(routes: readonly Pattern[], options: RouterOptions = {}) {
    this.#routes = routes;
    this.#options = options;
    refuseDuplicates(routes, options);
  }

  /** Returns the route for a raw path without its query; undefined when none matches or the path is malformed. */
  find(method: string, path: string): RouteMatch<Pattern> | undefined {
    const match = this.#lookUp(method, path);
    return match === undefined && method === 'HEAD' ? this.#lookUp('GET', path) : match;
  }

  /** Returns the methods of the routes that match a path, for `Allow`. */
  getAllowedMethods(path: string): readonly string[] {
    this.#tree ??= this.#build();
    return [...this.#methods].filter((method) => this.#lookUp(method, path) !== undefined);
  }

  #build(): RouteTree {
    const { caseSensitive = true, ignoreTrailingSlash = true } = this.#options;
    // The length of a path is limited by Node.
    const tree = createFindMyWay({ caseSensitive, ignoreTrailingSlash, maxParamLength: Number.MAX_SAFE_INTEGER });
    for (const route of this.#routes) for (const method of getMethods(route)) this.#add(tree, method, route);
    return tree;
  }

  #add(tree: RouteTree, method: string, route: Pattern): void {
    this.#methods.add(method);
    const wildcardAt = route.path.indexOf('*');
    if (wildcardAt < 0) {
      register(tree, method, route.path, { route, wildcards: [] });
      return;
    }
    const [name = '', ...rest] = route.path.slice(wildcardAt + 1).split('/');
    const prefix = route.path.slice(0, wildcardAt);
    const suffix = rest.length === 0 ? '' : `/${rest.join('/')}`;
    const key = `${method} ${prefix.replaceAll(/:[A-Za-z_]\w*/g, ':')}`;
    let entry = this.#wildcards.get(key);
    if (entry === undefined) {
      entry = { route: undefined, wildcards: [] };
      this.#wildcards.set(key, entry);
      register(tree, method, `${prefix}*`, entry);
    }
    entry.wildcards.push({ route, name, suffix });
    // The longest suffix matches first.
    entry.wildcards.sort((a, b) => b.suffix.length - a.suffix.length);
  }

  #lookUp(method: string, path: string): RouteMatch<Pattern> | undefined {
    this.#tree ??= this.#build();
    const result = this.#tree.find(method as HTTPMethod, path);
    if (result === null) return undefined;
    const { route, wildcards } = result.store as Entry<Pattern>;
    const params = result.params as Record<string, string>;
    // A parameter is never empty.
    if (Object.values(params).includes('')) return undefined;
    if (route !== undefined) return { route, params };
    const { '*': rest = '', ...named } = params;
    const wildcard = wildcards.find(({ suffix }) => rest.length > suffix.length && rest.endsWith(suffix));
    if (wildcard === undefined) return undefined;
    const value = rest.slice(0, rest.length - wildcard.suffix.length);
    return { route: wildcard.route, params: { ...named, [wildcard.name]: value } };
  }
}

function register<Pattern>(tree: RouteTree, method: string, path: string, entry: Entry<Pattern>): void {
  tree.on(method as HTTPMethod, path, () => undefined, entry);
}

/** @throws Error for two routes that match the same requests. */
function refuseDuplicates(
  routes: readonly RoutePattern[],
  { caseSensitive = true, ignoreTrailingSlash = true }: RouterOptions,
): void {
  const declared = new Set<string>();
  for (const route of routes) {
    const unnamed = route.path.replaceAll(/:[A-Za-z_]\w*/g, ':').replace(/\*[A-Za-z_]\w*/, '*');
    const path = ignoreTrailingSlash && unnamed.length > 1 ? unnamed.replace(/\/$/, '') : unnamed;
    for (const method of getMethods(route)) {
      const key = `${method} ${caseSensitive ? path : path.toLowerCase()}`;
      if (declared.has(key)) throw new Error(`The route ${method} ${route.path} is declared twice.`);
      declared.add(key);
    }
  }
}

function getMethods({ method }: RoutePattern): readonly string[] {
  if (method === '*') return METHODS;
  return typeof method === 'string' ? [method] : method;
}
