import type { Context } from '../../../contracts/service.ts';
import type { Database } from '../../engine/database.ts';
import type { Settings } from '../../settings.ts';
import type { Catalogue } from './catalogue.ts';
import { loadCatalogue, versionStatement } from './load.ts';

/** Where nobody tells of changes, what is known is read anew after this time, ms. */
const unseenMs = 10_000;
/** The same when something is asked for that is not known. */
const askedAgainMs = 200;

/** What is known of the database's schema: read once, and anew when the database tells of a change. */
export class SchemaCache {
  readonly #database: Database;
  readonly #settings: Pick<Settings, 'schemas'>;
  readonly #log: Context['log'];
  #catalogue: Promise<Catalogue> | undefined;
  #changes = 0;
  #readAt = 0;

  constructor(database: Database, settings: Pick<Settings, 'schemas'>, log: Context['log']) {
    this.#database = database;
    this.#settings = settings;
    this.#log = log;
    database.onNotification(() => this.forget());
  }

  /** The next request reads it anew. */
  forget(): void {
    this.#changes += 1;
    this.#catalogue = undefined;
  }

  current(): Promise<Catalogue> {
    if (this.#isUntold && performance.now() - this.#readAt > unseenMs) this.forget();
    return (this.#catalogue ??= this.#load());
  }

  /** Nobody tells of changes in a server that lets us make no trigger for them. */
  get #isUntold(): boolean {
    return this.#database.limits.length > 0;
  }

  /** A newer catalogue than this one, where there is one: a change may have been committed a moment ago. */
  async newerThan(catalogue: Catalogue): Promise<Catalogue | undefined> {
    const { rows } = await this.#database.withCatalogue((pool) => pool.query<{ version: string }>(versionStatement));
    const now = await this.current();
    if (this.#isUntold && performance.now() - this.#readAt > askedAgainMs) {
      this.forget();
      return this.current();
    }
    if (Number(rows[0]?.version ?? 0) <= catalogue.version) return now === catalogue ? undefined : now;
    if (now === catalogue) this.forget();
    return this.current();
  }

  async #load(): Promise<Catalogue> {
    const changes = this.#changes;
    this.#readAt = performance.now();
    const start = performance.now();
    const loading = this.#database.withCatalogue(async (pool) => {
      const client = await pool.connect();
      try {
        return await loadCatalogue(client, this.#settings.schemas);
      } finally {
        client.release();
      }
    });
    try {
      const catalogue = await loading;
      this.#log.debug('read the schema', { ms: Math.round(performance.now() - start), tables: catalogue.tables.size });
      return catalogue;
    } catch (error) {
      if (changes === this.#changes) this.#catalogue = undefined;
      throw error;
    }
  }
}
