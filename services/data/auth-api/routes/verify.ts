import { isPhone } from '../domain/addresses.ts';
import { merged } from '../domain/metadata.ts';
import { ok, type Answer, type Call } from '../http/auth-call.ts';
import { invalid, Refusal, tooMany } from '../http/auth-error.ts';
import { flowMethod } from '../mail/requests.ts';
import { isSameSecret } from '../../../kit/same-secret.ts';
import { pkcePrefix } from '../one-time-tokens.ts';
import type { AuthParts } from '../dependencies.ts';
import { checkedEmail } from '../users/checks.ts';
import { finishEmailChange } from '../users/email-change.ts';
import { confirmEmail, isUnprovenSignUp } from '../users/new-user.ts';
import { isBanned, millis } from '../session/bearer.ts';
import { beginSession, type SessionView } from '../session/issue.ts';
import { recordFailures } from '../session/security-events.ts';
import { redirectOf } from '../site.ts';
import type { Sql } from '../store/database.ts';
import { issueCode } from '../store/flows.ts';
import {
  changeIdentity,
  changeUser,
  lockedUser,
  userByEmail,
  userById,
  userByToken,
  userChangingEmail,
  type StoredUser,
} from '../store/users.ts';
import type { Route } from './route.ts';
import { limit } from './signup.ts';

export const verifyRoutes: readonly Route[] = [
  ['POST', '/verify', postVerify],
  ['GET', '/verify', getVerify],
];

const oneOfTwo = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';
const expiredCode = (): Refusal => new Refusal(403, 'otp_expired', 'Token has expired or is invalid');
const expiredLink = (): Refusal => new Refusal(403, 'otp_expired', 'Email link is invalid or has expired');

