import * as m from '#messages/host-problems';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Accounts, Identity } from '../../../services/contracts/control/accounts.ts';
import {
  BytesReply,
  FileReply,
  fileReply,
  StreamReply,
  type ApiHandler,
  type ApiRequest,
  type ApiRoute,
} from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { NeededGrant, Rights } from '../../../services/contracts/route-access.ts';
import type { Context, Log } from '../../../services/contracts/service.ts';
import { parseSessionLink, findSessionSecret, type SessionLink } from '../../../services/contracts/session.ts';
import { getRemoteAddress } from './access.ts';
import { readJson } from './body.ts';
import { addContentLanguage } from './content-language.ts';
import { negotiateRequestLanguage, runInLanguage } from '../../../services/kit/language.ts';
import { getPath } from '../../../services/kit/http/errors.ts';
import { privateHeaders, sendProblem, toHostProblem } from './problem-reply.ts';
import '../runtime/plain-issues.ts';
import { requestSignal } from '../runtime/request-signal.ts';
import { sendBytes, sendFile, sendStream } from './send-file.ts';
import { toQueryObject } from '../../../services/kit/http/query.ts';
import { addHeaders, jsonReply, sendReply } from '../../../services/kit/http/respond.ts';
import { ApiRoutes, buildUnknownPathProblem } from './route-match.ts';

export interface ApiRouterOptions {
  /** Called for each request, since services start and stop. */
  readonly handlers: () => readonly ApiHandler[];
  /** Loads the service of a path, so that its handlers are among {@link handlers}. */
  readonly load?: (path: string) => Promise<void>;
  readonly accounts: Pick<Accounts, 'authenticate' | 'may'>;
  /** Returns the origin of a request. */
  readonly caller: Context['caller'];
  readonly log: Log;
  /** Maximum size of a JSON body. Default 1 MiB. */
  readonly maxBytes?: number;
}

type Route = ApiRoute<unknown, unknown, unknown>;

/**
 * Creates the handler of the app API from routes declared as data. Responses are JSON, except for routes that reply
 * with a file; errors have the form of `ApiError` in the contracts. Runs behind a listener's guard.
 */
