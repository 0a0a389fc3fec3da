import type { Kysely } from 'kysely';
import type { Vault } from '../../contracts/service.ts';
import type { NotifyTables } from './tables.ts';

/** A stored configuration, as its owner wrote it. */
export interface StoredConfiguration {
  readonly key: string;
  readonly format: 'text';
  readonly text: string;
}

/** What seals are bound to; a seal made for something else does not open here. */
const purpose = 'notify.configuration';

/** Configurations by key. Their text holds passwords and tokens, so it lies sealed. */
export class ConfigurationStore {
  readonly #db: Kysely<NotifyTables>;
  readonly #vault: Vault;
  /** The last text opened of each key: reading a key on every call must not cost a decryption. */
  readonly #opened = new Map<string, { readonly body: string; readonly configuration: StoredConfiguration }>();

  constructor(db: Kysely<NotifyTables>, vault: Vault) {
    this.#db = db;
    this.#vault = vault;
  }

  /** The same object as long as the stored text is the same, so that callers can keep what they made of it. */
  async find(key: string): Promise<StoredConfiguration | undefined> {
    const row = await this.#db.selectFrom('configurations').selectAll().where('key', '=', key).executeTakeFirst();
    if (row === undefined) {
      this.#opened.delete(key);
      return undefined;
    }
    const known = this.#opened.get(key);
    if (known?.body === row.body) return known.configuration;
    const text = row.sealed === 0 ? row.body : this.#vault.open(row.body, purpose);
    const configuration: StoredConfiguration = { key, format: 'text', text };
    this.#opened.set(key, { body: row.body, configuration });
    return configuration;
  }

  async keys(): Promise<readonly string[]> {
    const rows = await this.#db.selectFrom('configurations').select('key').orderBy('key').execute();
    return rows.map(({ key }) => key);
  }

  async save(key: string, text: string, now: number): Promise<void> {
    const values = { key, format: 'text', body: this.#vault.seal(text, purpose), sealed: 1, updated_at: now };
    await this.#db
      .insertInto('configurations')
      .values(values)
      .onConflict((conflict) => conflict.column('key').doUpdateSet(values))
      .execute();
  }

  /** False when there was none. */
  async remove(key: string): Promise<boolean> {
    this.#opened.delete(key);
    const { numDeletedRows } = await this.#db.deleteFrom('configurations').where('key', '=', key).executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** False, and nothing done, when the new name is taken. */
  async rename(key: string, to: string, now: number): Promise<boolean> {
    return this.#db.transaction().execute(async (transaction) => {
      const other = await transaction
        .selectFrom('configurations')
        .select('key')
        .where('key', '=', to)
        .executeTakeFirst();
      if (other !== undefined) return false;
      await transaction
        .updateTable('configurations')
        .set({ key: to, updated_at: now })
        .where('key', '=', key)
        .execute();
      this.#opened.delete(key);
      return true;
    });
  }

  /** Puts these in the place of all there are, in one transaction. */
  async replaceAll(
    configurations: readonly { readonly key: string; readonly text: string }[],
    now: number,
  ): Promise<void> {
    this.#opened.clear();
    const rows = configurations.map(({ key, text }) => ({
      key,
      format: 'text',
      body: this.#vault.seal(text, purpose),
      sealed: 1,
      updated_at: now,
    }));
    await this.#db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('configurations').execute();
      if (rows.length > 0) await transaction.insertInto('configurations').values(rows).execute();
    });
  }

  /** For exports: the text readable only by this installation. */
  seal(text: string): string {
    return this.#vault.seal(text, purpose);
  }

  /** @throws Problem `vault.unreadable` when it was sealed elsewhere. */
  unseal(sealed: string): string {
    return this.#vault.open(sealed, purpose);
  }
}
