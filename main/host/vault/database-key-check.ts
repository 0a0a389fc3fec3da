import * as m from '#messages/host-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Migration, Vault } from '../../../services/contracts/service.ts';

const purpose = 'vault.check';
const checkText = 'homeport';
const checkName = 'check';

interface Tables {
  vault_check: { readonly name: string; readonly sealed: string };
}

/** Table of the text that the vault's key of each host on this database must open. */
export const databaseKeyMigrations: readonly Migration[] = [
  {
    name: 'vault-001-create-check',
    async up(db) {
      await db.schema
        .createTable('vault_check')
        .addColumn('name', 'text', (column) => column.primaryKey().notNull())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .execute();
    },
  },
];

/**
 * Verifies that the vault's key of this host opens the secrets of the database that it shares with other hosts. The first
 * host stores the text for the check.
 *
 * @throws Problem `vault.key_foreign` (500)
 */
export async function checkDatabaseKey(db: Kysely<any>, vault: Vault): Promise<void> {
  const tables = db as Kysely<Tables>;
  await tables
    .insertInto('vault_check')
    .values({ name: checkName, sealed: vault.seal(checkText, purpose) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const { sealed } = await tables
    .selectFrom('vault_check')
    .select('sealed')
    .where('name', '=', checkName)
    .executeTakeFirstOrThrow();
  try {
    vault.open(sealed, purpose);
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    const detail = m.databaseKeyMismatch;
    throw new Problem('vault.key_foreign', 500, detail, { cause, retryable: false });
  }
}
