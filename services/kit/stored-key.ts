import type { Kysely } from 'kysely';
import { Problem } from '../contracts/problem.ts';
import type { Context, Vault } from '../contracts/service.ts';

/** Where a key is kept: a table of the service with the columns `name` (its key) and `sealed`, both text. */
export interface KeyLocation {
  readonly table: string;
  readonly name: string;
  /** The vault's purpose. */
  readonly purpose: string;
}

type KeyTables = Record<string, { readonly name: string; readonly sealed: string }>;

/**
 * Opens a stored key of a service.
 * @throws Problem `vault.key_unreadable` (503) which says how to get the key back, or how to replace it; nothing does that
 * unasked, since what was made with the key would be void.
 */
export function openStoredKey(
  vault: Pick<Vault, 'open'>,
  sealed: string,
  { purpose, service, name }: { readonly purpose: string; readonly service: string; readonly name: string },
): string {
  try {
    return vault.open(sealed, purpose);
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause;
    throw buildUnreadableKeyProblem(service, name, cause);
  }
}

/** Says that a stored key of a service is there and cannot be read, and what to do. */
export function buildUnreadableKeyProblem(service: string, name: string, cause?: unknown): Problem {
  const detail =
    `The stored key "${name}" cannot be read: it was sealed under another key of the vault, or changed. ` +
    `Restore it from a backup, or replace it with "homeport keys replace ${service} ${name}".`;
  return new Problem('vault.key_unreadable', 503, detail, { cause, fields: { key: name }, retryable: false });
}

/**
 * A key of the service's own, opened; made by `make` where there is none. Where two hosts make one at the same time, both
 * get the one that was stored first.
 * @throws Problem as {@link openStoredKey}.
 */
export async function loadOrCreateKey(
  { db, commit, vault }: Pick<Context, 'db' | 'commit' | 'vault'>,
  { table, name, purpose }: KeyLocation,
  make: () => string,
): Promise<string> {
  const readSealed = async (from: Kysely<KeyTables>): Promise<string | undefined> => {
    const row = await from.selectFrom(table).select('sealed').where('name', '=', name).executeTakeFirst();
    return row?.sealed;
  };
  const [service = ''] = purpose.split('.');
  const existing = await readSealed(db);
  if (existing !== undefined) return openStoredKey(vault, existing, { purpose, service, name });
  const sealed = vault.seal(make(), purpose);
  const stored = await commit(async (transaction) => {
    await transaction
      .insertInto(table)
      .values({ name, sealed })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    return readSealed(transaction);
  });
  return openStoredKey(vault, stored ?? sealed, { purpose, service, name });
}
