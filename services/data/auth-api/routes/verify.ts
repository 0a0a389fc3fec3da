import { isPhone } from '../domain/addresses.ts';
import { mergeMetadata } from '../domain/metadata.ts';
import { createOkResponse, type AuthResponse, type AuthCall } from '../http/auth-call.ts';
import { createValidationError, AuthError, createRateLimitError } from '../http/auth-error.ts';
import { findFlowMethod } from '../mail/requests.ts';
import { isSameSecret } from '../../../kit/same-secret.ts';
import { pkcePrefix } from '../one-time-tokens.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { parseEmail } from '../users/checks.ts';
import { finishEmailChange } from '../users/email-change.ts';
import { confirmEmail, isUnprovenSignUp } from '../users/new-user.ts';
import { isBanned, toMillis } from '../session/bearer.ts';
import { createSession, type SessionView } from '../session/issue.ts';
import { recordFailures } from '../session/security-events.ts';
import { getRedirectTarget } from '../site.ts';
import type { Sql } from '../store/database.ts';
import { issueCode } from '../store/flows.ts';
import {
  changeIdentity,
  changeUser,
  lockUser,
  findUserByEmail,
  findUserById,
  findUserByToken,
  findUserByEmailChange,
  type StoredUser,
} from '../store/users.ts';
import type { Route } from './route.ts';
import { checkRateLimit } from './signup.ts';

export const verifyRoutes: readonly Route[] = [
  { method: 'POST', path: '/verify', answer: postVerify },
  { method: 'GET', path: '/verify', answer: getVerify },
];

const firstConfirmationMessage = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';
const createExpiredCodeError = (): AuthError => new AuthError(403, 'otp_expired', 'Token has expired or is invalid');
const createExpiredLinkError = (): AuthError =>
  new AuthError(403, 'otp_expired', 'Email link is invalid or has expired');

/** Verified token with its user and effective type: `email` is replaced by the actual one. */
interface VerifiedToken {
  readonly user: StoredUser;
  readonly type: string;
  /** Token as stored in the table. */
  readonly hash: string;
}

/**
 * Token kinds of a verification type, likeliest first. Links for new and existing users prove the same, and programs
 * cannot tell which one a user received.
 */
const kinds: Readonly<Record<string, readonly Kind[]>> = {
  signup: ['confirmation', 'recovery'],
  magiclink: ['recovery', 'confirmation'],
  email: ['confirmation', 'recovery'],
  invite: ['confirmation'],
  recovery: ['recovery'],
  email_change: ['email_change'],
};

function getKinds(type: string): readonly Kind[] {
  const tokenKinds = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (tokenKinds === undefined) throw createValidationError('Invalid email verification type');
  return tokenKinds;
}

function getEffectiveType(requestedType: string, kind: Kind): string {
  if (kind === 'email_change') return kind;
  if (kind === 'confirmation') return requestedType === 'invite' ? requestedType : 'signup';
  return requestedType === 'recovery' ? requestedType : 'magiclink';
}

async function postVerify(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  checkRateLimit(deps, call, 'verify');
  const body = await call.body();
  const [type, token, hash] = [body.text('type'), body.text('token'), body.text('token_hash')];
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (type === '') throw createValidationError('Verify requires a verification type');
  if ((token === '') === (hash === '')) throw createValidationError('Verify requires either a token or a token hash');
  if (hash !== '' && (email !== '' || phone !== '' || body.text('redirect_to') !== '')) {
    throw createValidationError('Only the token_hash and type should be provided');
  }
  if (token !== '' && (email === '') === (phone === '')) {
    throw createValidationError('Only an email address or phone number should be provided on verify');
  }
  if (phone !== '')
    throw isPhone(phone)
      ? createExpiredCodeError()
      : createValidationError('Invalid phone number format (E.164 required)');
  const address = token === '' ? '' : parseEmail(email);
  return recordFailures(deps, call, { user: address === '' ? '-' : address, method: 'otp' }, () =>
    checkCode(deps, call, { type, token, hash, address }),
  );
}

