import type { Kysely } from 'kysely';
import { MonitorConfig, secretFields, sensitiveFields } from '../../contracts/uptime/monitor.ts';
import type { Vault } from '../../contracts/service.ts';
import type { Tables } from './tables.ts';

const purpose = 'uptime.monitor';
const sealedFields: ReadonlySet<string> = new Set([...secretFields, ...sensitiveFields]);
/** Default values of fields that are not stored. */
const defaultFields = MonitorConfig.parse({ name: '-', type: '-' });

export interface StoredMonitor {
  readonly id: number;
  readonly config: MonitorConfig;
}

/** Stores monitors; secret fields are sealed. */
export class MonitorStore {
  readonly #db: Kysely<Tables>;
  readonly #vault: Pick<Vault, 'seal' | 'open'>;

  constructor(db: Kysely<Tables>, vault: Pick<Vault, 'seal' | 'open'>) {
    this.#db = db;
    this.#vault = vault;
  }

  async all(db: Kysely<Tables> = this.#db): Promise<StoredMonitor[]> {
    const rows = await db.selectFrom('monitors').select(['id', 'config', 'secrets']).orderBy('id').execute();
    return rows.map(({ id, config, secrets }) => ({
      id,
      config: {
        ...defaultFields,
        ...(JSON.parse(config) as MonitorConfig),
        ...(secrets === null ? {} : (JSON.parse(this.#vault.open(secrets, purpose)) as object)),
      },
    }));
  }

  /** Seals secrets that an earlier version stored unsealed. */
  async sealAll(transaction: Kysely<Tables>): Promise<void> {
    const rows = await transaction.selectFrom('monitors').select(['id', 'config']).execute();
    const unsealedIds = new Set(
      rows.flatMap(({ id, config }) =>
        Object.keys(JSON.parse(config) as object).some((name) => sealedFields.has(name)) ? [id] : [],
      ),
    );
    if (unsealedIds.size === 0) return;
    for (const { id, config } of await this.all(transaction)) {
      if (unsealedIds.has(id)) await this.change(transaction, id, config);
    }
  }

  async add(transaction: Kysely<Tables>, config: MonitorConfig, now: number): Promise<number> {
    const { id } = await transaction
      .insertInto('monitors')
      .values({ ...this.#columns(config), created_at: now })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  }

  async change(transaction: Kysely<Tables>, id: number, config: MonitorConfig): Promise<void> {
    await transaction.updateTable('monitors').set(this.#columns(config)).where('id', '=', id).execute();
  }

  /** Removes a monitor with its history. Incidents that include other monitors are kept. */
  async remove(transaction: Kysely<Tables>, id: number): Promise<void> {
    await transaction.deleteFrom('monitors').where('id', '=', id).execute();
    await transaction.deleteFrom('standings').where('monitor_id', '=', id).execute();
    await transaction.deleteFrom('beats').where('monitor_id', '=', id).execute();
    await transaction.deleteFrom('buckets').where('size', 'in', [1, 2]).where('monitor_id', '=', id).execute();
    await transaction.deleteFrom('incident_monitors').where('monitor_id', '=', id).execute();
    await transaction
      .deleteFrom('incidents')
      .where('id', 'not in', transaction.selectFrom('incident_monitors').select('incident_id'))
      .execute();
  }

  #columns(config: MonitorConfig): { config: string; secrets: string | null } {
    const entries = Object.entries(config);
    const sealedEntries = entries.filter(([name, value]) => sealedFields.has(name) && value !== null && value !== '');
    return {
      config: toStorable(JSON.stringify(Object.fromEntries(entries.filter(([name]) => !sealedFields.has(name))))),
      secrets:
        sealedEntries.length === 0
          ? null
          : this.#vault.seal(toStorable(JSON.stringify(Object.fromEntries(sealedEntries))), purpose),
    };
  }
}

/** Replaces NUL characters, which PostgreSQL does not store. */
function toStorable(json: string): string {
  return json.replaceAll('\\u0000', '\\ufffd').toWellFormed();
}
