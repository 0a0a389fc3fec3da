import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';

const waiting = { timeout: 20_000, interval: 20 };

it('adds a download once when two hosts receive it at the same time', async () => {
  await using database = await openPostgresDatabase();
  const environment = {
    HOMEPORT_DATABASE_URL: database.url,
    HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64'),
    YTDLP_PATH: '/nowhere/yt-dlp',
  };
  await using first = await openTestHost({ services: [downloads, control], environment });
  await using second = await openTestHost({ services: [downloads, control], environment });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await using _client = { [Symbol.asyncDispose]: () => client.end() };
  // Neither host can store its download until both have looked for an equal one or wait to do so.
  await client.query('begin');
  await client.query('lock table downloads.downloads in share row exclusive mode');
  const replies = [first, second].map(add);
  await vi.waitFor(async () => {
    const { rows } = await client.query('select 1 from pg_locks where not granted');
    expect(rows).toHaveLength(2);
  }, waiting);
  await client.query('commit');
  await Promise.all(replies);
  const { rows } = await client.query('select 1 from downloads.downloads');
  expect(rows).toHaveLength(1);
});

async function add(host: TestHost): Promise<void> {
  const reply = await fetch(`${host.url('downloads')}/add`, {
    method: 'POST',
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://videos.example.org/watch/1', quality: 'best' }),
  });
  expect(reply.status).toBe(200);
}