async function checkCode(
  deps: AuthDependencies,
  call: AuthCall,
  { type, token, hash, address }: Readonly<Record<'type' | 'token' | 'hash' | 'address', string>>,
): Promise<AuthResponse> {
  if (address !== '' && !deps.protection.limits.mayTry('code', address, call.now)) throw createRateLimitError();
  if (address !== '') deps.protection.limits.addFailure('code', address, call.now);
  const session = await deps.database.transaction(async (sql) => {
    const verified =
      token === ''
        ? await findByHash(deps, sql, call, type, hash)
        : await findByCode(deps, sql, call, { type, address, token });
    const user = await applyToken(deps, sql, call, verified);
    return user === undefined ? undefined : createSession(deps, sql, call, user, 'otp');
  });
  if (address !== '') deps.protection.limits.clearFailures('code', address);
  return createOkResponse(session ?? { msg: firstConfirmationMessage, code: '200' });
}

/** Handles a link of a mail in a browser: it redirects with a session, a code or an error. */
async function getVerify(deps: AuthDependencies, call: AuthCall): Promise<AuthResponse> {
  checkRateLimit(deps, call, 'verify');
  const [type, token] = [call.query.get('type') ?? '', call.query.get('token') ?? call.query.get('token_hash') ?? ''];
  if (type === '') throw createValidationError('Verify requires a verification type');
  if (token === '') throw createValidationError('Verify requires a token or a token hash');
  const target = getRedirectTarget(deps, call);
  const usesPkce = token.startsWith(pkcePrefix);
  try {
    const open = async (sql: Sql): Promise<SessionView | string | undefined> => {
      const verified = await findByHash(deps, sql, call, type, token);
      const user = await applyToken(deps, sql, call, verified);
      if (user === undefined) return undefined;
      if (!usesPkce) return createSession(deps, sql, call, user, 'otp');
      const code = await issueCode(sql, user.id, findFlowMethod(verified.type) ?? '', call.now);
      if (code !== undefined) return code;
      throw new AuthError(
        400,
        'flow_state_not_found',
        'No associated flow state found. No valid flow state found for user.',
      );
    };
    const outcome = await recordFailures(deps, call, { user: '-', method: 'otp' }, () =>
      deps.database.transaction(open),
    );
    if (outcome === undefined) return redirectWith(target, { message: firstConfirmationMessage, sb: '' }, usesPkce);
    if (typeof outcome === 'string') {
      const url = new URL(target);
      url.searchParams.set('code', outcome);
      return redirect(url.href);
    }
    const { access_token, expires_at, expires_in, refresh_token, token_type } = outcome;
    const sessionFields = {
      access_token,
      expires_at: String(expires_at),
      expires_in: String(expires_in),
      refresh_token,
    };
    return redirect(`${target}#${new URLSearchParams({ ...sessionFields, sb: '', token_type, type }).toString()}`);
  } catch (error) {
    if (!(error instanceof AuthError) || error.status >= 500) throw error;
    const kind = { 400: 'invalid_request', 401: 'unauthorized_client', 403: 'access_denied' }[error.status];
    const fields = { error_code: error.errorCode, error_description: error.detail };
    return redirectWith(target, { ...(kind === undefined ? {} : { error: kind }), ...fields, sb: '' }, usesPkce);
  }
}

function redirectWith(target: string, fields: Readonly<Record<string, string>>, alsoInQuery: boolean): AuthResponse {
  const url = new URL(target);
  const { sb: _, ...query } = fields;
  if (alsoInQuery) for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const base = alsoInQuery ? url.href.split('#', 1)[0] : target.split('#', 1)[0];
  return redirect(`${base ?? ''}#${new URLSearchParams(fields).toString()}`);
}

