import * as m from '#messages/uptime-problems';
import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import { Problem } from '../../contracts/problem.ts';
import { UptimeOptions } from '../../contracts/uptime/views.ts';
import { isZone } from '../../contracts/zone.ts';
import type { Tables } from '../store/tables.ts';

/** Options that can be changed at run time; the settings are their defaults. */
export class Options {
  readonly #context: Pick<Context, 'db' | 'commit'>;
  #defaults: UptimeOptions;
  #stored: Partial<UptimeOptions> = {};
  #current: UptimeOptions;

  constructor(context: Pick<Context, 'db' | 'commit'>, usual: UptimeOptions) {
    this.#context = context;
    this.#defaults = usual;
    this.#current = usual;
  }

  /** Applies changed settings as defaults. Options that were set at run time are kept. */
  setDefaults(defaults: UptimeOptions): void {
    this.#defaults = defaults;
    this.#current = { ...defaults, ...this.#stored };
  }

  get current(): UptimeOptions {
    return this.#current;
  }

  async start(): Promise<void> {
    const db: Kysely<Tables> = this.#context.db;
    const rows = await db.selectFrom('options').selectAll().execute();
    const stored = Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value) as unknown]));
    const read = UptimeOptions.parse({ ...this.#current, ...stored });
    const current = isZone(read.timezone) ? read : { ...read, timezone: this.#current.timezone };
    const names = new Set(Object.keys(stored));
    this.#stored = Object.fromEntries(Object.entries(current).filter(([name]) => names.has(name)));
    this.#current = current;
  }

  /** @throws Problem `uptime.invalid` (422) for an unknown time zone */
  async set(change: Partial<UptimeOptions>): Promise<UptimeOptions> {
    if (change.timezone !== undefined && !isZone(change.timezone)) {
      const detail = m.timeZoneInvalid();
      throw new Problem('uptime.invalid', 422, detail, { fields: { timezone: detail } });
    }
    const rows = Object.entries(change)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ({ name, value: JSON.stringify(value) }));
    if (rows.length > 0) {
      await this.#context.commit(async (transaction: Kysely<Tables>) => {
        await transaction
          .insertInto('options')
          .values(rows)
          .onConflict((conflict) =>
            conflict.column('name').doUpdateSet((set) => ({ value: set.ref('excluded.value') })),
          )
          .execute();
      });
    }
    const definedChange = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    this.#stored = { ...this.#stored, ...definedChange };
    this.#current = { ...this.#defaults, ...this.#stored };
    return this.#current;
  }
}
