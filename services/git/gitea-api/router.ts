import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { isDisconnectError } from '../../kit/http/disconnect-signal.ts';
import type { Context } from '../../contracts/service.ts';
import type { Level } from '../repositories/access.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import type { Caller } from '../sign-in/caller.ts';
import { checkScope, type Answer, type Call, type Route } from './call.ts';

export const apiPrefix = '/api/v1';
const json = 'application/json;charset=utf-8';
const uncached = 'max-age=0, private, must-revalidate';
const deprecationWarning =
  'token and access_token API authentication is deprecated and will be removed in gitea 1.23. ' +
  'Please use AuthorizationHeaderToken instead. Existing queries will continue to work but without authorization.';

/** Returns the current `owner/name` of a renamed repository, if the caller may read it. */
export type FindRenamed = (caller: Caller, owner: string, name: string) => Promise<string | undefined>;

/** Returns the access level of a caller; `none` for a missing repository. */
export type GetLevel = (caller: Caller, owner: string, name: string) => Promise<Level>;

export interface RouterDependencies {
  readonly context: Pick<Context, 'log'>;
  readonly signIn: SignIn;
  readonly findRenamed: FindRenamed;
  readonly level: GetLevel;
}

interface CompiledRoute {
  readonly route: Route;
  readonly parts: readonly string[];
}

/** Answers the API below `/api/v1`. */
export class Router {
  readonly #context: Pick<Context, 'log'>;
  readonly #signIn: SignIn;
  readonly #findRenamed: FindRenamed;
  readonly #level: GetLevel;
  readonly #routes: ReadonlyMap<string, readonly CompiledRoute[]>;

  constructor({ context, signIn, findRenamed, level }: RouterDependencies, routes: readonly Route[]) {
    this.#context = context;
    this.#signIn = signIn;
    this.#findRenamed = findRenamed;
    this.#level = level;
    this.#routes = Map.groupBy(
      routes.map((route) => ({ route, parts: route.path.split('/').slice(1) })),
      ({ route }) => route.method,
    );
  }

  async answer(request: IncomingMessage, response: ServerResponse, url: URL, base: string): Promise<void> {
    response.setHeader('Cache-Control', uncached);
    try {
      await this.#answer(request, response, url, base);
    } catch (error) {
      if (isDisconnectError(request, response, error)) {
        this.#context.log.debug('client disconnected', { method: request.method, error });
        return void response.destroy();
      }
      if (response.headersSent) return void response.destroy();
      this.#refuse(response, request, url, base, error);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, url: URL, base: string): Promise<void> {
    const method = request.method ?? 'GET';
    const result = this.#find(method === 'HEAD' ? 'GET' : method, url.pathname.slice(apiPrefix.length));
    if (result === undefined) throw new Problem('git.unknown', 404, 'not found');
    const { route, params } = result;
    const caller = await this.#signIn.authenticate(request, url.searchParams);
    if (caller.inAddress) response.setHeader('X-Gitea-Warning', deprecationWarning);
    if (route.signedIn === true && caller.identity === undefined) {
      throw new Problem('git.sign_in', 401, 'token is required');
    }
    if (caller.identity?.limited === true) await this.#checkLimited(route, caller, params);
    const call = { request, method, query: url.searchParams, caller, params, base };
    checkScope(call, route.scope);
    let answer: Answer;
    try {
      answer = await route.handle(call);
    } catch (error) {
      const currentName =
        error instanceof Problem && error.status === 404 ? await this.#findCurrentName(call) : undefined;
      if (currentName === undefined) throw error;
      const rest = url.pathname.split('/').slice(6);
      const path = [`${apiPrefix}/repos/${currentName}`, ...rest].join('/') + url.search;
      const escaped = path
        .replaceAll('&', '&amp;')
        .replaceAll('"', '&#34;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;');
      answer =
        method === 'GET' || method === 'HEAD'
          ? {
              status: 301,
              headers: { Location: path, 'Content-Type': 'text/html; charset=utf-8' },
              text: `<a href="${escaped}">Moved Permanently</a>.\n\n`,
            }
          : // A client with a body has to send the request again.
            { status: 307, headers: { Location: path } };
    }
    await send(response, answer, method === 'HEAD');
  }

  /**
   * Refuses requests that a limited token may not make: those in the name of the account, and changes in repositories that
   * it may only read. The route itself answers for repositories that the token may not read.
   */
  async #checkLimited(route: Route, caller: Caller, params: Call['params']): Promise<void> {
    if (!isOfRepository(route)) throw new Problem('git.forbidden', 403, 'token may only be used for repositories');
    if (route.method === 'GET') return;
    const level = await this.#level(caller, params['owner'] ?? '', params['repo'] ?? '');
    if (level === 'read') throw new Problem('git.forbidden', 403, 'token may only read this repository');
  }

  /** Returns the current location of a renamed repository. */
  async #findCurrentName({ params: { owner, repo }, caller }: Call): Promise<string | undefined> {
    return owner === undefined || repo === undefined ? undefined : this.#findRenamed(caller, owner, repo);
  }

  #find(method: string, path: string): { readonly route: Route; readonly params: Record<string, string> } | undefined {
    const input = path.split('/').slice(1);
    if (input.length > 1 && input.at(-1) === '') input.pop();
    for (const { route, parts } of this.#routes.get(method) ?? []) {
      const params = match(parts, input);
      if (params !== undefined) return { route, params };
    }
    return undefined;
  }

  #refuse(response: ServerResponse, request: IncomingMessage, url: URL, base: string, error: unknown): void {
    let problem = error instanceof Problem ? error : undefined;
    if (problem === undefined || problem.status >= 500) {
      const id = randomUUID();
      this.#context.log.error('request failed', { id, method: request.method, path: url.pathname, error });
      problem ??= new Problem('git.failed', 500, `Something went wrong here; the log has it under ${id}.`);
    }
    for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value);
    const message =
      problem.code === 'accounts.bad_credentials' ? 'invalid username, password or token' : problem.detail;
    if (!request.complete) response.setHeader('Connection', 'close');
    const body = JSON.stringify({ message, url: `${base}/api/swagger` });
    response.writeHead(problem.status, { 'Content-Type': json, 'Content-Length': Buffer.byteLength(body) });
    response.end(request.method === 'HEAD' ? undefined : body);
  }
}

