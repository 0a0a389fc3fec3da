import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Migration } from '../../contracts/service.ts';

const pageSize = 500;

/** Adds the inbox copy of a message as a column; before, it was the payload of a job. */
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

/** Reduces the inbox copies of delayed messages to the parts that their text does not contain. */
async function shortenEntries(db: Kysely<any>): Promise<void> {
  for (let last = 0; ;) {
    const rows: { seq: number; entry: string }[] = await db
      .selectFrom('scheduled')
      .select(['seq', 'entry'])
      .where('seq', '>', last)
      .where('entry', 'is not', null)
      .orderBy('seq')
      .limit(pageSize)
      .execute();
    for (const { seq, entry } of rows) {
      const { key, offer } = OldEntry.parse(JSON.parse(entry));
      const shortened = JSON.stringify({ key, source: offer.source, body: offer.body });
      await db.updateTable('scheduled').set({ entry: shortened }).where('seq', '=', seq).execute();
    }
    if (rows.length < pageSize) return;
    last = rows.at(-1)?.seq ?? last;
  }
}
