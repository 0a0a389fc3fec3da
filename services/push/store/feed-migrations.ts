import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Migration } from '../../contracts/service.ts';

const page = 500;

/** What the inbox is to show of a message stands beside it; before, a job held it. */
export const feedMigrations: readonly Migration[] = [
  {
    name: '060-add-inbox-copy',
    async up(db) {
      await db.schema.alterTable('messages').addColumn('inbox', 'text').execute();
      await shortenEntries(db);
    },
  },
];

const OldEntry = z.object({ key: z.string(), offer: z.object({ source: z.string(), body: z.string() }) });

/** Messages that wait for their time keep only what their own text does not say. */
async function shortenEntries(db: Kysely<any>): Promise<void> {
  for (let last = 0; ;) {
    const rows: { seq: number; entry: string }[] = await db
      .selectFrom('scheduled')
      .select(['seq', 'entry'])
      .where('seq', '>', last)
      .where('entry', 'is not', null)
      .orderBy('seq')
      .limit(page)
      .execute();
    for (const { seq, entry } of rows) {
      const { key, offer } = OldEntry.parse(JSON.parse(entry));
      const shorter = JSON.stringify({ key, source: offer.source, body: offer.body });
      await db.updateTable('scheduled').set({ entry: shorter }).where('seq', '=', seq).execute();
    }
    if (rows.length < page) return;
    last = rows.at(-1)?.seq ?? last;
  }
}
