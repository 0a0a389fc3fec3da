import * as m from '#messages/uptime-problems';
import { z } from 'zod';
import type { ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { readJsonBody } from '../../kit/http/json-body.ts';
import type { Exchange, Route } from '../../kit/http/listener.ts';
import { toQueryObject } from '../../kit/http/query.ts';
import { jsonReply, type Reply } from '../../kit/http/respond.ts';
import type { ApiKeys } from '../store/api-keys.ts';
import { authenticateCaller, requireRight } from './sign-in.ts';

const maxBodyBytes = 20 * 1024 * 1024;
const prefix = '/api/uptime';

/** Converts a path of the app API into its path on the service's listener. */
export function toAppApiPath(path: string): string {
  return `/api${path.slice(prefix.length)}`;
}

/**
 * Returns the routes of the app API on the service's listener, for accounts and API keys. Errors have the format that
 * clients of Uptime Kuma expect.
 */
export function restRoutes(context: Context, keys: ApiKeys, handlers: readonly ApiHandler[]): readonly Route[] {
  return handlers.map((handler) => ({
    method: handler.route.method,
    path: toAppApiPath(handler.route.path),
    handle: (exchange) => handleCall(context, keys, handler, exchange),
  }));
}

async function handleCall(
  context: Context,
  keys: ApiKeys,
  handler: ApiHandler,
  { request, response, params, query }: Exchange,
): Promise<Reply> {
  const { route } = handler;
  const caller = await authenticateCaller(context, keys, request);
  requireRight(caller, typeof route.access === 'object' ? route.access.permission : 'write');
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' };
  const reply = await handler.handle({
    params,
    query: parseInput(route.query, toQueryObject(query)),
    body: route.bytes === true ? undefined : parseInput(route.body, await readJsonBody(request, maxBodyBytes)),
    ...(route.bytes === true ? { incoming: request } : {}),
    identity: caller.identity,
    rights: caller.rights,
    remoteAddress: context.caller(request).remoteAddress,
    userAgent: request.headers['user-agent'] ?? '',
    onLeave: (listener) => response.once('close', () => response.writableFinished || listener()),
    addHeader: (name, value) => void (headers[name] = value),
  });
  return jsonReply(isCreation(route) ? 201 : 200, z.parse(route.reply, reply), headers);
}

/** Returns true for routes that create a resource. */
export function isCreation({ method, path }: ApiHandler['route']): boolean {
  return (
    method === 'POST' &&
    (/\/(monitors|docker-hosts|proxies|api-keys|status-pages|maintenances|tags)$/.test(path) ||
      /:slug\/incidents$/.test(path))
  );
}

/** Renders a problem as `{ok:false,msg,issues}`. */
export function renderProblem({ status, detail, fields, headers }: Problem): Reply {
  const issues = Object.entries(fields).map(([path, message]) => ({ path: path.split('.'), message }));
  return jsonReply(status, { ok: false, msg: detail, ...(issues.length === 0 ? {} : { issues }) }, headers);
}

function parseInput(schema: z.core.$ZodType | undefined, input: unknown): unknown {
  if (schema === undefined) return undefined;
  const parsed = z.safeParse(schema, input ?? {});
  if (parsed.success) return parsed.data;
  const fields: Record<string, string> = {};
  for (const issue of parsed.error.issues) fields[issue.path.map(String).join('.')] ??= issue.message;
  const [first] = Object.entries(fields);
  const detail = first === undefined ? m.invalid() : m.fieldProblem({ field: first[0] || 'body', problem: first[1] });
  throw new Problem('uptime.invalid', 400, detail, { fields });
}
