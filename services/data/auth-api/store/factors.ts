import { randomUUID } from 'node:crypto';
import type { Sql } from './database.ts';

const toIso = (now: number): string => new Date(now).toISOString();

/**
 * Inserts an unverified factor.
 *
 * @param secret sealed
 */
export async function insertFactor(
  sql: Sql,
  userId: string,
  name: string,
  secret: string,
  id: string,
  now: number,
): Promise<void> {
  await sql.query(
    `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
      values ($1, $2, $3, 'totp', 'unverified', $4, $4, $5)`,
    [id, userId, name, toIso(now), secret],
  );
}

export async function findSecret(sql: Sql, factorId: string): Promise<string | undefined> {
  const [row] = await sql.query<{ secret: string }>('select secret from auth.mfa_factors where id = $1', [factorId]);
  return row?.secret;
}

export async function insertChallenge(sql: Sql, factorId: string, ip: string, now: number): Promise<string> {
  const id = randomUUID();
  await sql.query(
    `with f as (update auth.mfa_factors set last_challenged_at = $3 where id = $2)
     insert into auth.mfa_challenges (id, factor_id, created_at, ip_address) values ($1, $2, $3, $4)`,
    [id, factorId, toIso(now), ip],
  );
  return id;
}

export interface FactorChallenge {
  readonly verified: boolean;
  readonly ip: string;
  /** ms since the epoch. */
  readonly createdAt: number;
}

export async function findChallenge(sql: Sql, id: string, factorId: string): Promise<FactorChallenge | undefined> {
  const [row] = await sql.query<{ verified: string; ip: string; created: string }>(
    `select (verified_at is not null)::text as verified, host(ip_address) as ip, (extract(epoch
      from created_at) * 1000)::bigint::text as created
     from auth.mfa_challenges where id = $1 and factor_id = $2`,
    [id, factorId],
  );
  return row === undefined
    ? undefined
    : { verified: row.verified === 'true', ip: row.ip, createdAt: Number(row.created) };
}

/**
 * Accepts a code of a time step. Returns false when that or a later step was used before, so that codes are valid once.
 */
export async function useTimeStep(sql: Sql, factorId: string, step: number, now: number): Promise<boolean> {
  const rows = await sql.query(
    `update auth.mfa_factors set last_step = $2, status = 'verified', updated_at = $3 where id = $1
      and (last_step is null or last_step < $2) returning id`,
    [factorId, step, toIso(now)],
  );
  return rows.length > 0;
}

/** Raises a session to aal2. Other sessions of the user and unverified factors are deleted. */
export async function raiseSession(
  sql: Sql,
  {
    userId,
    sessionId,
    factorId,
    challengeId,
    now,
  }: { userId: string; sessionId: string; factorId: string; challengeId: string; now: number },
): Promise<void> {
  const time = toIso(now);
  await sql.query('update auth.mfa_challenges set verified_at = $2 where id = $1', [challengeId, time]);
  await sql.query(
    `insert into auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method) values ($1, $2, $2, 'totp')
     on conflict (session_id, authentication_method) do update set updated_at = excluded.updated_at`,
    [sessionId, time],
  );
  await sql.query(`update auth.sessions set aal = 'aal2', factor_id = $2, updated_at = $3 where id = $1`, [
    sessionId,
    factorId,
    time,
  ]);
  await sql.query(`delete from auth.sessions where user_id = $1 and id <> $2 and coalesce(aal, 'aal1') < 'aal2'`, [
    userId,
    sessionId,
  ]);
  await sql.query(
    `delete from auth.mfa_factors where user_id = $1 and status = 'unverified' and factor_type = 'totp'`,
    [userId],
  );
}

/** Deletes a factor. Sessions that it raised return to aal1. */
export async function deleteFactor(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `delete from auth.mfa_amr_claims where authentication_method = 'totp' and session_id in (select id
      from auth.sessions where factor_id = $1)`,
    [id],
  );
  await sql.query(`update auth.sessions set aal = 'aal1', factor_id = null where factor_id = $1`, [id]);
  await sql.query('delete from auth.mfa_factors where id = $1', [id]);
}

export async function renameFactor(sql: Sql, id: string, name: string, now: number): Promise<void> {
  await sql.query('update auth.mfa_factors set friendly_name = $2, updated_at = $3 where id = $1', [
    id,
    name,
    toIso(now),
  ]);
}
