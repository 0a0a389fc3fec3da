import type { Kysely } from 'kysely';
import type { MaintenanceConfig } from '../../contracts/uptime/maintenance.ts';
import type { Tables } from './tables.ts';

export interface StoredMaintenance {
  readonly id: number;
  config: MaintenanceConfig;
  /** Time of the last activation, in milliseconds since the epoch. */
  since: number;
  /** Keys of the announcements that were sent. */
  told: readonly string[];
}

/** Stores maintenance windows. */
export class MaintenanceStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async all(): Promise<StoredMaintenance[]> {
    const rows = await this.#db.selectFrom('maintenances').selectAll().orderBy('id').execute();
    return rows.map(({ id, config, since, told }) => ({
      id,
      config: JSON.parse(config) as MaintenanceConfig,
      since: Number(since),
      told: JSON.parse(told) as string[],
    }));
  }

  async add(transaction: Kysely<Tables>, config: MaintenanceConfig, since: number): Promise<number> {
    const row = { config: toStorable(config), since, told: '[]' };
    const { id } = await transaction.insertInto('maintenances').values(row).returning('id').executeTakeFirstOrThrow();
    return id;
  }

  async change(transaction: Kysely<Tables>, { id, config, since, told }: StoredMaintenance): Promise<void> {
    await transaction
      .updateTable('maintenances')
      .set({ config: toStorable(config), since, told: JSON.stringify(told) })
      .where('id', '=', id)
      .execute();
  }

  async remove(transaction: Kysely<Tables>, id: number): Promise<void> {
    await transaction.deleteFrom('maintenances').where('id', '=', id).execute();
  }
}

/** Replaces NUL characters, which PostgreSQL does not store. */
function toStorable(config: MaintenanceConfig): string {
  return JSON.stringify(config).replaceAll('\\u0000', '\\ufffd');
}
