import type { Kysely } from 'kysely';
import type { DebridPlan } from '../../contracts/addons/api.ts';
import type { ServiceId } from '../domain/debrid-services.ts';

/** Plan of an account at a debrid service, as the service reported it last. */
export interface StoredPlan {
  readonly service: ServiceId;
  /** Fingerprint of the credential. */
  readonly credential: string;
  readonly plan: DebridPlan['plan'];
  /** End of the plan, ms since the epoch; null when the service reports none. */
  readonly ends_at: number | null;
  readonly checked_at: number;
}

interface Tables {
  plans: StoredPlan;
}

/** Reads and writes the table of plans. */
export class PlanStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<any>) {
    this.#db = db as Kysely<Tables>;
  }

  /** Returns the plans, those that end first first. */
  async list(): Promise<readonly StoredPlan[]> {
    const rows = await this.#db.selectFrom('plans').selectAll().execute();
    return rows
      .map((row) => ({
        ...row,
        // PostgreSQL returns a bigint as text.
        ends_at: row.ends_at === null ? null : Number(row.ends_at),
        checked_at: Number(row.checked_at),
      }))
      .toSorted((one, other) => (one.ends_at ?? Infinity) - (other.ends_at ?? Infinity));
  }

  async save(row: StoredPlan): Promise<void> {
    const { service: _service, credential: _credential, ...values } = row;
    await this.#db
      .insertInto('plans')
      .values(row)
      .onConflict((conflict) => conflict.columns(['service', 'credential']).doUpdateSet(values))
      .execute();
  }

  async remove(service: ServiceId, credential: string): Promise<void> {
    await this.#db.deleteFrom('plans').where('service', '=', service).where('credential', '=', credential).execute();
  }
}
