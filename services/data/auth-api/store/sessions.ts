import { randomUUID } from 'node:crypto';
import { createRefreshToken } from '../one-time-tokens.ts';
import type { Sql } from './database.ts';
import { userExpression, type StoredTime, type StoredUser } from './users.ts';

export interface StoredSession {
  readonly id: string;
  readonly user_id: string;
  readonly aal: string | null;
  readonly created_at: StoredTime | null;
  readonly not_after: StoredTime | null;
  readonly factor_id: string | null;
  /** Sign-in methods, newest first. */
  readonly amr: readonly { readonly method: string; readonly timestamp: number }[];
}

const sessionExpression = `jsonb_build_object('id', s.id, 'user_id', s.user_id, 'aal', s.aal, 'factor_id',
  s.factor_id, 'created_at', s.created_at at time zone 'utc', 'not_after', s.not_after at time zone 'utc', 'amr',
  (select coalesce(jsonb_agg(jsonb_build_object('method', a.authentication_method, 'timestamp', floor(extract(epoch
  from a.updated_at))::bigint) order by a.updated_at desc), '[]') from auth.mfa_amr_claims a
  where a.session_id = s.id))`;

const toIso = (now: number): string => new Date(now).toISOString();

export interface NewSession {
  readonly user: StoredUser;
  readonly method: string;
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly now: number;
}

/** Inserts a session with its first refresh token and updates the last sign-in of the user, in one statement. */
export async function insertSession(
  sql: Sql,
  { user, method, userAgent, ip, now }: NewSession,
): Promise<{ readonly session: StoredSession; readonly token: string }> {
  const id = randomUUID();
  const token = createRefreshToken();
  await sql.query(
    `with s as (insert into auth.sessions (id, user_id, created_at, updated_at, aal, user_agent, ip)
      values ($1, $2, $3, $3, 'aal1', $4, $5)),
       r as (insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at,
         session_id) values ('00000000-0000-0000-0000-000000000000', $6, $7, false, $3, $3, $1)),
       a as (insert into auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method) values ($1, $3, $3, $8))
     update auth.users set last_sign_in_at = $3, updated_at = $3 where id = $2`,
    [id, user.id, toIso(now), userAgent, ip, token, user.id, method],
  );
  const amr = [{ method, timestamp: Math.floor(now / 1000) }];
  const stored = { id, user_id: user.id, aal: 'aal1', created_at: toIso(now), not_after: null, factor_id: null, amr };
  return { session: stored, token };
}

/** Reads a user and one of its sessions, in one query. */
export async function findUserAndSession(
  sql: Sql,
  userId: string,
  sessionId: string | null,
): Promise<{ readonly user: StoredUser; readonly session: StoredSession | null } | undefined> {
  const [row] = await sql.query<{ user: string; session: string | null }>(
    `select (${userExpression})::text as user, (select (${sessionExpression})::text from auth.sessions s
      where s.id = $2 and s.user_id = u.id) as session from auth.users u where u.id = $1`,
    [userId, sessionId],
  );
  if (row === undefined) return undefined;
  const session = row.session === null ? null : (JSON.parse(row.session) as StoredSession);
  return { user: JSON.parse(row.user) as StoredUser, session };
}

export interface PresentedToken {
  readonly user: StoredUser;
  readonly session: StoredSession;
  readonly revoked: boolean;
  /** Time of the last change, ms since the epoch. */
  readonly updatedAt: number;
  /** Active token of the session; null when none is active. */
  readonly active: { readonly token: string; readonly parent: string | null } | null;
}

/** Reads a refresh token and locks its session, so that concurrent requests are ordered. */
export async function findPresentedToken(sql: Sql, token: string): Promise<PresentedToken | undefined> {
  await sql.query(
    'select 1 from auth.sessions where id = (select session_id from auth.refresh_tokens where token = $1) for update',
    [token],
  );
  const [row] = await sql.query<{
    user: string;
    session: string;
    revoked: boolean | string;
    updated: string;
    active: string | null;
  }>(
    `select (${userExpression})::text as user, (${sessionExpression})::text as session, coalesce(r.revoked, false)::text as revoked,
       (extract(epoch from r.updated_at) * 1000)::bigint::text as updated,
       (select jsonb_build_object('token', c.token, 'parent', c.parent)::text from auth.refresh_tokens c
         where c.session_id = s.id and c.revoked = false order by c.id desc limit 1) as active
     from auth.refresh_tokens r join auth.sessions s on s.id = r.session_id join auth.users u on u.id = s.user_id where r.token = $1`,
    [token],
  );
  if (row === undefined) return undefined;
  return {
    user: JSON.parse(row.user) as StoredUser,
    session: JSON.parse(row.session) as StoredSession,
    revoked: String(row.revoked) === 'true',
    updatedAt: Number(row.updated),
    active: row.active === null ? null : (JSON.parse(row.active) as { token: string; parent: string | null }),
  };
}