/**
 * Returns true for a route of one repository, where the access level is checked. Other routes act in the name of the account,
 * which a limited token may not do.
 */
function isOfRepository({ method, path, signedIn }: Route): boolean {
  if (!path.startsWith('/repos/:owner/:repo')) return method === 'GET' && signedIn !== true;
  return (
    !/\/(?:notifications|subscription|transfer|forks)\b/.test(path) ||
    (method === 'GET' && !path.includes('notifications'))
  );
}

/** Returns the path parameters if the path matches. A segment that cannot be decoded never matches. */
function match(parts: readonly string[], input: readonly string[]): Record<string, string> | undefined {
  const last = parts.at(-1) ?? '';
  // Segments after a wildcard match the end of the path.
  const open = parts.findIndex((part) => part.startsWith('*'));
  const tail = open < 0 ? 0 : parts.length - open - 1;
  if (tail > 0) {
    if (input.length < parts.length || parts.slice(-tail).some((part, index) => input.at(index - tail) !== part))
      return undefined;
    return match(parts.slice(0, -tail), input.slice(0, -tail));
  }
  const isOpen = last.startsWith('*');
  if (isOpen ? input.length < parts.length : input.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    if (part.startsWith('*')) {
      const rest = input.slice(index).map(decode);
      if (rest.includes(undefined)) return undefined;
      params[part.slice(1)] = rest.join('/');
      return params;
    }
    const text = input[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== text) return undefined;
      continue;
    }
    // `:index.diff` matches segments with this suffix.
    const dot = part.indexOf('.');
    const ending = dot < 0 ? '' : part.slice(dot);
    const value = text.endsWith(ending) ? decode(text.slice(0, text.length - ending.length)) : undefined;
    if (value === undefined || value === '') return undefined;
    params[part.slice(1, dot < 0 ? undefined : dot)] = value;
  }
  return params;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

async function send(response: ServerResponse, answer: Answer, headOnly: boolean): Promise<void> {
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (answer.send !== undefined) {
    response.statusCode = answer.status;
    if (headOnly) response.end();
    else await answer.send(response);
    return;
  }
  const body = answer.json === undefined ? answer.text : JSON.stringify(answer.json);
  if (answer.json !== undefined) response.setHeader('Content-Type', json);
  if (body !== undefined) response.setHeader('Content-Length', Buffer.byteLength(body));
  else if (answer.status !== 204) response.setHeader('Content-Length', 0);
  response.writeHead(answer.status);
  response.end(headOnly ? undefined : body);
}
