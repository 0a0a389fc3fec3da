import { expect, it } from 'vitest';
import { migrations } from '../../../services/uptime/store/migrations.ts';
import { eachDialect } from '../../support/database.ts';

/** Sentences of older versions, with the failures that the migration derives. */
const sentences: readonly (readonly [string, object | null])[] = [
  ['What answers is no Redis', { code: 'not_redis', parameters: {} }],
  ['The server sends more than 64 MiB', { code: 'response_too_large', parameters: { limit: 64 } }],
  [
    '169.254.169.254 is a link-local or cloud metadata address, which is not checked. A setting of Uptime allows it',
    { code: 'link_local_refused', parameters: { address: '169.254.169.254' } },
  ],
  [
    'Port 2342 belongs to Homeport itself. Watch its first page or its health page, or use a TCP port monitor',
    { code: 'own_port_refused', parameters: { port: '2342' } },
  ],
  [
    'certificate is not trusted: it signed itself (DEPTH_ZERO_SELF_SIGNED_CERT)',
    { code: 'certificate_untrusted', parameters: { reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' } },
  ],
  ['no answer within 16 s', { code: 'no_response', parameters: { seconds: 16 } }],
  ['connect ECONNREFUSED 127.0.0.1:1', null],
  ['200 - OK', null],
];

eachDialect((_name, open) => {
  it('derives the failures of messages, incidents and states that older versions stored as sentences', async () => {
    const database = await open();
    await database.migrate(migrations.slice(0, 7));
    const db = database.kysely;
    for (const [index, [text]] of sentences.entries()) {
      await db.insertInto('messages').values({ text }).execute();
      await db
        .insertInto('incidents')
        .values({ started_at: index, cause: `Server: ${text}`, notes: '[]' })
        .execute();
      await db
        .insertInto('standings')
        .values({ monitor_id: index + 1, body: JSON.stringify({ standing: { status: 0, msg: text }, told: {} }) })
        .execute();
    }
    await database.migrate(migrations);
    const parse = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : null);
    const expected = sentences.map(([, failure]) => failure);
    const messages = await db.selectFrom('messages').select('failure').orderBy('id').execute();
    expect(messages.map(({ failure }) => parse(failure))).toEqual(expected);
    const incidents = await db.selectFrom('incidents').select('failure').orderBy('id').execute();
    expect(incidents.map(({ failure }) => parse(failure))).toEqual(expected);
    const states = await db.selectFrom('standings').select('body').orderBy('monitor_id').execute();
    expect(states.map(({ body }) => JSON.parse(String(body)) as unknown)).toEqual(
      sentences.map(([msg, failure]) => ({
        standing: { status: 0, msg, ...(failure === null ? {} : { failure }) },
        told: {},
      })),
    );
  });
});
