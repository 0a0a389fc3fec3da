import * as m from '#messages/host-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Migration } from '../../../services/contracts/service.ts';

/** Step that marks a database to which data is being moved. Only the move removes it, when all data is complete. */
export const incompleteMove = 'database-move';

/**
 * Runs the steps that were not applied to this database yet, in order, each in its own transaction together with its
 * mark, so that an interrupted step is applied completely or not at all. `lock` makes a second process that migrates
 * the same database wait.
 * @throws Problem `database.move_incomplete` (409) when the data of the database is incomplete, `database.newer` (409) when the database contains a step that is not in the list,
 * `database.migration_failed` (500) when a step fails.
 */
export async function migrate(
  kysely: Kysely<any>,
  migrations: readonly Migration[],
  lock: (transaction: Kysely<any>) => Promise<void>,
): Promise<void> {
  const names = new Set(migrations.map((step) => step.name));
  if (names.size < migrations.length) throw new Error('two migrations have the same name');

  const applied = await kysely.transaction().execute(async (transaction) => {
    await lock(transaction);
    const table = transaction.schema.createTable('migrations').ifNotExists();
    await table.addColumn('name', 'text', (column) => column.primaryKey().notNull()).execute();
    return readApplied(transaction);
  });
  if (applied.has(incompleteMove) && !names.has(incompleteMove))
    throw new Problem('database.move_incomplete', 409, m.moveIncomplete, { retryable: false });
  const unknown = [...applied].filter((name) => !names.has(name));
  if (unknown.length > 0) {
    const detail = (): string => m.databaseTooNew({ steps: unknown.join(', ') });
    throw new Problem('database.newer', 409, detail);
  }
  for (const step of migrations) {
    if (!applied.has(step.name)) await apply(kysely, step, lock);
  }
}

async function apply(
  kysely: Kysely<any>,
  step: Migration,
  lock: (transaction: Kysely<any>) => Promise<void>,
): Promise<void> {
  try {
    await kysely.transaction().execute(async (transaction) => {
      await lock(transaction);
      if ((await readApplied(transaction)).has(step.name)) return;
      await step.up(transaction);
      await transaction.insertInto('migrations').values({ name: step.name }).execute();
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    const detail = (): string => m.migrationFailed({ name: step.name });
    throw new Problem('database.migration_failed', 500, detail, { cause: error, retryable: false });
  }
}

async function readApplied(transaction: Kysely<any>): Promise<ReadonlySet<string>> {
  const rows: { name: string }[] = await transaction.selectFrom('migrations').select('name').execute();
  return new Set(rows.map((row) => row.name));
}