/** Verified token with its user and effective type: `email` is replaced by the actual one. */
interface Proven {
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

function kindsOf(type: string): readonly Kind[] {
  const wanted = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (wanted === undefined) throw invalid('Invalid email verification type');
  return wanted;
}

function provenType(asked: string, kind: Kind): string {
  if (kind === 'email_change') return kind;
  if (kind === 'confirmation') return asked === 'invite' ? asked : 'signup';
  return asked === 'recovery' ? asked : 'magiclink';
}

async function postVerify(parts: AuthParts, call: Call): Promise<Answer> {
  limit(parts, call, 'verify');
  const body = await call.body();
  const [type, token, hash] = [body.text('type'), body.text('token'), body.text('token_hash')];
  const [email, phone] = [body.text('email'), body.text('phone')];
  if (type === '') throw invalid('Verify requires a verification type');
  if ((token === '') === (hash === '')) throw invalid('Verify requires either a token or a token hash');
  if (hash !== '' && (email !== '' || phone !== '' || body.text('redirect_to') !== '')) {
    throw invalid('Only the token_hash and type should be provided');
  }
  if (token !== '' && (email === '') === (phone === '')) {
    throw invalid('Only an email address or phone number should be provided on verify');
  }
  if (phone !== '') throw isPhone(phone) ? expiredCode() : invalid('Invalid phone number format (E.164 required)');
  const address = token === '' ? '' : checkedEmail(email);
  return recordFailures(parts, call, { user: address === '' ? '-' : address, method: 'otp' }, () =>
    checkCode(parts, call, { type, token, hash, address }),
  );
}

async function checkCode(
  parts: AuthParts,
  call: Call,
  { type, token, hash, address }: Readonly<Record<'type' | 'token' | 'hash' | 'address', string>>,
): Promise<Answer> {
  if (address !== '' && !parts.limits.mayTry('code', address, call.now)) throw tooMany();
  if (address !== '') parts.limits.failed('code', address, call.now);
  const session = await parts.database.transaction(async (sql) => {
    const proven =
      token === ''
        ? await byHash(parts, sql, call, type, hash)
        : await byCode(parts, sql, call, { type, address, token });
    const user = await takeProof(parts, sql, call, proven);
    return user === undefined ? undefined : beginSession(parts, sql, call, user, 'otp');
  });
  if (address !== '') parts.limits.succeeded('code', address);
  return ok(session ?? { msg: oneOfTwo, code: '200' });
}

/** Handles a link of a mail in a browser: it redirects with a session, a code or an error. */
async function getVerify(parts: AuthParts, call: Call): Promise<Answer> {
  limit(parts, call, 'verify');
  const [type, token] = [call.query.get('type') ?? '', call.query.get('token') ?? call.query.get('token_hash') ?? ''];
  if (type === '') throw invalid('Verify requires a verification type');
  if (token === '') throw invalid('Verify requires a token or a token hash');
  const target = redirectOf(parts, call);
  const byCodes = token.startsWith(pkcePrefix);
  try {
    const open = async (sql: Sql): Promise<SessionView | string | undefined> => {
      const proven = await byHash(parts, sql, call, type, token);
      const user = await takeProof(parts, sql, call, proven);
      if (user === undefined) return undefined;
      if (!byCodes) return beginSession(parts, sql, call, user, 'otp');
      const code = await issueCode(sql, user.id, flowMethod(proven.type) ?? '', call.now);
      if (code !== undefined) return code;
      throw new Refusal(
        400,
        'flow_state_not_found',
        'No associated flow state found. No valid flow state found for user.',
      );
    };
    const outcome = await recordFailures(parts, call, { user: '-', method: 'otp' }, () =>
      parts.database.transaction(open),
    );
    if (outcome === undefined) return ledOn(target, { message: oneOfTwo, sb: '' }, byCodes);
    if (typeof outcome === 'string') {
      const url = new URL(target);
      url.searchParams.set('code', outcome);
      return redirect(url.href);
    }
    const { access_token, expires_at, expires_in, refresh_token, token_type } = outcome;
    const told = { access_token, expires_at: String(expires_at), expires_in: String(expires_in), refresh_token };
    return redirect(`${target}#${new URLSearchParams({ ...told, sb: '', token_type, type }).toString()}`);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error;
    const kind = { 400: 'invalid_request', 401: 'unauthorized_client', 403: 'access_denied' }[error.status];
    const words = { error_code: error.slug, error_description: error.detail };
    return ledOn(target, { ...(kind === undefined ? {} : { error: kind }), ...words, sb: '' }, byCodes);
  }
}

function ledOn(target: string, words: Readonly<Record<string, string>>, alsoInQuery: boolean): Answer {
  const url = new URL(target);
  const { sb: _, ...query } = words;
  if (alsoInQuery) for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const base = alsoInQuery ? url.href.split('#', 1)[0] : target.split('#', 1)[0];
  return redirect(`${base ?? ''}#${new URLSearchParams(words).toString()}`);
}

function redirect(location: string): Answer {
  const shown = location.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`).replaceAll('&#38;', '&amp;');
  return {
    status: 303,
    headers: { location, 'content-type': 'text/html; charset=utf-8' },
    body: `<a href="${shown}">See Other</a>.\n\n`,
  };
}

async function byHash(parts: AuthParts, sql: Sql, call: Call, type: string, hash: string): Promise<Proven> {
  for (const kind of kindsOf(type)) {
    const found = await userByToken(sql, kind, hash);
    const user = found === undefined ? undefined : await lockedUser(sql, found.id);
    // A concurrent request may have used the token while this one waited for the lock.
    if (user === undefined || !tokensOf(user, kind).some((token) => isSameSecret(token, hash))) continue;
    if (isBanned(user, call.now)) throw new Refusal(403, 'user_banned', 'User is banned');
    if (!isFresh(parts, sentAt(user, kind), call.now)) throw expiredLink();
    return { user, hash, type: provenType(type, kind) };
  }
  throw expiredLink();
}

async function byCode(
  parts: AuthParts,
  sql: Sql,
  call: Call,
  { type, address, token }: { readonly type: string; readonly address: string; readonly token: string },
): Promise<Proven> {
  const hash = parts.keys.codeHash(address, token);
  const found = type === 'email_change' ? await userChangingEmail(sql, address, hash) : await userByEmail(sql, address);
  const user = found === undefined ? undefined : await lockedUser(sql, found.id);
  if (user === undefined) throw expiredCode();
  for (const kind of kindsOf(type)) {
    const right = tokensOf(user, kind).find(
      (each) => isSameSecret(each, hash) || isSameSecret(each, pkcePrefix + hash),
    );
    if (right === undefined || !isFresh(parts, sentAt(user, kind), call.now)) continue;
    if (isBanned(user, call.now)) throw new Refusal(403, 'user_banned', 'User is banned');
    return { user, hash: right, type: provenType(type, kind) };
  }
  throw expiredCode();
}

type Kind = 'confirmation' | 'recovery' | 'email_change';

function tokensOf(user: StoredUser, kind: Kind): readonly string[] {
  const { confirmation_token, recovery_token, email_change_token_new, email_change_token_current } = user;
  const all = {
    confirmation: [confirmation_token],
    recovery: [recovery_token],
    email_change: [email_change_token_new, email_change_token_current],
  }[kind];
  return all.filter((token) => token !== null && token !== '') as string[];
}

function sentAt(user: StoredUser, kind: Kind): string | null {
  return {
    confirmation: user.confirmation_sent_at,
    recovery: user.recovery_sent_at,
    email_change: user.email_change_sent_at,
  }[kind];
}

function isFresh({ timing }: AuthParts, sent: string | null, now: number): boolean {
  return sent !== null && millis(sent) + timing.codeMs >= now;
}

/** Applies a verified token. Returns undefined when the other address has to confirm as well. */
async function takeProof(
  { settings }: AuthParts,
  sql: Sql,
  { now }: Call,
  { user, type, hash }: Proven,
): Promise<StoredUser | undefined> {
  if (type === 'email_change') {
    const needsBoth = !settings.autoconfirm && (user.email ?? '') !== '' && user.email_change_confirm_status === 0;
    if (!needsBoth) return finishEmailChange(sql, user, now);
    const taken = user.email_change_token_new === hash ? 'email_change_token_new' : 'email_change_token_current';
    await changeUser(sql, user.id, { email_change_confirm_status: 1, [taken]: '' }, now);
    return undefined;
  }
  if (type === 'signup' || type === 'invite') {
    const known = user.identities.some(({ provider, email }) => provider === 'email' && email === user.email);
    if (known) await changeIdentity(sql, user.id, { email_verified: true }, now);
    await confirmEmail(sql, user, now);
  } else {
    // A user who confirms by another way than the sign-up did not choose its password.
    const foreign = isUnprovenSignUp(user) ? { encrypted_password: null } : {};
    await changeUser(sql, user.id, { recovery_token: '', ...foreign }, now);
    if (user.email_confirmed_at === null) await confirmEmail(sql, user, now);
  }
  const fresh = (await userById(sql, user.id)) ?? user;
  const providers = [...new Set(fresh.identities.map(({ provider }) => provider))];
  const shown = fresh.raw_app_meta_data ?? {};
  const told = { providers, ...(providers[0] === undefined ? {} : { provider: providers[0] }) };
  if (JSON.stringify(shown['providers']) === JSON.stringify(providers) && shown['provider'] === providers[0])
    return fresh;
  return changeUser(sql, user.id, { raw_app_meta_data: merged(shown, told) }, now);
}
