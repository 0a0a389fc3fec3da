import { sql, type Kysely } from 'kysely';
import { executeCached } from '../../kit/cached-statement.ts';
import { NotifyKeyOptions } from '../../contracts/notify/options.ts';
import type { Vault } from '../../contracts/service.ts';
import type { ConfigurationFormat } from '../domain/configuration.ts';
import type { NotifyTables } from './tables.ts';

/** Configuration as written by its owner. */
export interface WrittenConfiguration {
  readonly format: ConfigurationFormat;
  readonly text: string;
}

/** Stored configuration with the options of its key. */
export interface StoredConfiguration extends WrittenConfiguration {
  readonly key: string;
  readonly options: NotifyKeyOptions;
  /** Secret with which programs sign their posts to the key. */
  readonly secret?: string | undefined;
}

/** Purposes to which the seals are bound. */
const purpose = 'notify.configuration';
const secretPurpose = 'notify.secret';

/** Stores configurations by key. Their text contains passwords and tokens, so it is sealed. */
export class ConfigurationStore {
  readonly #db: Kysely<NotifyTables>;
  readonly #vault: Vault;
  readonly #isSoleWriter: boolean;
  /** Last opened text of each key, so that a call does not need a decryption. */
  readonly #cache = new Map<string, { readonly source: string; readonly configuration: StoredConfiguration }>();
  /** Number of writes; results of reads that began before a write are not cached. */
  #writes = 0;

  /** `isSoleWriter`: no other process writes, so a cached key need not be read again. */
  constructor(db: Kysely<NotifyTables>, vault: Vault, isSoleWriter = false) {
    this.#db = db;
    this.#vault = vault;
    this.#isSoleWriter = isSoleWriter;
  }

  /** Returns the same object while the stored text is unchanged, so that callers can cache derived values. */
  async find(key: string): Promise<StoredConfiguration | undefined> {
    const cached = this.#cache.get(key);
    if (this.#isSoleWriter && cached !== undefined) return cached.configuration;
    const writes = this.#writes;
    const build = () => this.#db.selectFrom('configurations').selectAll().where('key', '=', key).compile();
    const { rows } = await executeCached(this.#db, 'notify.configuration', [key], build);
    const [row] = rows;
    if (row === undefined) {
      this.#cache.delete(key);
      return undefined;
    }
    const source = `${row.format} ${row.options} ${row.secret ?? ''} ${row.body}`;
    if (cached?.source === source) return cached.configuration;
    const text = row.sealed === 0 ? row.body : this.#vault.open(row.body, purpose);
    const format = row.format === 'yaml' ? 'yaml' : 'text';
    const options = NotifyKeyOptions.parse(JSON.parse(row.options));
    const secret = row.secret === null ? undefined : this.#vault.open(row.secret, secretPurpose);
    const configuration: StoredConfiguration = { key, format, text, options, secret };
    if (writes === this.#writes) this.#cache.set(key, { source, configuration });
    return configuration;
  }

  async keys(): Promise<readonly string[]> {
    const rows = await this.#db.selectFrom('configurations').select('key').orderBy('key').execute();
    return rows.map(({ key }) => key);
  }

  /** Returns whether a user has written a configuration; the first one is preset. */
  async hasUserConfiguration(): Promise<boolean> {
    const row = await this.#db
      .selectFrom('configurations')
      .select('key')
      .where('updated_at', '>', 0)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Writes a row unchanged, to check that the database accepts writes. */
  async probeWrite(transaction: Kysely<NotifyTables>): Promise<void> {
    await sql`update configurations set updated_at = updated_at
      where key = (select min(key) from configurations)`.execute(transaction);
  }

  /** Saves the text; the options of the key are unchanged. */
  async save(key: string, { format, text }: WrittenConfiguration, now: number): Promise<void> {
    const values = { key, format, body: this.#vault.seal(text, purpose), sealed: 1, updated_at: now };
    using _invalidation = this.#invalidateDuringWrite();
    await this.#db
      .insertInto('configurations')
      .values({ ...values, options: '{}' })
      .onConflict((conflict) => conflict.column('key').doUpdateSet(values))
      .execute();
  }

  /** Returns false if the key does not exist. */
  async saveOptions(key: string, options: NotifyKeyOptions, now: number): Promise<boolean> {
    using _invalidation = this.#invalidateDuringWrite();
    const { numUpdatedRows } = await this.#db
      .updateTable('configurations')
      .set({ options: JSON.stringify(options), updated_at: now })
      .where('key', '=', key)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Saves the secret; undefined removes it. Returns false if the key does not exist. */
  async saveSecret(key: string, secret: string | undefined, now: number): Promise<boolean> {
    const sealed = secret === undefined ? null : this.#vault.seal(secret, secretPurpose);
    using _invalidation = this.#invalidateDuringWrite();
    const { numUpdatedRows } = await this.#db
      .updateTable('configurations')
      .set({ secret: sealed, updated_at: now })
      .where('key', '=', key)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Returns false if the key does not exist. */
  async delete(key: string): Promise<boolean> {
    using _invalidation = this.#invalidateDuringWrite();
    const { numDeletedRows } = await this.#db.deleteFrom('configurations').where('key', '=', key).executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Returns false, without a change, if the new name exists. */
  async rename(key: string, to: string, now: number): Promise<boolean> {
    using _invalidation = this.#invalidateDuringWrite();
    return await this.#db.transaction().execute(async (transaction) => {
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
      return true;
    });
  }

  /** Replaces all configurations in one transaction. */
  async replaceAll(configurations: readonly StoredConfiguration[], now: number): Promise<void> {
    using _invalidation = this.#invalidateDuringWrite();
    const rows = configurations.map(({ key, format, text, options, secret }) => ({
      key,
      format,
      body: this.#vault.seal(text, purpose),
      sealed: 1,
      options: JSON.stringify(options),
      secret: secret === undefined ? null : this.#vault.seal(secret, secretPurpose),
      updated_at: now,
    }));
    await this.#db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('configurations').execute();
      if (rows.length > 0) await transaction.insertInto('configurations').values(rows).execute();
    });
  }

  /** Clears the cache, before and after a write. */
  #invalidateDuringWrite(): Disposable {
    const forget = (): void => {
      this.#writes += 1;
      this.#cache.clear();
    };
    forget();
    return { [Symbol.dispose]: forget };
  }

  /** Seals text for an export that only this installation can read. */
  seal(text: string): string {
    return this.#vault.seal(text, purpose);
  }

  /** @throws Problem `vault.unreadable` if it was sealed by another installation. */
  unseal(sealed: string): string {
    return this.#vault.open(sealed, purpose);
  }
}