/** Returns the active token of a session and locks the session. */
export async function findActiveToken(sql: Sql, sessionId: string): Promise<{ readonly token: string } | undefined> {
  await sql.query('select 1 from auth.sessions where id = $1 for update', [sessionId]);
  const [row] = await sql.query<{ token: string }>(
    'select token from auth.refresh_tokens where session_id = $1 and revoked = false order by id desc limit 1',
    [sessionId],
  );
  return row;
}

/** Replaces the tokens of a session by a new one. */
export async function rotateToken(
  sql: Sql,
  session: StoredSession,
  parent: string | null,
  now: number,
): Promise<string> {
  const token = createRefreshToken();
  await sql.query(
    `with old as (update auth.refresh_tokens set revoked = true, updated_at = $1 where session_id = $2 and revoked = false),
       new as (insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at,
         parent, session_id) values ('00000000-0000-0000-0000-000000000000', $3, $4, false, $1, $1, $5, $2))
     update auth.sessions set refreshed_at = $1::timestamptz at time zone 'utc', updated_at = $1 where id = $2`,
    [toIso(now), session.id, token, session.user_id, parent],
  );
  return token;
}

/** Revokes all tokens of a session. */
export async function revokeFamily(sql: Sql, session: StoredSession, now: number): Promise<void> {
  await sql.query(
    'update auth.refresh_tokens set revoked = true, updated_at = $2 where session_id = $1 and revoked = false',
    [session.id, toIso(now)],
  );
}

/** Session in the list of a user. */
export interface ListedSession {
  readonly id: string;
  readonly created_at: StoredTime | null;
  readonly used_at: StoredTime | null;
  readonly user_agent: string | null;
  readonly ip: string | null;
}

/** Maximum number of listed sessions; users with more can end all of them. */
const maxListedSessions = 50;

/** Lists the sessions of a user, last used first. */
export async function listSessions(sql: Sql, userId: string): Promise<readonly ListedSession[]> {
  const used = `coalesce(s.refreshed_at, s.created_at at time zone 'utc')`;
  const rows = await sql.query<{ value: string }>(
    `select json_build_object('id', s.id, 'created_at', s.created_at at time zone 'utc', 'used_at', ${used},
      'user_agent', s.user_agent, 'ip', host(s.ip))::text as value
     from auth.sessions s where s.user_id = $1 order by ${used} desc, s.id limit ${String(maxListedSessions)}`,
    [userId],
  );
  return rows.map(({ value }) => JSON.parse(value) as ListedSession);
}

export async function deleteSessions(
  sql: Sql,
  userId: string,
  filter: { readonly only?: string; readonly except?: string } = {},
): Promise<void> {
  await sql.query(
    'delete from auth.sessions where user_id = $1 and ($2::uuid is null or id = $2) and ($3::uuid is null or id <> $3)',
    [userId, filter.only ?? null, filter.except ?? null],
  );
}

/** Deletes expired rows in small batches, so that requests are not delayed. */
export async function cleanUp(sql: Sql, now: number): Promise<void> {
  const dayAgo = toIso(now - 86_400_000);
  for (const [table, where] of [
    ['refresh_tokens', 'revoked is true and updated_at < $1'],
    ['flow_state', 'created_at < $1'],
    ['mfa_challenges', 'created_at < $1'],
    ['mfa_factors', "created_at < $1 and status = 'unverified'"],
    ['sessions', 'not_after < $1'],
  ] as const) {
    await sql.query(
      `delete from auth.${table} where id in (select id from auth.${table} where ${where} limit 500 for update skip locked)`,
      [dayAgo],
    );
  }
}
