import { ok, type Answer, type Call } from '../http/auth-call.ts';
import { invalid, Refusal, tooMany } from '../http/auth-error.ts';
import { fitsChallenge } from '../one-time-tokens.ts';
import type { AuthParts } from '../dependencies.ts';
import { weaknessOf } from '../users/checks.ts';
import { isBanned } from '../session/bearer.ts';
import { beginSession } from '../session/issue.ts';
import { recordFailures } from '../session/security-events.ts';
import { refresh } from '../session/refresh.ts';
import { deleteFlow, flowExpiryMs, flowOfCode } from '../store/flows.ts';
import { userByEmail, userById } from '../store/users.ts';
import type { Route } from './route.ts';
import { limit } from './signup.ts';

export const tokenRoutes: readonly Route[] = [['POST', '/token', postToken]];

const grants: Readonly<Record<string, (parts: AuthParts, call: Call) => Promise<Answer>>> = {
  password,
  refresh_token: async (parts, call) => ok(await refresh(parts, call, (await call.body()).text('refresh_token'))),
  pkce,
  async id_token(_parts, call) {
    const provider = (await call.body()).text('provider');
    throw new Refusal(400, 'provider_disabled', `Provider (issuer "${provider}") is not enabled`);
  },
  async web3() {
    await Promise.resolve();
    throw new Refusal(422, 'web3_provider_disabled', 'Web3 provider is disabled');
  },
};

async function postToken(parts: AuthParts, call: Call): Promise<Answer> {
  // A request without a grant type uses the password; Supabase Auth refuses it.
  const asked = call.query.get('grant_type') ?? '';
  const grant = asked === '' ? password : Object.hasOwn(grants, asked) ? grants[asked] : undefined;
  if (grant === undefined) throw new Refusal(400, 'invalid_credentials', 'unsupported_grant_type');
  limit(parts, call, 'token');
  return grant(parts, call);
}

async function password(parts: AuthParts, call: Call): Promise<Answer> {
  const body = await call.body();
  const [email, phone, secret] = [body.text('email').toLowerCase(), body.text('phone'), body.text('password')];
  if (email !== '' && phone !== '') {
    throw invalid('Only an email address or phone number should be provided on login.');
  }
  if (phone !== '') throw new Refusal(422, 'phone_provider_disabled', 'Phone logins are disabled');
  if (email === '') throw invalid('missing email or phone');
  return recordFailures(parts, call, { user: email, method: 'password' }, () =>
    checkPassword(parts, call, email, secret),
  );
}

async function checkPassword(parts: AuthParts, call: Call, email: string, secret: string): Promise<Answer> {
  const { database, limits, passwords } = parts;
  // Attempts are also limited by location: otherwise anyone could prevent a user from signing in.
  const [place, behind] = [`${email}\0${call.place}`, `${email}\0${call.network}`] as const;
  if (!limits.mayTry('password', place, call.now) || !limits.mayTry('passwordBehind', behind, call.now))
    throw tooMany();
  // Pending attempts count as failed, so that parallel attempts are limited like sequential ones.
  limits.failed('password', place, call.now);
  limits.failed('passwordBehind', behind, call.now);
  const user = await userByEmail(database, email);
  const right = await passwords.verify(secret, user?.encrypted_password ?? null);
  // The response is the same for an unknown account and a wrong password.
  if (user === undefined || !right) throw new Refusal(400, 'invalid_credentials', 'Invalid login credentials');
  limits.succeeded('password', place);
  // A correct password says nothing about other clients behind the address.
  limits.forgive('passwordBehind', behind);
  if (isBanned(user, call.now)) throw new Refusal(400, 'user_banned', 'User is banned');
  if (user.email_confirmed_at === null) throw new Refusal(400, 'email_not_confirmed', 'Email not confirmed');
  const session = await database.transaction((sql) => beginSession(parts, sql, call, user, 'password'));
  return ok({ ...session, weak_password: weaknessOf(secret) });
}

async function pkce(parts: AuthParts, call: Call): Promise<Answer> {
  const body = await call.body();
  const [code, verifier] = [body.text('auth_code'), body.text('code_verifier')];
  if (code === '' || verifier === '') {
    throw invalid('invalid request: both auth code and code verifier should be non-empty');
  }
  const session = await parts.database.transaction(async (sql) => {
    const flow = await flowOfCode(sql, code);
    const user = flow === undefined ? undefined : await userById(sql, flow.user_id);
    if (flow === undefined || user === undefined) {
      throw new Refusal(404, 'flow_state_not_found', 'invalid flow state, no valid flow state found');
    }
    if (flow.since + flowExpiryMs < call.now) {
      throw new Refusal(422, 'flow_state_expired', 'invalid flow state, flow state has expired');
    }
    if (!fitsChallenge(flow.code_challenge, flow.code_challenge_method, verifier)) {
      throw new Refusal(400, 'bad_code_verifier', 'code challenge does not match previously saved code verifier');
    }
    if (isBanned(user, call.now)) throw new Refusal(400, 'user_banned', 'User is banned');
    await deleteFlow(sql, flow.id);
    return beginSession(parts, sql, call, user, flow.authentication_method);
  });
  return ok(session);
}
