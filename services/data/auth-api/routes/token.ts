import { createOkResponse, type AuthResponse, type AuthCall } from '../http/auth-call.ts';
import { createValidationError, AuthError, createRateLimitError } from '../http/auth-error.ts';
import { verifyChallenge } from '../one-time-tokens.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { getWeakPassword } from '../users/checks.ts';
import { isBanned } from '../session/bearer.ts';
import { createSession } from '../session/issue.ts';
import { recordFailures } from '../session/security-events.ts';
import { refresh } from '../session/refresh.ts';
import { deleteFlow, flowExpiryMs, findFlow } from '../store/flows.ts';
import { findUserByEmail, findUserById } from '../store/users.ts';
import type { Route } from './route.ts';
import { checkRateLimit } from './signup.ts';

export const tokenRoutes: readonly Route[] = [{ method: 'POST', path: '/token', answer: postToken }];

const grants: Readonly<Record<string, (deps: AuthDependencies, call: AuthCall) => Promise<AuthResponse>>> = {
  password,
  refresh_token: async (deps, call) =>
    createOkResponse(await refresh(deps, call, (await call.body()).text('refresh_token'))),
  pkce,
  async id_token(_parts, call) {
    const provider = (await call.body()).text('provider');
    throw new AuthError(400, 'provider_disabled', `Provider (issuer "${provider}") is not enabled`);
  },
  async web3() {
    await Promise.resolve();
    throw new AuthError(422, 'web3_provider_disabled', 'Web3 provider is disabled');
  },
};

async function postToken(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  // A request without a grant type uses the password; Supabase Auth refuses it.
  const grantType = call.query.get('grant_type') ?? '';
  const grant = grantType === '' ? password : Object.hasOwn(grants, grantType) ? grants[grantType] : undefined;
  if (grant === undefined) throw new AuthError(400, 'invalid_credentials', 'unsupported_grant_type');
  checkRateLimit(deps, call, 'token');
  return grant(deps, call);
}

async function password(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const body = await call.body();
  const [email, phone, secret] = [body.text('email').toLowerCase(), body.text('phone'), body.text('password')];
  if (email !== '' && phone !== '') {
    throw createValidationError('Only an email address or phone number should be provided on login.');
  }
  if (phone !== '') throw new AuthError(422, 'phone_provider_disabled', 'Phone logins are disabled');
  if (email === '') throw createValidationError('missing email or phone');
  return recordFailures(deps, call, { user: email, method: 'password' }, () =>
    checkPassword(deps, call, email, secret),
  );
}

async function checkPassword(
  deps: AuthDependencies,
  call: AuthCall,
  email: string,
  secret: string,
): Promise<AuthResponse> {
  const { database, passwords } = deps;
  const { limits } = deps.protection;
  // Attempts are also limited by location: otherwise anyone could prevent a user from signing in.
  const [byLocation, byNetwork] = [`${email}\0${call.location}`, `${email}\0${call.network}`] as const;
  if (!limits.mayTry('password', byLocation, call.now) || !limits.mayTry('passwordBehind', byNetwork, call.now))
    throw createRateLimitError();
  // Pending attempts count as failed, so that parallel attempts are limited like sequential ones.
  limits.addFailure('password', byLocation, call.now);
  limits.addFailure('passwordBehind', byNetwork, call.now);
  const user = await findUserByEmail(database, email);
  const isCorrect = await passwords.verify(secret, user?.encrypted_password ?? null);
  // The response is the same for an unknown account and a wrong password.
  if (user === undefined || !isCorrect) throw new AuthError(400, 'invalid_credentials', 'Invalid login credentials');
  limits.clearFailures('password', byLocation);
  // A correct password does not reset the limits of other clients behind the address.
  limits.removeFailure('passwordBehind', byNetwork);
  if (isBanned(user, call.now)) throw new AuthError(400, 'user_banned', 'User is banned');
  if (user.email_confirmed_at === null) throw new AuthError(400, 'email_not_confirmed', 'Email not confirmed');
  const session = await database.transaction((sql) => createSession(deps, sql, call, user, 'password'));
  return createOkResponse({ ...session, weak_password: getWeakPassword(secret) });
}

async function pkce(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  const body = await call.body();
  const [code, verifier] = [body.text('auth_code'), body.text('code_verifier')];
  if (code === '' || verifier === '') {
    throw createValidationError('invalid request: both auth code and code verifier should be non-empty');
  }
  const session = await deps.database.transaction(async (sql) => {
    const flow = await findFlow(sql, code);
    const user = flow === undefined ? undefined : await findUserById(sql, flow.user_id);
    if (flow === undefined || user === undefined) {
      throw new AuthError(404, 'flow_state_not_found', 'invalid flow state, no valid flow state found');
    }
    if (flow.since + flowExpiryMs < call.now) {
      throw new AuthError(422, 'flow_state_expired', 'invalid flow state, flow state has expired');
    }
    if (!verifyChallenge(flow.code_challenge, flow.code_challenge_method, verifier)) {
      throw new AuthError(400, 'bad_code_verifier', 'code challenge does not match previously saved code verifier');
    }
    if (isBanned(user, call.now)) throw new AuthError(400, 'user_banned', 'User is banned');
    await deleteFlow(sql, flow.id);
    return createSession(deps, sql, call, user, flow.authentication_method);
  });
  return createOkResponse(session);
}
