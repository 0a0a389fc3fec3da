import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import type { Settings } from '../settings.ts';

type SignInContext = Pick<Context, 'accounts' | 'caller' | 'isLocalProgram'>;
type SignInSettings = Pick<Settings, 'requireSignIn' | 'trustLocalPrograms'>;

/**
 * Requires a sign-in with the permission to use the downloads; reading and adding are separate.
 * @throws Problem 401 without an account, 403 without the grant
 */
export async function checkSignIn(
  context: SignInContext,
  settings: SignInSettings,
  request: IncomingMessage,
): Promise<void> {
  if (!(await needsSignIn(context, settings, request))) return;
  await requireGrant(context, request, request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write');
}

/**
 * Returns whether a request requires an account. The gateway has already checked its requests; of the others, only those
 * of programs on this computer are accepted without a sign-in, which Homeport's own requests are not.
 */
async function needsSignIn(
  { isLocalProgram }: Pick<Context, 'isLocalProgram'>,
  settings: SignInSettings,
  request: IncomingMessage,
): Promise<boolean> {
  if (isSignInRequired(settings)) return true;
  return !isGatewayRequest(request) && !(await isLocalProgram(request));
}

/** Returns whether every client needs an account, also programs on this computer. */
function isSignInRequired({ requireSignIn, trustLocalPrograms }: SignInSettings): boolean {
  return requireSignIn || !trustLocalPrograms;
}

/**
 * Authorizes a live client, which reads only. Returns a check of whether it is still authorized.
 * @throws Problem 401 without an account, 403 without the grant
 */
export async function admitLiveClient(
  context: SignInContext,
  settings: SignInSettings,
  request: IncomingMessage,
): Promise<() => boolean> {
  if (!(await needsSignIn(context, settings, request))) return () => !isSignInRequired(settings);
  const identity = await requireGrant(context, request, 'read');
  return () => context.accounts.may(identity, 'downloads', 'read', '*');
}

/** @throws Problem 401 without an account, 403 without the grant */
async function requireGrant(
  { accounts, caller }: Pick<Context, 'accounts' | 'caller'>,
  request: IncomingMessage,
  permission: 'read' | 'write',
): Promise<Identity> {
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
  return identity;
}
