import * as m from '#messages/host-problems';
import type { ClientBase } from 'pg';
import { Problem } from '../../../services/contracts/problem.ts';

/**
 * Key of the advisory lock of a database. Each connection of a host has it as a shared lock, and a move has it
 * exclusively. PostgreSQL releases it with the connection, so it does not outlive the process.
 */
const key = `hashtextextended('homeport hosts', 0)`;

/**
 * Takes the shared lock for a new connection of a host.
 * @throws Problem `database.moving` (503) while a move uses the database
 */
export async function lockForHost(client: ClientBase): Promise<void> {
  if (await takeLock(client, `select pg_try_advisory_lock_shared(${key})::text as "isLocked"`)) return;
  throw new Problem('database.moving', 503, m.databaseMoving);
}

/** Takes the lock for a move. Returns false while a host or another move uses the database. */
export function lockForMove(client: ClientBase): Promise<boolean> {
  return takeLock(client, `select pg_try_advisory_lock(${key})::text as "isLocked"`);
}

async function takeLock(client: ClientBase, statement: string): Promise<boolean> {
  const { rows } = await client.query<{ isLocked: string }>(statement);
  return rows[0]?.isLocked === 'true';
}
