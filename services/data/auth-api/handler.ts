import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { isDisconnectError } from '../../kit/http/disconnect-signal.ts';
import type { Exchange, MountedApi } from '../http/exchange.ts';
import { getPublicDetail } from '../http/public-detail.ts';
import { AuthCall, type AuthResponse } from './http/auth-call.ts';
import { AuthError, formatAuthError } from './http/auth-error.ts';
import type { AuthDependencies } from './dependencies.ts';
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
import { authPrefix, getBaseUrl } from './site.ts';

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

type HandlerContext = Pick<Context, 'caller' | 'clock' | 'log' | 'publicUrl'>;

/** Creates the auth API, which is compatible with clients of Supabase Auth (GoTrue). */
export function createAuthApi(context: HandlerContext, parts: AuthDependencies): MountedApi {
  return {
    prefix: authPrefix,
    // Users open these paths from mails and in browsers, where no API key is sent.
    isOpen: (path) => /^\/(?:verify|callback|authorize|\.well-known\/[^/]*)\/?$/.test(path),
    async handle(exchange) {
      const { request, response } = exchange;
      response.setHeader('Vary', 'Origin');
      try {
        send(response, await handleCall(context, parts, exchange));
      } catch (error) {
        // The listener handles disconnects for all APIs.
        if (isDisconnectError(request, response, error)) throw error;
        const authError = toAuthError(context, error);
        parts.metrics.refusals.inc({ code: authError.errorCode });
        const version = request.headers['x-supabase-api-version'];
        const { status, headers, body } = formatAuthError(authError, typeof version === 'string' ? version : undefined);
        if (response.headersSent) return void response.destroy();
        if (!request.complete) response.setHeader('Connection', 'close');
        send(response, { status, headers: { ...authError.headers, ...headers }, body });
      }
    },
  };
}

async function handleCall(
  context: HandlerContext,
  parts: AuthDependencies,
  { request, path, query }: Exchange,
): Promise<AuthResponse> {
  const segments = splitPath(path);
  const candidates = routes.flatMap(([method, pattern, answer]) => {
    const wildcards = segments === undefined ? undefined : matchPath(splitPath(pattern) ?? [], segments);
    return wildcards === undefined ? [] : [{ method, answer, open: wildcards }];
  });
  const route = candidates.find(({ method }) => method === request.method);
  if (route === undefined && candidates.length > 0) return { status: 405 };
  if (route === undefined) {
    return { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: '404 page not found\n' };
  }
  const call = new AuthCall({
    request,
    query: new URLSearchParams(query),
    address: context.caller(request).remoteAddress,
    base: getBaseUrl(context, parts.settings, request),
    path: route.open,
    now: context.clock.now(),
  });
  return route.answer(parts, call);
}

/** Splits and decodes a path; undefined when it is not valid URL encoding. */
function splitPath(path: string): readonly string[] | undefined {
  try {
    return path
      .split('/')
      .filter((piece, index, all) => index > 0 && (piece !== '' || index < all.length - 1))
      .map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Matches a path and returns the segments for wildcards; undefined when it does not match. */
function matchPath(pattern: readonly string[], segments: readonly string[]): readonly string[] | undefined {
  if (pattern.length !== segments.length) return undefined;
  if (pattern.some((segment, index) => segment !== '*' && segment !== segments[index])) return undefined;
  return segments.filter((_, index) => pattern[index] === '*');
}

function toAuthError({ log }: HandlerContext, error: unknown): AuthError {
  if (error instanceof AuthError && error.status < 500) return error;
  // The value does not fit the type of a column, such as a number outside of its range.
  if (error instanceof pg.DatabaseError && /^22/.test(error.code ?? '')) {
    return new AuthError(400, 'validation_failed', 'A value is not valid');
  }
  if (error instanceof Problem && error.code === 'http.aborted') {
    return new AuthError(error.status, 'bad_json', error.detail);
  }
  log.error('auth request failed', { error });
  if (error instanceof AuthError) return error;
  if (!(error instanceof Problem))
    return new AuthError(
      500,
      'unexpected_failure',
      'Unexpected failure, please check server logs for more information',
    );
  const slug = error.status === 503 ? 'service_unavailable' : 'unexpected_failure';
  return new AuthError(error.status, slug, getPublicDetail(error));
}

function send(response: ServerResponse, { status, headers = {}, body }: AuthResponse): void {
  if (body === undefined) return void response.writeHead(status, headers).end();
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers })
    .end(text);
}