function redirect(location: string): AuthResponse {
  const escaped = location.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`).replaceAll('&#38;', '&amp;');
  return {
    status: 303,
    headers: { location, 'content-type': 'text/html; charset=utf-8' },
    body: `<a href="${escaped}">See Other</a>.\n\n`,
  };
}

async function findByHash(
  deps: AuthDependencies,
  sql: Sql,
  call: AuthCall,
  type: string,
  hash: string,
): Promise<VerifiedToken> {
  for (const kind of getKinds(type)) {
    const candidate = await findUserByToken(sql, kind, hash);
    const user = candidate === undefined ? undefined : await lockUser(sql, candidate.id);
    // A concurrent request may have used the token while this one waited for the lock.
    if (user === undefined || !getTokens(user, kind).some((token) => isSameSecret(token, hash))) continue;
    if (isBanned(user, call.now)) throw new AuthError(403, 'user_banned', 'User is banned');
    if (!isFresh(deps, getSentAt(user, kind), call.now)) throw createExpiredLinkError();
    return { user, hash, type: getEffectiveType(type, kind) };
  }
  throw createExpiredLinkError();
}

async function findByCode(
  deps: AuthDependencies,
  sql: Sql,
  call: AuthCall,
  { type, address, token }: { readonly type: string; readonly address: string; readonly token: string },
): Promise<VerifiedToken> {
  const hash = deps.keys.hashCode(address, token);
  const candidate =
    type === 'email_change' ? await findUserByEmailChange(sql, address, hash) : await findUserByEmail(sql, address);
  const user = candidate === undefined ? undefined : await lockUser(sql, candidate.id);
  if (user === undefined) throw createExpiredCodeError();
  for (const kind of getKinds(type)) {
    const storedToken = getTokens(user, kind).find(
      (each) => isSameSecret(each, hash) || isSameSecret(each, pkcePrefix + hash),
    );
    if (storedToken === undefined || !isFresh(deps, getSentAt(user, kind), call.now)) continue;
    if (isBanned(user, call.now)) throw new AuthError(403, 'user_banned', 'User is banned');
    return { user, hash: storedToken, type: getEffectiveType(type, kind) };
  }
  throw createExpiredCodeError();
}

type Kind = 'confirmation' | 'recovery' | 'email_change';

function getTokens(user: StoredUser, kind: Kind): readonly string[] {
  const { confirmation_token, recovery_token, email_change_token_new, email_change_token_current } = user;
  const all = {
    confirmation: [confirmation_token],
    recovery: [recovery_token],
    email_change: [email_change_token_new, email_change_token_current],
  }[kind];
  return all.filter((token) => token !== null && token !== '') as string[];
}

function getSentAt(user: StoredUser, kind: Kind): string | null {
  return {
    confirmation: user.confirmation_sent_at,
    recovery: user.recovery_sent_at,
    email_change: user.email_change_sent_at,
  }[kind];
}

function isFresh({ protection: { timing } }: AuthDependencies, sent: string | null, now: number): boolean {
  return sent !== null && toMillis(sent) + timing.codeLifetimeMs >= now;
}

/** Applies a verified token. Returns undefined when the other address has to confirm as well. */
async function applyToken(
  { settings }: AuthDependencies,
  sql: Sql,
  { now }: AuthCall,
  { user, type, hash }: VerifiedToken,
): Promise<StoredUser | undefined> {
  if (type === 'email_change') {
    const needsBoth = !settings.autoconfirm && (user.email ?? '') !== '' && user.email_change_confirm_status === 0;
    if (!needsBoth) return finishEmailChange(sql, user, now);
    const usedColumn = user.email_change_token_new === hash ? 'email_change_token_new' : 'email_change_token_current';
    await changeUser(sql, user.id, { email_change_confirm_status: 1, [usedColumn]: '' }, now);
    return undefined;
  }
  if (type === 'signup' || type === 'invite') {
    const hasIdentity = user.identities.some(({ provider, email }) => provider === 'email' && email === user.email);
    if (hasIdentity) await changeIdentity(sql, user.id, { email_verified: true }, now);
    await confirmEmail(sql, user, now);
  } else {
    // A user who confirms by another way than the sign-up did not choose its password.
    const passwordReset = isUnprovenSignUp(user) ? { encrypted_password: null } : {};
    await changeUser(sql, user.id, { recovery_token: '', ...passwordReset }, now);
    if (user.email_confirmed_at === null) await confirmEmail(sql, user, now);
  }
  const updated = (await findUserById(sql, user.id)) ?? user;
  const providers = [...new Set(updated.identities.map(({ provider }) => provider))];
  const metadata = updated.raw_app_meta_data ?? {};
  const providerMetadata = { providers, ...(providers[0] === undefined ? {} : { provider: providers[0] }) };
  if (JSON.stringify(metadata['providers']) === JSON.stringify(providers) && metadata['provider'] === providers[0])
    return updated;
  return changeUser(sql, user.id, { raw_app_meta_data: mergeMetadata(metadata, providerMetadata) }, now);
}
