import * as m from '#messages/data-problems';
import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import type { DataRole, DataVisibility } from '../../contracts/data/api.ts';
import type { Database } from '../engine/database.ts';
import { buildClaims } from './query-runner.ts';
import { formatRefusal } from '../schema/refusal.ts';

interface Policy {
  readonly name: string;
  readonly permissive: boolean;
  readonly applies: boolean;
  readonly condition: string | null;
}

const policiesQuery = `
select p.polname as name, p.polpermissive as permissive, pg_get_expr(p.polqual, p.polrelid) as condition,
  p.polroles = '{0}' or exists (select from unnest(p.polroles) as each (role) where pg_has_role($2, each.role, 'member')) as applies
from pg_policy p where p.polrelid = $1::regclass and p.polcmd in ('r', '*') order by p.polname`;

/**
 * Counts the rows of a table that are visible to a user, and those that each policy allows.
 *
 * @param table quoted name
 * @throws Problem `data.refused` (409) when a policy fails
 */
export async function getRowVisibility(
  database: Database,
  table: string,
  role: Exclude<DataRole, 'owner'>,
  user: string,
): Promise<DataVisibility> {
  try {
    return await countVisibleRows(database, table, role, user);
  } catch (error) {
    // A policy may fail for the claims of this user.
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new Problem('data.refused', 409, m.rejectedByPostgres({ reason: formatRefusal(error) }), { cause: error });
  }
}

async function countVisibleRows(
  database: Database,
  table: string,
  role: Exclude<DataRole, 'owner'>,
  user: string,
): Promise<DataVisibility> {
  const settings = { 'request.jwt.claims': buildClaims(role, user) };
  const access = await database.withCatalogue(async (client) => {
    const { rows } = await client.query<{ isProtected: boolean; isGranted: boolean }>(
      `select relrowsecurity as "isProtected", has_table_privilege($2, oid, 'select') as "isGranted" from pg_class
        where oid = $1::regclass`,
      [table, role],
    );
    return { ...rows[0], policies: (await client.query<Policy>(policiesQuery, [table, role])).rows };
  });
  // Counts without row security, but with the claims of the user, which policy conditions refer to.
  const counts = await database.asRequest({ role: 'service_role', settings }, async (client) => ({
    total: await countRows(client, table, 'true'),
    policies: await mapInOrder(access.policies, (policy) => countRows(client, table, policy.condition ?? 'true')),
  }));
  const isGranted = access.isGranted === true;
  const visible = isGranted
    ? await database.asRequest({ role, settings }, (client) => countRows(client, table, 'true'))
    : 0;
  return {
    isProtected: access.isProtected === true,
    isGranted,
    total: counts.total,
    visible,
    policies: access.policies.map(({ name, permissive, applies, condition }, index) => ({
      name,
      isPermissive: permissive,
      applies,
      condition: condition ?? 'true',
      rows: counts.policies[index] ?? 0,
    })),
  };
}

/**
 * Counts matching rows.
 *
 * @param condition expression as PostgreSQL has stored it
 */
async function countRows(client: pg.ClientBase, table: string, condition: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`select count(*) from ${table} where (${condition}) is true`);
  return Number(rows[0]?.count ?? 0);
}

async function mapInOrder<From, To>(list: readonly From[], work: (item: From) => Promise<To>): Promise<To[]> {
  const all: To[] = [];
  for (const item of list) all.push(await work(item));
  return all;
}
