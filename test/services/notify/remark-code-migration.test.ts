import { expect, it } from 'vitest';
import { migrations } from '../../../services/notify/store/migrations.ts';
import { eachDialect } from '../../support/database.ts';

/** Stored results of deliveries: state, text, code before, and the code that the migration derives. */
const deliveries: readonly (readonly [string, string, string, string])[] = [
  ['dead', 'ntfy: its URL holds characters that cannot be sent.', '', 'invalid_address'],
  ['dead', 'mail.example.org did not take the mail. 550 no such user', '', 'mail_refused'],
  ['waiting', 'chat.example.org said: something that is no answer of Matrix', '', 'unexpected_reply'],
  ['dead', 'files.example.org said: no place for a file', '', 'unexpected_reply'],
  ['dead', 'matrix.example.org said: this account is a member of no room', '', 'no_room'],
  ['dead', 'push.example.org said: there is no such topic', '', 'unknown_topic'],
  ['dead', 'keys.example.org said: there is no such key', '', 'unknown_key'],
  ['waiting', 'Failed to publish to the topic home', '', 'publish_failed'],
  // A code that is already stored, a success and other texts remain as they are.
  ['dead', 'push.example.org said: there is no such topic', 'unknown_host', 'unknown_host'],
  ['done', 'push.example.org said: there is no such topic', '', ''],
  ['dead', 'push.example.org said: there is no such topic as this one', '', ''],
  ['waiting', '', '', ''],
];

eachDialect((_name, open) => {
  it('derives the codes of failures that older versions stored as a remark', async () => {
    const database = await open();
    const index = migrations.findIndex(({ name }) => name === '024-derive-remark-codes');
    await database.migrate(migrations.slice(0, index));
    const { kysely: db } = database;
    const notice = {
      ...{
        id: 'notice',
        configuration: '',
        created_at: 1,
        source: 'api',
        type: 'info',
        title: '',
        body: '',
        format: 'text',
        tags: '',
      },
    };
    await db.insertInto('notices').values(notice).execute();
    for (const [number, [state, detail, code]] of deliveries.entries()) {
      const result = { destination_id: `d${String(number).padStart(2, '0')}`, state, detail, code, updated_at: 1 };
      const destination = {
        notice_id: 'notice',
        service: 'ntfy',
        sealed_url: '',
        shown_url: '',
        optional: 0,
        attempts: 1,
      };
      await db
        .insertInto('deliveries')
        .values({ ...result, ...destination })
        .execute();
      await db.insertInto('destination_health').values(result).execute();
    }
    await database.migrate(migrations);
    const expected = deliveries.map(([, , , code]) => ({ code }));
    for (const table of ['deliveries', 'destination_health']) {
      expect(await db.selectFrom(table).select('code').orderBy('destination_id').execute(), table).toEqual(expected);
    }
  });
});
