import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { isMissing } from '../../support/requirements.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

const run = promisify(execFile);
const programs = fileURLToPath(
  new URL('../../../.cache/tools/postgresql-18/embedded_postgres/pginstall/bin/', import.meta.url),
);
const password = 'a password for psql';

/** Host whose PostgreSQL accepts connections of other programs. */
async function openDirectFixture(): Promise<{ readonly room: DataFixture; readonly url: string }> {
  const port = await freePort();
  const fixture = await openDataFixture({ settings: { directPort: port, directPassword: password } });
  return { room: fixture, url: `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres` };
}

describe.skipIf(isMissing(existsSync(programs)))('PostgreSQL’s own clients on the direct port', () => {
  let first: Awaited<ReturnType<typeof openDirectFixture>>;
  beforeAll(async () => {
    first = await openDirectFixture();
    await first.room.sql(`
      create table notes (id int generated always as identity primary key, body text not null);
      alter table notes enable row level security;
      create policy everyone on notes for select to anon using (true);
      create function shout(text) returns text language sql immutable as 'select upper($1)';
      create type mood as enum ('sad', 'ok'); create view bodies as select body from notes;
    `);
  });
  afterAll(() => first.room[Symbol.asyncDispose]());

  /** Runs a shell command in which `psql` and `pg_dump` are the tested programs; returns its output. */
  const shell = async (line: string): Promise<string> => {
    const env = { PATH: `${programs}:${process.env['PATH'] ?? ''}`, LC_ALL: 'C', PSQLRC: '/dev/null' };
    return (await run('sh', ['-c', line], { env })).stdout;
  };

  it('copies rows in and out with psql, and describes tables', async () => {
    const { url, room: fixture } = first;
    const copied = await shell(
      `printf 'one\\ntwo\\ttab\\n' | tr '\\t' ' ' | psql '${url}' -c 'copy notes (body) from stdin'`,
    );
    expect(copied).toBe('COPY 2\n');
    expect(await shell(`psql '${url}' -Atc 'copy (select body from notes order by id) to stdout'`)).toBe(
      'one\ntwo tab\n',
    );
    expect(await shell(`psql '${url}' -c '\\d notes'`)).toContain('POLICY "everyone" FOR SELECT');
    expect(await (await fixture.request('/rest/v1/notes?select=body&order=id')).json()).toEqual([
      { body: 'one' },
      { body: 'two tab' },
    ]);
  });

  it('dumps a schema that psql loads into another instance, with policies and rights', async () => {
    const second = await openDirectFixture();
    try {
      await shell(`pg_dump --schema=public '${first.url}' | psql -q '${second.url}'`);
      const rows = await first.room.sql('select id, body from notes order by id');
      expect(rows.length).toBeGreaterThan(0);
      const reply = await second.room.request('/rest/v1/notes?order=id');
      expect([reply.status, await reply.json()]).toEqual([200, rows]);
      const written = await second.room.request('/rest/v1/notes', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"body":"x"}',
      });
      expect(((await written.json()) as { code: string }).code).toBe('42501');
    } finally {
      await second.room[Symbol.asyncDispose]();
    }
  });
});

describe('COPY over HTTP', () => {
  it('refuses COPY with a hint to the alternative and keeps the connection usable', async () => {
    await using fixture = await openDataFixture();
    await fixture.sql('create table notes (body text)');
    const statement = 'copy notes (body) from stdin';
    const reply = await fixture.request('/pg/query', {
      method: 'POST',
      headers: { apikey: fixture.serviceKey, 'content-type': 'application/json' },
      body: JSON.stringify({ query: statement }),
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ code: '57014', hint: expect.stringContaining('psql') });
    expect(await fixture.sql('select count(*)::int from notes')).toEqual([{ count: 0 }]);
  });
});
