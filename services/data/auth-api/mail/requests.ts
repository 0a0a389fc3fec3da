import { encodeRedirect } from '../domain/redirects.ts';
import { mailText, type MailPurpose } from '../domain/mail-texts.ts';
import type { AuthCall } from '../http/auth-call.ts';
import { createMailIntervalError, AuthError } from '../http/auth-error.ts';
import { pkcePrefix, createCode } from '../one-time-tokens.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { toMillis } from '../session/bearer.ts';
import { getSiteUrl } from '../site.ts';
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
export function buildLink(base: string, token: string, type: string, redirectTo: string): string {
  return `${base}/verify?token=${token}&type=${type}&redirect_to=${encodeRedirect(redirectTo)}`;
}

function checkInterval(deps: AuthDependencies, sentAt: string | null, now: number): void {
  if (sentAt === null) return;
  const remainingMs = toMillis(sentAt) + deps.protection.timing.mailIntervalMs - now;
  if (remainingMs > 0) throw createMailIntervalError(Math.floor(remainingMs / 1000));
}

/** Counts a mail against the hourly limit of its address. Loopback clients have no limit. */
function countMail(deps: AuthDependencies, call: AuthCall, purpose: MailPurpose): void {
  checkMailLimit(deps, call);
  deps.metrics.mails.inc({ purpose });
}

function checkMailLimit({ protection: { limits } }: AuthDependencies, call: AuthCall): void {
  if (isLoopback(call.address) || limits.allows('mail', call, call.now)) return;
  throw new AuthError(429, 'over_email_send_rate_limit', 'email rate limit exceeded');
}

/**
 * Counts a mail that is not sent, and refuses it like {@link planMail}: requests for unknown addresses must be limited
 * like those for existing accounts, because a difference would reveal them.
 *
 * @param kind mail that shares the minimum interval
 */
export function pretendMail(
  deps: AuthDependencies,
  call: AuthCall,
  kind: 'confirmation' | 'recovery',
  email: string,
): void {
  const { limits, timing } = deps.protection;
  const key = `${kind}\0${email}`;
  const remainingSeconds = limits.remainingSeconds(key, timing.mailIntervalMs, call.now);
  if (remainingSeconds !== undefined) throw createMailIntervalError(remainingSeconds);
  checkMailLimit(deps, call);
  limits.takeTurn(key, timing.mailIntervalMs, call.now);
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
export function findFlowMethod(type: string): string | undefined {
  return Object.hasOwn(flowMethods, type) ? flowMethods[type as keyof typeof flowMethods] : undefined;
}

/**
 * Stores a new code and link for the address of a user.
 *
 * @throws AuthError 429 shortly after the former mail
 */
export async function planMail(
  deps: AuthDependencies,
  sql: Sql,
  call: AuthCall,
  user: StoredUser,
  purpose: keyof typeof columns,
  { redirectTo, challenge }: MailRequest,
): Promise<PlannedMail> {
  const [column, sentColumn] = columns[purpose];
  if (purpose !== 'invite') checkInterval(deps, user[sentColumn], call.now);
  countMail(deps, call, purpose);
  const email = user.email ?? '';
  const code = createCode();
  const hash = `${challenge === undefined ? '' : pkcePrefix}${deps.keys.hashCode(email, code)}`;
  const invited = purpose === 'invite' ? { invited_at: call.now } : {};
  const changed = await changeUser(sql, user.id, { [column]: hash, [sentColumn]: call.now, ...invited }, call.now);
  if (challenge !== undefined) await insertFlow(sql, user.id, flowMethods[purpose], challenge, call.now);
  const link = buildLink(call.base, hash, purpose, redirectTo);
  const { subject, body } = mailText(purpose, { site: getSiteUrl(deps, call), link, code });
  return { user: changed, send: () => deps.mailbox.send({ to: email, subject, body, link }) };
}

/** Stores codes and links for a change of address: for the new address and for the old one. */
export async function planEmailChange(
  deps: AuthDependencies,
  sql: Sql,
  call: AuthCall,
  user: StoredUser,
  to: string,
  { redirectTo, challenge }: MailRequest,
): Promise<PlannedMail> {
  checkInterval(deps, user.email_change_sent_at, call.now);
  countMail(deps, call, 'email_change');
  const from = user.email ?? '';
  const prefix = challenge === undefined ? '' : pkcePrefix;
  const site = getSiteUrl(deps, call);
  const createMail = (address: string): { hash: string; mail: Parameters<AuthDependencies['mailbox']['send']>[0] } => {
    const code = createCode();
    const hash = prefix + deps.keys.hashCode(address, code);
    const link = buildLink(call.base, hash, 'email_change', redirectTo);
    const { subject, body } = mailText('email_change', {
      site,
      link,
      code,
      change: { from: from === '' ? 'none' : from, to },
    });
    return { hash, mail: { to: address, subject, body, link } };
  };
  const newMail = createMail(to);
  const currentMail = from === '' ? undefined : createMail(from);
  const changed = await changeUser(
    sql,
    user.id,
    {
      email_change: to,
      email_change_token_new: newMail.hash,
      email_change_token_current: currentMail?.hash ?? '',
      email_change_sent_at: call.now,
      email_change_confirm_status: 0,
    },
    call.now,
  );
  if (challenge !== undefined) await insertFlow(sql, user.id, 'email_change', challenge, call.now);
  return {
    user: changed,
    async send() {
      await deps.mailbox.send(newMail.mail);
      if (currentMail !== undefined) await deps.mailbox.send(currentMail.mail);
    },
  };
}

/** Stores a code that confirms the identity of a signed-in user. */
export async function planReauthentication(
  deps: AuthDependencies,
  sql: Sql,
  call: AuthCall,
  user: StoredUser,
): Promise<PlannedMail> {
  checkInterval(deps, user.reauthentication_sent_at, call.now);
  countMail(deps, call, 'reauthentication');
  const email = user.email ?? '';
  const code = createCode();
  const change = { reauthentication_token: deps.keys.hashCode(email, code), reauthentication_sent_at: call.now };
  const changed = await changeUser(sql, user.id, change, call.now);
  const { subject, body } = mailText('reauthentication', { site: getSiteUrl(deps, call), code });
  return { user: changed, send: () => deps.mailbox.send({ to: email, subject, body }) };
}
