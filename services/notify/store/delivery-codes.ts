import { sql, type Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';

/** Column for the code of a delivery's last failure; empty for none. Existing failures get their code from the text. */
export const deliveryCodes: Migration = {
  name: '022-add-delivery-codes',
  async up(db: Kysely<any>) {
    await db.schema
      .alterTable('deliveries')
      .addColumn('code', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await sql`update deliveries set code = 'needs_engine'
      where state = 'waiting' and detail like '%It needs the Apprise engine: install it%'`.execute(db);
    await sql`update deliveries set code = 'unknown_host'
      where state = 'waiting' and detail like '%could not be asked: there is no host of this name.%'`.execute(db);
  },
};

/** Reports of older versions with a remark of Homeport, and the codes that replace them. */
const remarks = [
  ['%: its URL holds characters that cannot be sent.', 'invalid_address'],
  ['% did not take the mail.%', 'mail_refused'],
  ['% said: something that is no answer of %', 'unexpected_reply'],
  ['% said: no place for a file', 'unexpected_reply'],
  ['% said: this account is a member of no room', 'no_room'],
  ['% said: there is no such topic', 'unknown_topic'],
  ['% said: there is no such key', 'unknown_key'],
  ['Failed to publish to the topic %', 'publish_failed'],
] as const;

/** Derives the codes of failures that older versions stored as a remark only. */
export const remarkCodes: Migration = {
  name: '024-derive-remark-codes',
  async up(db: Kysely<any>) {
    for (const table of ['deliveries', 'destination_health']) {
      for (const [pattern, code] of remarks) {
        await sql`update ${sql.table(table)} set code = ${code}
          where code = '' and state <> 'done' and detail like ${pattern}`.execute(db);
      }
    }
  },
};
