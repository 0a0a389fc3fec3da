import { expect, it } from 'vitest';
import type { Migration } from '../../services/contracts/service.ts';
import { manifest as gitManifest } from '../../services/git/manifest.ts';
import { migrations as uptimeMigrations } from '../../services/uptime/store/migrations.ts';
import { eachDialect } from '../support/database.ts';

/** Returns the migrations of an installation that does not have the named one yet. */
function before(migrations: readonly Migration[], name: string): readonly Migration[] {
  const index = migrations.findIndex((migration) => migration.name === name);
  expect(index, name).toBeGreaterThan(0);
  return migrations.slice(0, index);
}

eachDialect((_name, open) => {
  it('adds visibility, email address and webhook options to existing rows of git', async () => {
    const database = await open();
    const migrations = gitManifest.migrations ?? [];
    await database.migrate(before(migrations, '013-owner-visibility-email-hook-options'));
    const { kysely: db } = database;
    const owner = { name: 'Ada', lower_name: 'ada', kind: 'account', full_name: '', description: '', created_at: 1 };
    await db.insertInto('owners').values(owner).execute();
    const hook = {
      ...{ type: 'gitea', url: 'sealed', content_type: 'json', secret: '', authorization: '', branch_filter: '*' },
      ...{ events: '["push"]', active: 1, local: 0, created_at: 1, updated_at: 1 },
    };
    await db.insertInto('webhooks').values(hook).execute();
    await database.migrate(migrations);
    const stored = db.selectFrom('owners').select(['name', 'visibility', 'email']);
    expect(await stored.execute()).toEqual([{ name: 'Ada', visibility: 'public', email: '' }]);
    expect(await db.selectFrom('webhooks').select('options').execute()).toEqual([{ options: '{}' }]);
    await db.updateTable('owners').set({ visibility: 'private', email: 'ada@example.org' }).execute();
    const byEmail = db.selectFrom('owners').select('visibility').where('email', '=', 'ada@example.org');
    expect(await byEmail.execute()).toEqual([{ visibility: 'private' }]);
  });

  it('keeps the pings of uptime and takes fractions from then on', async () => {
    const database = await open();
    await database.migrate(before(uptimeMigrations, '007-keep-fractions-of-pings'));
    const { kysely: db } = database;
    const beat = { monitor_id: 1, status: 1, message_id: 1, important: 0, retries: 0 };
    const bucket = {
      ...{ size: 60_000, monitor_id: 1, up: 1, down: 0, maintenance: 0, up_ms: 60_000, down_ms: 0, pings: 1 },
      spread: '',
    };
    await db
      .insertInto('beats')
      .values({ ...beat, at: 1, ping: 20 })
      .execute();
    const heartbeatStatistics = { ping_sum: 20, ping_min: 20, ping_max: 20, p95: 20 };
    await db
      .insertInto('buckets')
      .values({ ...bucket, ...heartbeatStatistics, start: 0 })
      .execute();
    await database.migrate(uptimeMigrations);
    await db
      .insertInto('beats')
      .values({ ...beat, at: 2, ping: 0.25 })
      .execute();
    const fractions = { ping_sum: 0.25, ping_min: 0.25, ping_max: 0.25, p95: 0.25 };
    await db
      .insertInto('buckets')
      .values({ ...bucket, ...fractions, start: 60_000 })
      .execute();
    expect(await db.selectFrom('beats').select(['at', 'ping']).orderBy('at').execute()).toEqual([
      { at: 1, ping: 20 },
      { at: 2, ping: 0.25 },
    ]);
    const columns = ['ping_sum', 'ping_min', 'ping_max', 'p95'];
    expect(await db.selectFrom('buckets').select(columns).orderBy('start').execute()).toEqual([
      heartbeatStatistics,
      fractions,
    ]);
  });
});
