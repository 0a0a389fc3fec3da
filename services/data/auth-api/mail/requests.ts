import { redirectValue } from '../domain/redirects.ts';
import { mailText, type MailPurpose } from '../domain/mail-texts.ts';
import type { Call } from '../http/auth-call.ts';
import { emailsOff, Refusal } from '../http/auth-error.ts';
import { pkcePrefix, sixDigits } from '../one-time-tokens.ts';
import type { AuthParts } from '../dependencies.ts';
import { millis } from '../session/bearer.ts';
import { siteOf } from '../site.ts';
import type { Sql } from '../store/database.ts';
import { insertFlow, type Challenge } from '../store/flows.ts';
import { changeUser, type StoredUser } from '../store/users.ts';

/** Redirect target and PKCE challenge of a requested mail. */
export interface MailRequest {
  readonly redirectTo: string;
  readonly challenge: Challenge | undefined;
}

/** Mail that is sent after its transaction has committed. */
export interface PlannedMail {
  readonly user: StoredUser;
  send(): Promise<void>;
}

/** Builds the link of a mail, which leads to `/verify` first. */
export function linkOf(base: string, token: string, type: string, redirectTo: string): string {
  return `${base}/verify?token=${token}&type=${type}&redirect_to=${redirectValue(redirectTo)}`;
}

function tooSoon(parts: AuthParts, sentAt: string | null, now: number): void {
  if (sentAt === null) return;
  const left = millis(sentAt) + parts.timing.mailEveryMs - now;
  if (left > 0) throw emailsOff(Math.floor(left / 1000));
}

/** Counts a mail against the hourly limit of its address. Loopback clients have no limit. */
function countMail(parts: AuthParts, call: Call, purpose: MailPurpose): void {
  takeShare(parts, call);
  parts.metrics.mails.inc({ purpose });
}

function takeShare({ limits }: AuthParts, call: Call): void {
  if (isLoopback(call.address) || limits.allows('mail', call, call.now)) return;
  throw new Refusal(429, 'over_email_send_rate_limit', 'email rate limit exceeded');
}

/**
 * Counts a mail that is not sent, and refuses it like {@link planMail}: requests for unknown addresses must be limited
 * like those for existing accounts, because a difference would reveal them.
 *
 * @param kind mail that shares the minimum interval
 */
export function pretendMail(parts: AuthParts, call: Call, what: 'confirmation' | 'recovery', email: string): void {
  const { limits, timing } = parts;
  const key = `${what}\0${email}`;
  const left = limits.left(key, timing.mailEveryMs, call.now);
  if (left !== undefined) throw emailsOff(left);
  takeShare(parts, call);
  limits.wait(key, timing.mailEveryMs, call.now);
}

export function isLoopback(address: string): boolean {
  return /^(?:127\.|::1$|::ffff:127\.)/.test(address);
}

const columns = {
  signup: ['confirmation_token', 'confirmation_sent_at'],
  invite: ['confirmation_token', 'confirmation_sent_at'],
  recovery: ['recovery_token', 'recovery_sent_at'],
  magiclink: ['recovery_token', 'recovery_sent_at'],
} as const;

const flowMethods = {
  signup: 'email/signup',
  invite: 'invite',
  recovery: 'recovery',
  magiclink: 'magiclink',
  email_change: 'email_change',
} as const;

/** Returns the flow method of a link type; undefined when no program waits for a code of that type. */
export function flowMethod(type: string): string | undefined {
  return Object.hasOwn(flowMethods, type) ? flowMethods[type as keyof typeof flowMethods] : undefined;
}

/**
 * Stores a new code and link for the address of a user.
 *
 * @throws AuthError 429 shortly after the former mail
 */
export async function planMail(
  parts: AuthParts,
  sql: Sql,
  call: Call,
  user: StoredUser,
  purpose: keyof typeof columns,
  { redirectTo, challenge }: MailRequest,
): Promise<PlannedMail> {
  const [column, sent] = columns[purpose];
  if (purpose !== 'invite') tooSoon(parts, user[sent], call.now);
  countMail(parts, call, purpose);
  const email = user.email ?? '';
  const code = sixDigits();
  const hash = `${challenge === undefined ? '' : pkcePrefix}${parts.keys.codeHash(email, code)}`;
  const invited = purpose === 'invite' ? { invited_at: call.now } : {};
  const changed = await changeUser(sql, user.id, { [column]: hash, [sent]: call.now, ...invited }, call.now);
  if (challenge !== undefined) await insertFlow(sql, user.id, flowMethods[purpose], challenge, call.now);
  const link = linkOf(call.base, hash, purpose, redirectTo);
  const { subject, body } = mailText(purpose, { site: siteOf(parts, call), link, code });
  return { user: changed, send: () => parts.mailbox.send({ to: email, subject, body, link }) };
}

/** Stores codes and links for a change of address: for the new address and for the old one. */
export async function planEmailChange(
  parts: AuthParts,
  sql: Sql,
  call: Call,
  user: StoredUser,
  to: string,
  { redirectTo, challenge }: MailRequest,
): Promise<PlannedMail> {
  tooSoon(parts, user.email_change_sent_at, call.now);
  countMail(parts, call, 'email_change');
  const from = user.email ?? '';
  const prefix = challenge === undefined ? '' : pkcePrefix;
  const site = siteOf(parts, call);
  const letter = (address: string): { hash: string; mail: Parameters<AuthParts['mailbox']['send']>[0] } => {
    const code = sixDigits();
    const hash = prefix + parts.keys.codeHash(address, code);
    const link = linkOf(call.base, hash, 'email_change', redirectTo);
    const { subject, body } = mailText('email_change', {
      site,
      link,
      code,
      change: { from: from === '' ? 'none' : from, to },
    });
    return { hash, mail: { to: address, subject, body, link } };
  };
  const fresh = letter(to);
  const current = from === '' ? undefined : letter(from);
  const changed = await changeUser(
    sql,
    user.id,
    {
      email_change: to,
      email_change_token_new: fresh.hash,
      email_change_token_current: current?.hash ?? '',
      email_change_sent_at: call.now,
      email_change_confirm_status: 0,
    },
    call.now,
  );
  if (challenge !== undefined) await insertFlow(sql, user.id, 'email_change', challenge, call.now);
  return {
    user: changed,
    async send() {
      await parts.mailbox.send(fresh.mail);
      if (current !== undefined) await parts.mailbox.send(current.mail);
    },
  };
}

/** Stores a code that confirms the identity of a signed-in user. */
export async function planReauthentication(
  parts: AuthParts,
  sql: Sql,
  call: Call,
  user: StoredUser,
): Promise<PlannedMail> {
  tooSoon(parts, user.reauthentication_sent_at, call.now);
  countMail(parts, call, 'reauthentication');
  const email = user.email ?? '';
  const code = sixDigits();
  const change = { reauthentication_token: parts.keys.codeHash(email, code), reauthentication_sent_at: call.now };
  const changed = await changeUser(sql, user.id, change, call.now);
  const { subject, body } = mailText('reauthentication', { site: siteOf(parts, call), code });
  return { user: changed, send: () => parts.mailbox.send({ to: email, subject, body }) };
}
