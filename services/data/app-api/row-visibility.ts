import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import type { DataRole, DataVisibility } from '../../contracts/data/api.ts';
import type { Database } from '../engine/database.ts';
import { claimsOf } from './query-runner.ts';

interface Policy {
  readonly name: string;
  readonly permissive: boolean;
  readonly applies: boolean;
  readonly condition: string | null;
}

const policies = `
select p.polname as name, p.polpermissive as permissive, pg_get_expr(p.polqual, p.polrelid) as condition,
  p.polroles = '{0}' or exists (select from unnest(p.polroles) as each (role) where pg_has_role($2, each.role, 'member')) as applies
from pg_policy p where p.polrelid = $1::regclass and p.polcmd in ('r', '*') order by p.polname`;

/**
 * Counts the rows of a table that are visible to a user, and those that each policy allows.
 *
 * @param table quoted name
 * @throws Problem `data.refused` (409) when a policy fails
 */
export async function sightOf(
  database: Database,
  table: string,
  role: Exclude<DataRole, 'owner'>,
  user: string,
): Promise<DataVisibility> {
  try {
    return await countSight(database, table, role, user);
  } catch (error) {
    // A policy may fail for the claims of this user.
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new Problem('data.refused', 409, `PostgreSQL refuses it: ${error.message}.`, { cause: error });
  }
}

async function countSight(
  database: Database,
  table: string,
  role: Exclude<DataRole, 'owner'>,
  user: string,
): Promise<DataVisibility> {
  const settings = { 'request.jwt.claims': claimsOf(role, user) };
  const facts = await database.withCatalogue(async (client) => {
    const { rows } = await client.query<{ isProtected: boolean; isGranted: boolean }>(
      `select relrowsecurity as "isProtected", has_table_privilege($2, oid, 'select') as "isGranted" from pg_class where oid = $1::regclass`,
      [table, role],
    );
    return { ...rows[0], policies: (await client.query<Policy>(policies, [table, role])).rows };
  });
  // Counts without row security, but with the claims of the user, which policy conditions refer to.
  const counted = await database.asRequest({ role: 'service_role', settings }, async (client) => ({
    total: await count(client, table, 'true'),
    policies: await each(facts.policies, (policy) => count(client, table, policy.condition ?? 'true')),
  }));
  const isGranted = facts.isGranted === true;
  const visible = isGranted
    ? await database.asRequest({ role, settings }, (client) => count(client, table, 'true'))
    : 0;
  return {
    isProtected: facts.isProtected === true,
    isGranted,
    total: counted.total,
    visible,
    policies: facts.policies.map(({ name, permissive, applies, condition }, at) => ({
      name,
      isPermissive: permissive,
      applies,
      condition: condition ?? 'true',
      rows: counted.policies[at] ?? 0,
    })),
  };
}

/**
 * Counts matching rows.
 *
 * @param condition expression as PostgreSQL has stored it
 */
async function count(client: pg.ClientBase, table: string, condition: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`select count(*) from ${table} where (${condition}) is true`);
  return Number(rows[0]?.count ?? 0);
}

async function each<From, To>(list: readonly From[], work: (item: From) => Promise<To>): Promise<To[]> {
  const all: To[] = [];
  for (const item of list) all.push(await work(item));
  return all;
}
