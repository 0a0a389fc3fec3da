import * as m from '#messages/data-problems';
import pg from 'pg';
import { buildPolicyStatement, type DataPolicyInput, type PolicyClause } from '../../contracts/data/policies.ts';
import { quoteIdentifier } from '../../contracts/data/sql-names.ts';
import { Problem } from '../../contracts/problem.ts';
import { inTransaction, type Database } from '../engine/database.ts';
import { createRefusal } from './refusal.ts';

const duplicateObject = '42710';
const undefinedObject = '42704';

interface PolicyChange {
  /** Quoted name of the table with its schema. */
  readonly table: string;
  /** Existing policy to delete; undefined for none. */
  readonly previousName?: string | undefined;
  /** Policy to create; undefined for none. */
  readonly policy?: DataPolicyInput | undefined;
}

/**
 * Creates, replaces or deletes a policy in one transaction.
 *
 * @throws Problem `data.refused` (409) with the fields that caused it, `data.unknown_policy` (404)
 */
export async function changePolicy(database: Database, { table, previousName, policy }: PolicyChange): Promise<void> {
  try {
    await database.asOwner((pool) =>
      inTransaction(pool, async (client) => {
        await client.query(`set local lock_timeout = '10s'`);
        if (previousName !== undefined) await deletePolicy(client, table, previousName);
        if (policy !== undefined) await createPolicy(client, table, policy);
      }),
    );
  } catch (error) {
    throw error instanceof pg.DatabaseError ? createRefusal(error) : error;
  }
}

async function createPolicy(client: pg.PoolClient, table: string, policy: DataPolicyInput): Promise<void> {
  const { text, clauses } = buildPolicyStatement(table, policy);
  await client.query('savepoint policy');
  try {
    await runSingle(client, text);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const field = findField(error, clauses) ?? (await findInvalidExpression(client, table, policy));
    throw createRefusal(error, field === undefined ? {} : { [field]: error.message });
  }
}

/** Runs one statement. The extended protocol rejects a second one, whatever the expressions contain. */
async function runSingle(client: pg.PoolClient, text: string): Promise<void> {
  await client.query({ text, queryMode: 'extended' } as pg.QueryConfig);
}

/** Finds the expression that PostgreSQL rejects. It reports the position of syntax errors only. */
async function findInvalidExpression(
  client: pg.PoolClient,
  table: string,
  policy: DataPolicyInput,
): Promise<'condition' | 'check' | undefined> {
  for (const field of ['condition', 'check'] as const) {
    if (policy[field] === '') continue;
    const withoutOther = { ...policy, condition: '', check: '', roles: [], [field]: policy[field] };
    await client.query('rollback to savepoint policy');
    try {
      await runSingle(client, buildPolicyStatement(table, withoutOther).text);
    } catch (error) {
      if (error instanceof pg.DatabaseError) return field;
      throw error;
    }
  }
  return undefined;
}

async function deletePolicy(client: pg.PoolClient, table: string, name: string): Promise<void> {
  const { rowCount } = await client.query(
    'select from pg_catalog.pg_policy where polrelid = $1::pg_catalog.regclass and polname = $2',
    [table, name.replaceAll('\0', '')],
  );
  if (rowCount !== 1) throw new Problem('data.unknown_policy', 404, m.policyNotFound());
  await client.query(`drop policy ${quoteIdentifier(name)} on ${table}`);
}

/** Finds the input that caused an error, by its position or its code. */
function findField(
  { position, code }: pg.DatabaseError,
  clauses: readonly PolicyClause[],
): PolicyClause['field'] | undefined {
  if (position !== undefined) return clauses.findLast(({ start }) => start < Number(position))?.field;
  if (code === duplicateObject) return 'name';
  return code === undefinedObject && clauses.some(({ field }) => field === 'roles') ? 'roles' : undefined;
}
