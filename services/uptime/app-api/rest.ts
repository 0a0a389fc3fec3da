import express, { type ErrorRequestHandler, type Request, type Router } from 'express';
import { z } from 'zod';
import type { ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { ApiKeys } from '../store/api-keys.ts';
import { authenticateCaller, requireRight } from './sign-in.ts';

const maxBodySize = '20mb';
const prefix = '/api/uptime';

/** Converts a path of the app API into its path on the service's listener. */
export function toAppApiPath(path: string): string {
  return `/api${path.slice(prefix.length)}`;
}

/**
 * Serves the app API on the service's listener, for accounts and API keys. Errors have the format that clients of
 * Uptime Kuma expect.
 */
export function restRoutes(context: Context, keys: ApiKeys, handlers: readonly ApiHandler[]): Router {
  const router = express.Router();
  const json = express.json({ limit: maxBodySize, strict: false, type: () => true });
  // Literal path segments take precedence over parameters.
  const sorted = handlers.toSorted((a, b) => Number(a.route.path.includes(':')) - Number(b.route.path.includes(':')));
  for (const handler of sorted) {
    const { route } = handler;
    const method = route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
    router[method](toAppApiPath(route.path), ...(route.bytes === true ? [] : [json]), async (request, response) => {
      const caller = await authenticateCaller(context, keys, request);
      requireRight(caller, typeof route.access === 'object' ? route.access.permission : 'write');
      const reply = await handler.handle({
        params: getParams(request),
        query: parseInput(route.query, request.query),
        body: parseInput(route.body, request.body),
        ...(route.bytes === true ? { incoming: request } : {}),
        identity: caller.identity,
        rights: caller.rights,
        remoteAddress: context.caller(request).remoteAddress,
        userAgent: request.headers['user-agent'] ?? '',
        onLeave: (listener) => response.once('close', () => response.writableFinished || listener()),
        setHeader: (name, value) => void response.setHeader(name, value),
      });
      response.setHeader('Cache-Control', 'no-store');
      response.status(isCreation(route) ? 201 : 200).json(z.parse(route.reply, reply));
    });
  }
  return router;
}

/** Returns true for routes that create a resource. */
export function isCreation({ method, path }: ApiHandler['route']): boolean {
  return (
    method === 'POST' &&
    (/\/(monitors|docker-hosts|api-keys|status-pages|maintenances|tags)$/.test(path) || /:slug\/incidents$/.test(path))
  );
}

/** Renders errors as `{ok:false,msg,issues}`. */
export function renderProblem({ log, random }: Pick<Context, 'log' | 'random'>): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    if (response.headersSent) return next(error);
    const problem = toProblem(error, log, random);
    for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value);
    const issues = Object.entries(problem.fields).map(([path, message]) => ({ path: path.split('.'), message }));
    response.status(problem.status).json({
      ok: false,
      msg: problem.detail,
      ...(issues.length === 0 ? {} : { issues }),
    });
  };
}

/** Converts an error into a problem. Unexpected errors are logged under an ID, and only the ID is returned. */
export function toProblem(error: unknown, log: Context['log'], random: Context['random']): Problem {
  if (error instanceof Problem) return error;
  const status: unknown = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (status === 413) return new Problem('uptime.too_large', 413, 'The body is too large.');
  if (status === 415) {
    return new Problem('uptime.unsupported', 415, 'The encoding or character set of the body is not supported.');
  }
  if (status === 400) return new Problem('uptime.invalid', 400, 'The body is not valid JSON.');
  // Other errors of reading a request, such as an aborted upload.
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new Problem('uptime.invalid', status, 'The request could not be read.');
  }
  const id = random.text(8);
  log.error('request failed', { event: 'request_failed', id, error });
  return new Problem('uptime.failed', 500, `Something went wrong here. The log says more under ${id}.`);
}

function getParams({ params }: Request): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}

function parseInput(schema: z.core.$ZodType | undefined, input: unknown): unknown {
  if (schema === undefined) return undefined;
  const parsed = z.safeParse(schema, input ?? {});
  if (parsed.success) return parsed.data;
  const fields: Record<string, string> = {};
  for (const issue of parsed.error.issues) fields[issue.path.map(String).join('.')] ??= issue.message;
  const [first] = Object.entries(fields);
  const detail = first === undefined ? 'This is not valid.' : `${first[0] || 'body'}: ${first[1]}`;
  throw new Problem('uptime.invalid', 400, detail, { fields });
}
