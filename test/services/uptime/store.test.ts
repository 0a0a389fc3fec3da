import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { MaintenanceConfig } from '../../../services/contracts/uptime/maintenance.ts';
import { MonitorConfig } from '../../../services/contracts/uptime/monitor.ts';
import { HeartbeatStore, type StoredHeartbeat } from '../../../services/uptime/store/heartbeats.ts';
import { BucketStore } from '../../../services/uptime/store/buckets.ts';
import { IncidentStore } from '../../../services/uptime/store/incidents.ts';
import { MaintenanceStore } from '../../../services/uptime/store/maintenances.ts';
import { databaseSize, shrinkDatabase } from '../../../services/uptime/store/tables.ts';
import { migrations } from '../../../services/uptime/store/migrations.ts';
import { MonitorStore } from '../../../services/uptime/store/monitors.ts';
import { Rollup } from '../../../services/uptime/monitoring/rollup.ts';
import { createRuntimeMonitor } from '../../../services/uptime/monitoring/monitor-state.ts';
import { createFakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';
import { eachDialect } from '../../support/database.ts';

const hour = 3_600_000;
const day = 24 * hour;
const config = MonitorConfig.parse({ type: 'http', name: 'm', url: 'http://x' });
const vault = {
  seal: (text: string) => `sealed ${Buffer.from(text).toString('hex')}`,
  open: (text: string) => Buffer.from(text.slice(7), 'hex').toString(),
};

function beat(monitorId: number, time: number, change: Partial<StoredHeartbeat> = {}): StoredHeartbeat {
  return {
    monitorId,
    at: time,
    status: 1,
    msg: '200 - OK',
    ping: 20,
    important: false,
    retries: 0,
    duration: 0,
    ...change,
  };
}

eachDialect((name, open) => {
  const openStores = async () => {
    const database = await open();
    await database.migrate(migrations);
    const { kysely: db } = database;
    const commit = database.commit.bind(database);
    const stores = { beats: new HeartbeatStore(db), buckets: new BucketStore(db), incidents: new IncidentStore(db) };
    return { database, db, commit, ...stores, monitors: new MonitorStore(db, vault) };
  };

  it('frees the space of deleted rows on disk', async () => {
    const { db, monitors, commit } = await openStores();
    const long = { ...config, keyword: 'x'.repeat(90_000) };
    const ids = await commit(async (transaction) => {
      const added: number[] = [];
      for (let index = 0; index < 20; index += 1) added.push(await monitors.add(transaction, long, 0));
      return added;
    });
    const last = ids.pop();
    const large = await databaseSize(db);
    await commit(async (transaction) => {
      for (const id of ids) await monitors.remove(transaction, id);
    });
    await shrinkDatabase(db);
    expect(await databaseSize(db)).toBeLessThan(large);
    expect((await monitors.all()).map(({ id }) => id)).toEqual([last]);
  });

  it('stores maintenance windows and their announcements', async () => {
    const { db, commit } = await openStores();
    const windows = new MaintenanceStore(db);
    const config = MaintenanceConfig.parse({ title: 'w\0', strategy: 'cron', cron: '0 3 * * *', monitors: [7] });
    const since = Date.UTC(2026, 10, 1);
    const id = await commit((transaction) => windows.add(transaction, config, since));
    await commit((transaction) => windows.change(transaction, { id, config, since, told: ['a:1'] }));
    expect(await windows.all()).toEqual([{ id, config: { ...config, title: 'w\ufffd' }, since, told: ['a:1'] }]);
    await commit((transaction) => windows.remove(transaction, id));
    expect(await windows.all()).toEqual([]);
  });

  it('lists recent outages of several monitors', async () => {
    const { incidents, commit } = await openStores();
    const open = (monitor: number, time: number) =>
      commit((transaction) => incidents.open(transaction, monitor, time, { cause: 'x' }));
    const over = await open(1, 0);
    await commit((transaction) => incidents.resolve(transaction, over, hour));
    const lasting = await open(1, hour);
    await open(2, hour);
    const ids = async (since: number) => (await incidents.listForMonitors([1], since, 10)).map(({ id }) => id);
    expect(await ids(0)).toEqual([lasting, over]);
    expect(await ids(2 * hour)).toEqual([lasting]);
    expect(await commit((transaction) => incidents.findOpen(transaction, [1, 3], [0, hour]))).toBe(lasting);
    // An outage that began long before or after is a separate one.
    expect(await commit((transaction) => incidents.findOpen(transaction, [1], [0, hour - 1]))).toBeUndefined();
    expect(await commit((transaction) => incidents.findOpen(transaction, [1], [hour + 1, 2 * hour]))).toBeUndefined();
    expect(await commit((transaction) => incidents.findOpen(transaction, [3], [0, hour]))).toBeUndefined();
  });

  it('stores heartbeats with messages and lists them by page, newest first', async () => {
    const { beats, commit } = await openStores();
    const list = Array.from({ length: 100 }, (_, index) =>
      beat(
        1,
        index * 60_000,
        index % 10 === 0 ? { status: 0, msg: `no\0 ${String(index)}`, ping: null, important: true } : {},
      ),
    );
    await commit((transaction) => beats.add(transaction, list));
    await beats.cacheMessageIds(list.map(({ msg }) => msg));
    await commit((transaction) => beats.add(transaction, [...list.slice(0, 5), beat(2, 0)]));
    const first = await beats.list(1, { limit: 3 });
    expect(first.map(({ at, duration }) => [at, duration])).toEqual([
      [99 * 60_000, 60],
      [98 * 60_000, 60],
      [97 * 60_000, 60],
    ]);
    const important = await beats.list(1, { limit: 2, important: true, before: 90 * 60_000 });
    expect(important.map(({ msg }) => msg)).toEqual(['no\uFFFD 80', 'no\uFFFD 70']);
    expect(await beats.countImportant(undefined)).toBe(10);
    expect((await beats.since(1, 0)).length).toBe(100);
  });

  it('seals secrets and removes a monitor with its data', async () => {
    const { monitors, beats, incidents, commit, db } = await openStores();
    const id = await commit((transaction) => monitors.add(transaction, { ...config, basic_auth_pass: 'hush' }, 1));
    expect(await monitors.all()).toEqual([{ id, config: { ...config, basic_auth_pass: 'hush' } }]);
    const { rows } = await sql<{ config: string }>`select config from monitors`.execute(db);
    expect(rows[0]?.config).not.toContain('hush');
    await commit(async (transaction) => {
      await beats.add(transaction, [beat(id, 1)]);
      await incidents.open(transaction, id, 1, { cause: 'gone' });
    });
    await commit((transaction) => monitors.remove(transaction, id));
    expect([await monitors.all(), await beats.since(id, 0), await incidents.list({ limit: 5 })]).toEqual([[], [], []]);
  });

  it('rolls up heartbeats into hours and days and applies the retention', async () => {
    const { database, beats, buckets, commit } = await openStores();
    const start = Date.UTC(2026, 0, 1);
    const clock = createFakeClock(start + 3 * day + 90_000);
    const monitor = createRuntimeMonitor(1, config);
    const list = Array.from({ length: 3 * 1440 + 1 }, (_, minute) => {
      const isDown = minute >= 600 && minute < 630;
      return beat(1, start + minute * 60_000, isDown ? { status: 0, ping: null, important: minute === 600 } : {});
    });
    for (let index = 0; index < list.length; index += 500) {
      await commit((transaction) => beats.add(transaction, list.slice(index, index + 500)));
    }
    const context = { commit, clock, log: silentLog };
    const rollup = new Rollup({ context, beats, buckets, all: () => [monitor], keepDays: () => 365 });
    await rollup.run();
    await rollup.run();
    const hours = await buckets.since(1, 1, 0);
    expect(hours).toHaveLength(72);
    expect(hours[10]).toMatchObject({ start: start + 10 * hour, up: 30, down: 30, ping_min: 20, p95: 20 });
    const days = await buckets.since(2, 1, 0);
    expect(days.map(({ up, down }) => [up, down])).toEqual([
      [1410, 30],
      [1440, 0],
      [1440, 0],
    ]);
    const remaining = await beats.since(1, 0);
    expect(remaining.filter(({ at }) => at < start + 2 * day).map(({ important }) => important)).toEqual([true]);
    expect(remaining.length).toBeGreaterThan(1400);
    expect(database.dialect).toBe(name);
  });

  it.runIf(name === 'sqlite')('uses less than 60 bytes per heartbeat after thirty days', async () => {
    const { db, beats, buckets, commit } = await openStores();
    const start = Date.UTC(2026, 0, 1);
    const clock = createFakeClock(start);
    const every = 60_000;
    const monitor = createRuntimeMonitor(1, config);
    const context = { commit, clock, log: silentLog };
    const rollup = new Rollup({ context, beats, buckets, all: () => [monitor], keepDays: () => 365 });
    let recordCount = 0;
    for (let passed = 0; passed < 30 * day; passed += 12 * hour) {
      const part = Array.from({ length: (12 * hour) / every }, (_, index) =>
        beat(1, start + passed + index * every, { ping: 20 + ((index * 7919) % 40) }),
      );
      recordCount += part.length;
      await commit((transaction) => beats.add(transaction, part));
      clock.advance(12 * hour);
      await rollup.run();
    }
    const { rows } = await sql<{
      bytes: number;
    }>`select sum(pgsize) as bytes from dbstat where name in ('beats', 'beats_important', 'buckets', 'messages')`
      .execute(db)
      .catch(() => ({ rows: [] }));
    const pages =
      rows[0]?.bytes ??
      (
        await sql<{
          bytes: number;
        }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`.execute(db)
      ).rows[0]?.bytes;
    expect(Number(pages) / recordCount).toBeLessThan(60);
  });
});
