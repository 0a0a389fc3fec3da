import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { isDisconnectError } from '../../kit/disconnect-signal.ts';
import type { Exchange, Part } from '../http/exchange.ts';
import { publicDetail } from '../http/public-detail.ts';
import { Call, type Answer } from './http/auth-call.ts';
import { Refusal, renderRefusal } from './http/auth-error.ts';
import type { AuthParts } from './dependencies.ts';
import { adminUserRoutes } from './routes/admin-users.ts';
import { factorRoutes } from './routes/factors.ts';
import { linkRoutes } from './routes/links.ts';
import { mailRoutes } from './routes/mails.ts';
import { publicRoutes } from './routes/public.ts';
import type { Route } from './routes/route.ts';
import { signupRoutes } from './routes/signup.ts';
import { tokenRoutes } from './routes/token.ts';
import { userRoutes } from './routes/user.ts';
import { verifyRoutes } from './routes/verify.ts';
import { authPrefix, baseOf } from './site.ts';

const routes: readonly (Route & readonly unknown[])[] = [
  ...tokenRoutes,
  ...signupRoutes,
  ...userRoutes,
  ...verifyRoutes,
  ...mailRoutes,
  ...factorRoutes,
  ...adminUserRoutes,
  ...linkRoutes,
  ...publicRoutes,
];

type Given = Pick<Context, 'caller' | 'clock' | 'log' | 'publicUrl'>;

/** Creates the auth API, which is compatible with clients of Supabase Auth (GoTrue). */
export function authPart(context: Given, parts: AuthParts): Part {
  return {
    prefix: authPrefix,
    // Users open these paths from mails and in browsers, where no API key is sent.
    isOpen: (path) => /^\/(?:verify|callback|authorize|\.well-known\/[^/]*)\/?$/.test(path),
    async handle(exchange) {
      const { request, response } = exchange;
      response.setHeader('Vary', 'Origin');
      try {
        send(response, await answerOf(context, parts, exchange));
      } catch (error) {
        // The listener handles disconnects for all APIs.
        if (isDisconnectError(request, response, error)) throw error;
        const refusal = refusalOf(context, error);
        parts.metrics.refusals.inc({ code: refusal.slug });
        const version = request.headers['x-supabase-api-version'];
        const { status, headers, body } = renderRefusal(refusal, typeof version === 'string' ? version : undefined);
        if (response.headersSent) return void response.destroy();
        if (!request.complete) response.setHeader('Connection', 'close');
        send(response, { status, headers: { ...refusal.headers, ...headers }, body });
      }
    },
  };
}

async function answerOf(context: Given, parts: AuthParts, { request, path, query }: Exchange): Promise<Answer> {
  const pieces = split(path);
  const found = routes.flatMap(([method, pattern, answer]) => {
    const open = pieces === undefined ? undefined : fit(split(pattern) ?? [], pieces);
    return open === undefined ? [] : [{ method, answer, open }];
  });
  const route = found.find(({ method }) => method === request.method);
  if (route === undefined && found.length > 0) return { status: 405 };
  if (route === undefined) {
    return { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: '404 page not found\n' };
  }
  const call = new Call({
    request,
    query: new URLSearchParams(query),
    address: context.caller(request).remoteAddress,
    base: baseOf(context, parts.settings, request),
    path: route.open,
    now: context.clock.now(),
  });
  return route.answer(parts, call);
}

/** Splits and decodes a path; undefined when it is not valid URL encoding. */
function split(path: string): readonly string[] | undefined {
  try {
    return path
      .split('/')
      .filter((piece, at, all) => at > 0 && (piece !== '' || at < all.length - 1))
      .map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Matches a path and returns the segments for wildcards; undefined when it does not match. */
function fit(pattern: readonly string[], pieces: readonly string[]): readonly string[] | undefined {
  if (pattern.length !== pieces.length) return undefined;
  if (pattern.some((wanted, at) => wanted !== '*' && wanted !== pieces[at])) return undefined;
  return pieces.filter((_, at) => pattern[at] === '*');
}

function refusalOf({ log }: Given, error: unknown): Refusal {
  if (error instanceof Refusal && error.status < 500) return error;
  // The value does not fit the type of a column, such as a number outside of its range.
  if (error instanceof pg.DatabaseError && /^22/.test(error.code ?? '')) {
    return new Refusal(400, 'validation_failed', 'A value is not valid');
  }
  if (error instanceof Problem && error.code === 'http.aborted') {
    return new Refusal(error.status, 'bad_json', error.detail);
  }
  log.error('auth request failed', { error });
  if (error instanceof Refusal) return error;
  if (!(error instanceof Problem))
    return new Refusal(500, 'unexpected_failure', 'Unexpected failure, please check server logs for more information');
  const slug = error.status === 503 ? 'service_unavailable' : 'unexpected_failure';
  return new Refusal(error.status, slug, publicDetail(error));
}

function send(response: ServerResponse, { status, headers = {}, body }: Answer): void {
  if (body === undefined) return void response.writeHead(status, headers).end();
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers })
    .end(text);
}
