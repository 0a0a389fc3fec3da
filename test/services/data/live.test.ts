import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminAuthorization } from '../../support/host.ts';
import { data } from '../../../services/data/index.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
  await fixture.sql(`create table notes (id int primary key); insert into notes select generate_series(1, 5);
    create schema seen; grant usage on schema seen to anon;
    create view seen.listed as select id from notes; grant select on seen.listed to anon;
    create function slow() returns int language sql volatile as 'select 1 from pg_sleep(1.5)'`);
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function patch(settings: Record<string, unknown>): Promise<void> {
  const reply = await fetch(`${fixture.host.url('control')}/api/settings/data`, {
    method: 'PATCH',
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  });
  expect([reply.status, reply.ok ? '' : await reply.text()]).toEqual([200, '']);
}

describe('settings change', () => {
  it('takes effect immediately and does not interrupt running requests', async () => {
    const client = createClient(fixture.url, fixture.anonKey, { auth: { persistSession: false } });
    const running = client.rpc('slow');
    const finished = (async () => running)();
    await patch({ maxRows: 2 });
    expect((await client.from('notes').select()).data).toHaveLength(2);
    await patch({ maxRows: 0, schemas: ['public', 'seen'], extraSearchPath: ['public'] });
    expect((await client.schema('seen').from('listed').select()).data).toHaveLength(5);
    await patch({ signUp: false });
    const refused = await client.auth.signUp({ email: 'a@example.com', password: 'correct horse 1' });
    expect(refused.error?.code).toBe('signup_disabled');
    expect(await finished).toMatchObject({ status: 200, data: 1 });
    expect(fixture.host.log.join('\n')).not.toMatch(/PostgreSQL ended/);
  });

  it('refuses changes without a filter after the setting is enabled, like Supabase', async () => {
    await patch({ writesNeedFilter: true });
    const client = createClient(fixture.url, fixture.anonKey, { auth: { persistSession: false } });
    const { error, status } = await client.from('notes').delete();
    expect([status, error?.code, error?.message]).toEqual([400, '21000', 'DELETE requires a WHERE clause']);
    expect((await client.from('notes').update({ id: 9 })).error?.message).toBe('UPDATE requires a WHERE clause');
    expect((await client.from('notes').delete().eq('id', 5)).status).toBe(204);
    await patch({ writesNeedFilter: false });
    expect((await client.from('notes').delete()).status).toBe(204);
  });

  it('requires a restart only for addresses, ports and keys', () => {
    const fields = Object.entries(data.settings?.shape ?? {}) as [string, { meta(): { live?: boolean } | undefined }][];
    const restarting = fields.flatMap(([name, field]) => (field.meta()?.live === true ? [] : [name]));
    expect(restarting.toSorted()).toEqual([
      ...['anonKey', 'databaseUrl', 'directPassword', 'directPort', 'jwtSecret', 'serviceKey'],
    ]);
  });
});
