import type { Context } from '../../../contracts/service.ts';
import type { Database } from '../../engine/database.ts';
import type { Settings } from '../../settings.ts';
import type { Catalogue } from './catalogue.ts';
import { loadCatalogue, versionStatement } from './load.ts';

/** Maximum age of the schema when changes are not reported. */
const unreportedMaxAgeMs = 10_000;
/** Maximum age when a request refers to an unknown object. */
const unknownObjectMaxAgeMs = 200;

/** Cache of the database schema. It is read once, and again after a reported change. */
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
    database.onNotification(() => this.invalidate());
  }

  /** Discards the cached schema; the next request reads it again. */
  invalidate(): void {
    this.#changes += 1;
    this.#catalogue = undefined;
  }

  current(): Promise<Catalogue> {
    if (this.#isUnreported && performance.now() - this.#readAt > unreportedMaxAgeMs) this.invalidate();
    return (this.#catalogue ??= this.#load());
  }

  /** True when the server does not allow the event triggers that report changes. */
  get #isUnreported(): boolean {
    return this.#database.limits.length > 0;
  }

  /** Returns a newer catalogue when one exists: a change may have been committed a moment ago. */
  async findNewer(catalogue: Catalogue): Promise<Catalogue | undefined> {
    const { rows } = await this.#database.withCatalogue((pool) => pool.query<{ version: string }>(versionStatement));
    const current = await this.current();
    if (this.#isUnreported && performance.now() - this.#readAt > unknownObjectMaxAgeMs) {
      this.invalidate();
      return this.current();
    }
    if (Number(rows[0]?.version ?? 0) <= catalogue.version) return current === catalogue ? undefined : current;
    if (current === catalogue) this.invalidate();
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
      this.#log.debug('schema loaded', { ms: Math.round(performance.now() - start), tables: catalogue.tables.size });
      return catalogue;
    } catch (error) {
      if (changes === this.#changes) this.#catalogue = undefined;
      throw error;
    }
  }
}
