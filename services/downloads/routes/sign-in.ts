import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';

/** Lets in accounts that may use the downloads; reading needs less than adding. */
export function signIn(context: Pick<Context, 'accounts' | 'caller'>): RequestHandler {
  return async (request, _response, next) => {
    if (request.method === 'OPTIONS') return next();
    const permission = request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write';
    await requireGrant(context, request, permission);
    next();
  };
}

/** @throws Problem 401 without an account, 403 without the grant */
export async function requireGrant(
  { accounts, caller }: Pick<Context, 'accounts' | 'caller'>,
  request: IncomingMessage,
  permission: 'read' | 'write',
): Promise<void> {
  const identity = await accounts.authenticate({
    authorization: request.headers.authorization,
    ...caller(request),
  });
  if (identity === undefined) {
    const headers = { 'WWW-Authenticate': 'Basic realm="Homeport", charset="UTF-8"' };
    throw new Problem('downloads.sign_in', 401, 'Sign in to use the downloads.', { headers });
  }
  if (!accounts.may(identity, 'downloads', permission, '*')) {
    throw new Problem('downloads.forbidden', 403, 'This account may not use the downloads.');
  }
}