export function createApiRouter(options: ApiRouterOptions): RequestListener {
  const { log } = options;
  const routes = new ApiRoutes(options.handlers);
  return (request, response) => {
    const language = negotiateRequestLanguage(request.headers['accept-language']);
    void runInLanguage(language, async () => {
      try {
        await respond(request, response, routes, options);
      } catch (error) {
        // The client has disconnected and its queries were cancelled.
        if (response.closed && error instanceof Error && error.name === 'AbortError') return;
        sendProblem(response, toHostProblem(error, log, { method: request.method, path: getPath(request) }));
      }
    });
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  routes: ApiRoutes,
  options: ApiRouterOptions,
): Promise<void> {
  const [target = '', query = ''] = splitTarget(request.url ?? '');
  const { path, link } = parseSessionLink(target);
  await options.load?.(path);
  const { handler, params } = routes.find(request.method ?? 'GET', path);
  const route: Route = handler.route;
  // A link replaces a sign-in only on routes that read a file.
  if (link !== undefined && (route.method !== 'GET' || route.reply !== fileReply)) throw buildUnknownPathProblem();
  const identity = await authenticate(request, route, link, options);
  const rights = getRights(identity, options.accounts);
  checkAccess(route, identity, rights, params);
  const requested: ApiRequest<unknown, unknown> = {
    params,
    query: parseInput(route.query, toQueryObject(new URLSearchParams(query)), 'query'),
    body:
      route.body === undefined
        ? undefined
        : parseInput(route.body, await readJson(request, options.maxBytes ?? 1024 * 1024), 'body'),
    ...(route.bytes === true ? { incoming: request } : {}),
    identity,
    rights,
    remoteAddress: getRemoteAddress(request),
    origin: request.headers.origin,
    userAgent: (request.headers['user-agent'] ?? '').slice(0, 512),
    onLeave: (listener) => response.once('close', () => response.writableFinished || listener()),
    addHeader: (name, value) => addHeaders(response, { [name]: value }),
  };
  const reply = await (route.method === 'GET'
    ? cancelOnDisconnect(response, () => handler.handle(requested))
    : handler.handle(requested));
  const checked = checkReply(route, reply);
  addContentLanguage(response);
  if (checked instanceof FileReply) await sendFile(request, response, checked).finally(checked.sent);
  else if (checked instanceof BytesReply) sendBytes(response, checked);
  else if (checked instanceof StreamReply) await sendStream(request, response, checked);
  else sendJson(response, checked);
}

/** Cancels queries when the client disconnects. */
async function cancelOnDisconnect(response: ServerResponse, work: () => Promise<unknown>): Promise<unknown> {
  const disconnected = new AbortController();
  const onDisconnect = (): void => disconnected.abort();
  response.once('close', onDisconnect);
  try {
    return await requestSignal.run(disconnected.signal, work);
  } finally {
    response.off('close', onDisconnect);
  }
}

function splitTarget(url: string): [string, string] {
  const end = url.indexOf('?');
  return end < 0 ? [url, ''] : [url.slice(0, end), url.slice(end + 1)];
}

/** Returns the identity of the caller, or throws. */
async function authenticate(
  request: IncomingMessage,
  route: Route,
  link: SessionLink | undefined,
  { accounts, caller }: ApiRouterOptions,
): Promise<Identity | undefined> {
  const { authorization } = request.headers;
  let identity: Identity | undefined;
  try {
    identity = await accounts.authenticate({
      authorization,
      session: findSessionSecret(request),
      link,
      forEnrollment: true,
      ...caller(request),
    });
  } catch (error) {
    // Invalid credentials must not prevent a sign-in.
    if (route.access !== 'public' || !(error instanceof Problem) || error.status >= 500) throw error;
  }
  if (identity?.needsEnrollment === true && route.duringEnrollment !== true) {
    if (route.access === 'public') return undefined;
    throw buildEnrollmentProblem();
  }
  if (route.access === 'public') return identity;
  if (identity === undefined) {
    throw new Problem('api.sign_in', 401, m.signInNeeded(), {
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  return identity;
}

/** Refuses a session that must enrol a required second factor first. */
function buildEnrollmentProblem(): Problem {
  const detail = m.twoStepNeeded();
  return new Problem('accounts.second_factor_required', 403, detail);
}

function getRights(identity: Identity | undefined, accounts: ApiRouterOptions['accounts']): Rights {
  return {
    all: identity?.role === 'admin',
    may: (service, permission, resource) => accounts.may(identity, service, permission, resource),
  };
}

/** @throws Problem 403 unless the caller may use the route. Routes without declared access are refused. */
function checkAccess(
  { access }: Route,
  identity: Identity | undefined,
  rights: Rights,
  params: Readonly<Record<string, string>>,
): void {
  if (access === 'public' || identity?.role === 'admin') return;
  if (identity?.kind !== 'person') {
    throw new Problem('api.people_only', 403, m.serviceAccountRefused());
  }
  if (access === 'user' || access === 'objects') {
    if (identity.limited !== true) return;
    throw new Problem('api.limited_token', 403, m.tokenLimited());
  }
  if (access === 'admin') throw new Problem('api.admin_only', 403, m.administratorsOnly());
  requireGrant(access, rights, params);
}

function requireGrant(needed: NeededGrant, rights: Rights, params: Readonly<Record<string, string>>): void {
  const { service, permission } = needed;
  const resource = needed.resource.startsWith(':') ? (params[needed.resource.slice(1)] ?? '') : needed.resource;
  if (rights.may(service, permission, resource)) return;
  throw new Problem(`${service}.forbidden`, 403, formatMissingGrant(service, permission, resource));
}

function formatMissingGrant(service: string, permission: NeededGrant['permission'], resource: string): string {
  if (resource === '*') {
    return permission === 'read' ? m.accessRefusedServiceRead({ service }) : m.accessRefusedServiceWrite({ service });
  }
  return permission === 'read' ? m.accessRefusedRead({ resource }) : m.accessRefusedWrite({ resource });
}

function parseInput(schema: z.core.$ZodType | undefined, input: unknown, where: 'query' | 'body'): unknown {
  if (schema === undefined) return undefined;
  const parsed = z.safeParse(schema, input);
  if (parsed.success) return parsed.data;
  const fields: Record<string, string> = {};
  for (const issue of parsed.error.issues) fields[issue.path.map(String).join('.') || where] ??= issue.message;
  const first = Object.entries(fields)[0];
  throw new Problem(
    'api.invalid',
    422,
    first === undefined ? m.requestInvalid() : m.fieldInvalid({ field: first[0], reason: first[1] }),
    { fields },
  );
}

/**
 * Parsing the reply also removes fields that the schema does not name, so that no database column is exposed by
 * accident.
 */
function checkReply(route: Route, reply: unknown): unknown {
  const parsed = z.safeParse(route.reply, reply);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const at = issue?.path.map(String).join('.') || 'reply';
  const error = new Error(
    `The reply of ${route.method} ${route.path} does not fit its schema at ${at}: ${issue?.message ?? 'unknown'}`,
  );
  if (process.env['NODE_ENV'] === 'production') throw error;
  throw new Problem('api.bad_reply', 500, error.message, { cause: error });
}

function sendJson(response: ServerResponse, value: unknown): void {
  const isEmpty = value === undefined;
  sendReply(response, isEmpty ? { status: 204, headers: privateHeaders } : jsonReply(200, value, privateHeaders));
}
