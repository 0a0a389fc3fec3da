import { randomUUID } from 'node:crypto';
import type { Sql } from './database.ts';

/** PKCE challenge of a program that will exchange a code for a session. */
export interface Challenge {
  readonly challenge: string;
  readonly method: 's256' | 'plain';
}

/** Lifetime of a code. */
export const flowExpiryMs = 300_000;

export async function insertFlow(
  sql: Sql,
  userId: string,
  method: string,
  { challenge, method: challengeMethod }: Challenge,
  now: number,
): Promise<void> {
  await sql.query(
    `insert into auth.flow_state (id, user_id, auth_code, code_challenge_method, code_challenge, provider_type,
      authentication_method, created_at, updated_at)
     values ($1, $2, $3, $4::auth.code_challenge_method, $5, $6, $6, $7, $7)`,
    [randomUUID(), userId, randomUUID(), challengeMethod, challenge, method, new Date(now).toISOString()],
  );
}

/** Issues the code after a user followed a link; undefined when no program waits for one. */
export async function issueCode(sql: Sql, userId: string, method: string, now: number): Promise<string | undefined> {
  const [row] = await sql.query<{ auth_code: string }>(
    `update auth.flow_state set auth_code_issued_at = $3, updated_at = $3 where id = (select id from auth.flow_state
      where user_id = $1 and authentication_method = $2 and auth_code_issued_at is null order by created_at desc
      limit 1) returning auth_code`,
    [userId, method, new Date(now).toISOString()],
  );
  return row?.auth_code;
}

export interface Flow {
  readonly id: string;
  readonly user_id: string;
  readonly code_challenge: string;
  readonly code_challenge_method: string;
  readonly authentication_method: string;
  /** Issue time of its code, ms since the epoch. */
  readonly since: number;
}

/** Returns the flow of an issued code and locks it, so that codes are valid once. */
export async function findFlow(sql: Sql, code: string): Promise<Flow | undefined> {
  const [row] = await sql.query<Omit<Flow, 'since'> & { since: string }>(
    `select id::text, user_id::text, code_challenge, code_challenge_method::text, authentication_method,
      (extract(epoch from auth_code_issued_at) * 1000)::bigint::text as since
     from auth.flow_state where auth_code = $1 and user_id is not null and auth_code_issued_at is not null for update`,
    [code],
  );
  return row === undefined ? undefined : { ...row, since: Number(row.since) };
}

export async function deleteFlow(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from auth.flow_state where id = $1', [id]);
}
