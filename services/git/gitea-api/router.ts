import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { respondToError } from '../../kit/http/errors.ts';
import { addHeaders, sendReply, startResponse, type Reply } from '../../kit/http/respond.ts';
import { Router } from '../../kit/http/router.ts';
import type { Context } from '../../contracts/service.ts';
import type { Level } from '../repositories/access.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import type { Caller } from '../sign-in/caller.ts';
import { checkScope, type Answer, type Call, type Route } from './call.ts';
import { escapeMarkup } from '../../kit/escape-html.ts';

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
  readonly context: Pick<Context, 'log' | 'random'>;
  readonly signIn: SignIn;
  readonly findRenamed: FindRenamed;
  readonly level: GetLevel;
}

/** Answers the API below `/api/v1`. */
export class ApiRouter {
  readonly #context: Pick<Context, 'log' | 'random'>;
  readonly #signIn: SignIn;
  readonly #findRenamed: FindRenamed;
  readonly #level: GetLevel;
  readonly #router: Router<Route>;

  constructor({ context, signIn, findRenamed, level }: RouterDependencies, routes: readonly Route[]) {
    this.#context = context;
    this.#signIn = signIn;
    this.#findRenamed = findRenamed;
    this.#level = level;
    this.#router = new Router(routes);
  }

  async answer(request: IncomingMessage, response: ServerResponse, url: URL, base: string): Promise<void> {
    addHeaders(response, { 'Cache-Control': uncached });
    try {
      await this.#answer(request, response, url, base);
    } catch (error) {
      const render = (problem: Problem): Reply => renderProblem(problem, base);
      respondToError(request, response, error, { ...this.#context, code: 'git.failed', render });
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, url: URL, base: string): Promise<void> {
    const method = request.method ?? 'GET';
    const result = this.#router.find(method, url.pathname.slice(apiPrefix.length));
    if (result === undefined) throw new Problem('git.unknown', 404, 'not found');
    const { route, params } = result;
    const caller = await this.#signIn.authenticate(request, url.searchParams);
    if (caller.inAddress) addHeaders(response, { 'X-Gitea-Warning': deprecationWarning });
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
      const escaped = escapeMarkup(path).replaceAll('"', '&#34;');
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
    await sendAnswer(response, answer);
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
}

function renderProblem({ status, code, detail, headers }: Problem, base: string): Reply {
  const message = code === 'accounts.bad_credentials' ? 'invalid username, password or token' : detail;
  const body = JSON.stringify({ message, url: `${base}/api/swagger` });
  return { status, headers: { 'Content-Type': json, ...headers }, body };
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

/** Sends the answer of a route. */
export async function sendAnswer(response: ServerResponse, answer: Answer): Promise<void> {
  const { status, headers = {}, send } = answer;
  if (send !== undefined && response.req.method !== 'HEAD') {
    addHeaders(response, headers);
    response.statusCode = status;
    await send(response);
    return;
  }
  // The length of a body that is sent in parts is unknown.
  if (send !== undefined) {
    startResponse(response, status, headers);
    response.end();
    return;
  }
  const body = answer.json === undefined ? answer.text : JSON.stringify(answer.json);
  const type = answer.json === undefined ? {} : { 'Content-Type': json };
  sendReply(response, { status, headers: { ...headers, ...type }, body });
}
