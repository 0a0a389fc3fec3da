import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import type { EngineUrlTable, NotifyTables } from './tables.ts';

/** Stored description of a URL by the engine, so that its destination is known while the engine is missing. */
export type EngineUrl = EngineUrlTable;

export const engineUrls: Migration = {
  name: '020-create-engine-urls',
  async up(db: Kysely<any>) {
    await db.schema
      .createTable('engine_urls')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('service', 'text', (column) => column.notNull())
      .addColumn('sealed_url', 'text', (column) => column.notNull())
      .addColumn('shown_url', 'text', (column) => column.notNull())
      .addColumn('optional', 'integer', (column) => column.notNull())
      .execute();
  },
};

/** Maximum number of rows in one statement. */
const batchSize = 500;

/** Stores the URLs of configurations that the engine accepted. */
export class EngineUrlStore {
  readonly #db: Kysely<NotifyTables>;

  constructor(db: Kysely<NotifyTables>) {
    this.#db = db;
  }

  async find(ids: readonly string[]): Promise<readonly EngineUrl[]> {
    const rows: EngineUrl[] = [];
    for (const part of chunk(ids)) {
      rows.push(...(await this.#db.selectFrom('engine_urls').selectAll().where('id', 'in', part).execute()));
    }
    return rows;
  }

  async add(urls: readonly EngineUrl[]): Promise<void> {
    for (const part of chunk(urls)) {
      await this.#db
        .insertInto('engine_urls')
        .values([...part])
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    }
  }

  /** Deletes all other rows. */
  async deleteExcept(ids: ReadonlySet<string>): Promise<void> {
    const rows = await this.#db.selectFrom('engine_urls').select('id').execute();
    for (const part of chunk(rows.map(({ id }) => id).filter((id) => !ids.has(id)))) {
      await this.#db.deleteFrom('engine_urls').where('id', 'in', part).execute();
    }
  }
}

function chunk<T>(list: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / batchSize) }, (_, index) =>
    list.slice(index * batchSize, (index + 1) * batchSize),
  );
}
