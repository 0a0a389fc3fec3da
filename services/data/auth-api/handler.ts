import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Reply } from '../../kit/http/respond.ts';
import { Router } from '../../kit/http/router.ts';
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

const router = new Router<Route>([
  ...tokenRoutes,
  ...signupRoutes,
  ...userRoutes,
  ...verifyRoutes,
  ...mailRoutes,
  ...factorRoutes,
  ...adminUserRoutes,
  ...linkRoutes,
  ...publicRoutes,
]);

type HandlerContext = Pick<Context, 'caller' | 'clock' | 'log' | 'publicUrl'>;

/** Creates the auth API, which is compatible with clients of Supabase Auth (GoTrue). */
export function createAuthApi(context: HandlerContext, parts: AuthDependencies): MountedApi {
  return {
    prefix: authPrefix,
    // Users open these paths from mails and in browsers, where no API key is sent.
    isOpen: (path) => /^\/(?:verify|callback|authorize|\.well-known\/[^/]*)\/?$/.test(path),
    handle: async (exchange) => toReply(await handleCall(context, parts, exchange)),
    renderError(error, { request }) {
      const authError = toAuthError(context, error);
      parts.metrics.refusals.inc({ code: authError.errorCode });
      const version = request.headers['x-supabase-api-version'];
      const { status, headers, body } = formatAuthError(authError, typeof version === 'string' ? version : undefined);
      return toReply({ status, headers: { ...authError.headers, ...headers }, body });
    },
  };
}

async function handleCall(
  context: HandlerContext,
  parts: AuthDependencies,
  { request, path, query }: Exchange,
): Promise<AuthResponse> {
  const match = router.find(request.method ?? '', path);
  if (match === undefined) return answerUnmatched(path);
  const call = new AuthCall({
    request,
    query: new URLSearchParams(query),
    address: context.caller(request).remoteAddress,
    base: getBaseUrl(context, parts.settings, request),
    params: match.params,
    now: context.clock.now(),
  });
  return match.route.answer(parts, call);
}

function answerUnmatched(path: string): AuthResponse {
  if (router.getAllowedMethods(path).length > 0) return { status: 405 };
  return { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: '404 page not found\n' };
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

function toReply({ status, headers = {}, body }: AuthResponse): Reply {
  const common = { Vary: 'Origin', ...headers };
  if (body === undefined) return { status, headers: common };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: { 'content-type': 'application/json', ...common }, body: text };
}
