import * as m from '#messages/kit-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../contracts/problem.ts';
import type { Context, Vault } from '../contracts/service.ts';

/** Location of a key: a table of the service with the columns `name` (primary key) and `sealed`, both text. */
export interface KeyLocation {
  readonly table: string;
  readonly name: string;
  /** Purpose for the vault. */
  readonly purpose: string;
}

type KeyTables = Record<string, { readonly name: string; readonly sealed: string }>;

/**
 * Opens a stored key of a service.
 * @throws Problem `vault.key_unreadable` (503) that explains how to restore or replace the key. It is never replaced
 * automatically, since that would invalidate everything created with it.
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

/** Builds the Problem for a stored key that exists but cannot be read, with the remedies. */
export function buildUnreadableKeyProblem(service: string, name: string, cause?: unknown): Problem {
  const detail = (): string => m.storedKeyUnreadable({ name, service });
  return new Problem('vault.key_unreadable', 503, detail, { cause, fields: { key: name }, retryable: false });
}

/**
 * Returns a key of the service, created by `make` on first use. When two hosts create it concurrently, both get the
 * one that was stored first.
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
