import type { Kysely } from 'kysely';
import type { z } from 'zod';
import { parseJson } from '../../contracts/parse-json.ts';
import { DataSnapshot } from '../../contracts/data/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Tables } from './tables.ts';

const id = 'database';
const Content = DataSnapshot.omit({ takenAt: true });

/** The state of the databases at the last look, for the time in which PostgreSQL is stopped. */
export class Snapshots {
  readonly #context: Pick<Context, 'db' | 'commit' | 'clock'>;

  constructor(context: Pick<Context, 'db' | 'commit' | 'clock'>) {
    this.#context = context;
  }

  async save(content: z.infer<typeof Content>): Promise<void> {
    const row = { id, taken_at: this.#context.clock.now(), content: JSON.stringify(content) };
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('snapshots')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ taken_at: row.taken_at, content: row.content }))
        .execute(),
    );
  }

  /** Returns null before the first look. */
  async read(): Promise<DataSnapshot | null> {
    const db: Kysely<Tables> = this.#context.db;
    const row = await db.selectFrom('snapshots').selectAll().where('id', '=', id).executeTakeFirst();
    // An earlier version may have stored other fields.
    const content = row === undefined ? undefined : Content.safeParse(parseJson(row.content));
    return row === undefined || content?.success !== true ? null : { ...content.data, takenAt: Number(row.taken_at) };
  }
}
