import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openLeases, type HostLeases } from '../../../main/host/leases/leases.ts';
import { leaseMs } from '../../../main/host/leases/table.ts';
import { leasesMigrations } from '../../../main/host/leases/migrations.ts';
import type { Database } from '../../../main/host/database/open.ts';
import { LeaseLostError, type Lease, type Leases } from '../../../services/contracts/leases.ts';
import { eachDialect } from '../../support/database.ts';
import { openNetworkProxy } from '../../support/network-proxy.ts';
import { silentLog, type DatabaseLocation } from '../../support/database-location.ts';

/** Records the starts and stops of leased work. */
class Work {
  readonly events: string[] = [];
  lease: Lease | undefined;

  readonly start = (lease: Lease): Disposable => {
    this.lease = lease;
    this.events.push('start');
    return { [Symbol.dispose]: () => void this.events.push(lease.signal.aborted ? 'stop after loss' : 'stop') };
  };
}

const name = 'push/work';

eachDialect((dialect, open, createLocation) => {
  const openHosts = async (): Promise<readonly [Host, Host]> => {
    const location = createLocation();
    const first = await open(location);
    await first.migrate(leasesMigrations);
    const second = dialect === 'sqlite' ? first : await open(location);
    return [await Host.open(first, location, 'first'), await Host.open(second, location, 'second')];
  };

  if (dialect === 'sqlite') {
    it('starts the work without rows', async () => {
      await using host = (await openHosts())[0];
      const work = new Work();
      const candidacy = await host.leases.hold('work', work.start);
      expect(candidacy.lease?.token).toBe(0);
      expect(await candidacy.lease?.commit(async () => 'result')).toBe('result');
      expect(await host.database.kysely.selectFrom('leases').selectAll().execute()).toEqual([]);
      await candidacy[Symbol.asyncDispose]();
      expect(work.events).toEqual(['start', 'stop']);
      expect(work.lease?.signal.aborted).toBe(true);
    });
    return;
  }

  it('gives the lease to one host, and to the next one at the release', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    stack.use(second);
    const [work, next] = [new Work(), new Work()];
    const candidacy = await first.leases.hold('work', work.start);
    const other = await second.leases.hold('work', next.start);
    expect([candidacy.lease?.token, other.lease]).toEqual([1, undefined]);
    await candidacy[Symbol.asyncDispose]();
    expect(work.events).toEqual(['start', 'stop']);
    await vi.waitFor(() => expect(next.events).toEqual(['start']), { timeout: 5000, interval: 20 });
    expect(other.lease?.token).toBe(2);
  });

  it('renews the lease', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    stack.use(second);
    const candidacy = await first.leases.hold('work', new Work().start);
    const before = await first.readExpiry();
    await vi.waitFor(async () => expect(await first.readExpiry()).toBeGreaterThan(before), { timeout: 10_000 });
    expect(candidacy.lease?.signal.aborted).toBe(false);
  });

  it('renews the lease while all connections of the services wait', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    stack.use(second);
    const candidacy = await first.leases.hold('work', new Work().start);
    const queries = Array.from({ length: 4 }, () => sql`select pg_sleep(8)`.execute(first.database.kysely));
    const blocked = Promise.all(queries);
    let isBlocked = true;
    void blocked.then(() => (isBlocked = false));
    const start = performance.now();
    await vi.waitUntil(() => performance.now() - start > leaseMs + 1000, { timeout: 20_000 });
    expect(isBlocked).toBe(true);
    expect(candidacy.lease?.token).toBe(1);
    expect(candidacy.lease?.signal.aborted).toBe(false);
    await blocked;
  }, 30_000);

  it('renews the lease over another connection when one no longer responds', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    await using proxy = await openNetworkProxy(second.location.url ?? '');
    await using behind = await Host.open(second.database, { ...second.location, url: proxy.url }, 'third');
    const work = new Work();
    const candidacy = await behind.leases.hold('work', work.start);
    const other = await first.leases.hold('work', new Work().start);
    proxy.pauseOpen();
    const start = performance.now();
    await vi.waitUntil(() => performance.now() - start > leaseMs + 2000, { timeout: 20_000 });
    expect(work.events).toEqual(['start']);
    expect([candidacy.lease?.token, other.lease]).toEqual([1, undefined]);
  }, 30_000);

  it('stops the work when the database does not respond, and continues it afterwards', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    await using proxy = await openNetworkProxy(second.location.url ?? '');
    await using behind = await Host.open(second.database, { ...second.location, url: proxy.url }, 'third');
    const work = new Work();
    const candidacy = await behind.leases.hold('work', work.start);
    proxy.pauseAll();
    const start = performance.now();
    await vi.waitFor(() => expect(work.events).toEqual(['start', 'stop after loss']), { timeout: 20_000 });
    expect(performance.now() - start).toBeLessThan(leaseMs + 500);
    expect(candidacy.lease).toBeUndefined();
    proxy.resume();
    await vi.waitFor(() => expect(candidacy.lease).toBeDefined(), { timeout: 20_000 });
    expect(work.events).toEqual(['start', 'stop after loss', 'start']);
  }, 60_000);

  it('refuses writes of a former owner and stops its work', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    stack.use(second);
    const [work, next] = [new Work(), new Work()];
    await first.leases.hold('work', work.start);
    await first.expire();
    const other = await second.leases.hold('work', next.start);
    expect(other.lease?.token).toBe(2);
    const write = vi.fn(async () => undefined);
    await expect(work.lease?.commit(write)).rejects.toThrow(LeaseLostError);
    expect(write).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(work.events).toEqual(['start', 'stop after loss']), { timeout: 5000, interval: 20 });
    expect(await other.lease?.commit(async () => 'written')).toBe('written');
  });

  it('refuses only the faulty work of a group commit', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    stack.use(second);
    const work = new Work();
    await first.leases.hold('work', work.start);
    await first.expire();
    await second.leases.hold('work', new Work().start);
    const results = await Promise.allSettled([
      work.lease?.commit(async () => 'stale'),
      first.database.commit(async () => 'other'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('waits for a verified transaction of the former owner', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    stack.use(second);
    const work = new Work();
    await first.leases.hold('work', work.start);
    const [verified, ended] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const commit = work.lease?.commit(async () => {
      verified.resolve(undefined);
      await ended.promise;
      return 'committed';
    });
    await verified.promise;
    await first.expire();
    const other = await second.leases.hold('work', new Work().start);
    expect(other.lease).toBeUndefined();
    ended.resolve(undefined);
    expect(await commit).toBe('committed');
  });

  it('ends a transaction that a host leaves open', async () => {
    const [first] = await openHosts();
    await using host = first;
    const hung = first.database.kysely.transaction().execute(async (transaction) => {
      await sql`set local idle_in_transaction_session_timeout = 50`.execute(transaction);
      await vi.waitFor(async () => {
        const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
          where state = 'idle in transaction' and datname = current_database()`.execute(first.database.kysely);
        expect(rows[0]?.count).toBe(0);
      });
      await sql`select 1`.execute(transaction);
    });
    await expect(hung).rejects.toMatchObject({ code: 'database.unreachable' });
    const { rows } = await sql<{ limit: string }>`select current_setting('idle_in_transaction_session_timeout')
      as limit`.execute(host.database.kysely);
    expect(rows[0]?.limit).toBe('6s');
  });

  it('releases the lease when the work does not start', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    stack.use(second);
    const failing = first.leases.hold('work', () => Promise.reject(new Error('no start')));
    await expect(failing).rejects.toThrow('no start');
    const other = await second.leases.hold('work', new Work().start);
    expect(other.lease?.token).toBe(2);
  });

  it('lists hosts that hang or have ended', async () => {
    const [first, second] = await openHosts();
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    expect([...(await first.leases.findEnded(['first', 'second', 'unknown']))]).toEqual(['unknown']);
    await second.expire('hosts/second');
    expect([...(await first.leases.findEnded(['second']))]).toEqual(['second']);
    await second[Symbol.asyncDispose]();
    expect([...(await first.leases.findEnded(['second']))]).toEqual(['second']);
  });

  it('takes the lease of an ended process immediately', async () => {
    const [first] = await openHosts();
    await using host = first;
    await first.leases.hold('other', new Work().start);
    const [{ owner }] = (await first.database.kysely.selectFrom('leases').select('owner').execute()) as [
      { owner: string },
    ];
    // Process ids are at most 2^22.
    const ended = owner.replace(/\|\d+\|/, '|4999999|');
    const row = { name, token: 7, owner: ended, expires_at: Date.now() + 3_600_000 };
    await first.database.kysely.insertInto('leases').values(row).execute();
    const candidacy = await host.leases.hold('work', new Work().start);
    expect(candidacy.lease?.token).toBe(8);
  });
});

/** Leases of the service `push` on one of several hosts. */
class Host implements AsyncDisposable {
  readonly database: Database;
  readonly leases: Leases;
  readonly location: DatabaseLocation;
  readonly #all: HostLeases;

  private constructor(database: Database, location: DatabaseLocation, all: HostLeases) {
    this.database = database;
    this.location = location;
    this.#all = all;
    this.leases = all.forService('push', database.commit);
  }

  static async open(database: Database, location: DatabaseLocation, host: string): Promise<Host> {
    const { schema, url } = location;
    const shared = url === undefined ? undefined : { schema, url };
    return new Host(database, location, await openLeases({ shared, host, log: silentLog }));
  }

  async readExpiry(): Promise<number> {
    const row = await this.database.kysely
      .selectFrom('leases')
      .select('expires_at')
      .where('name', '=', name)
      .executeTakeFirst();
    return Number(row?.['expires_at']);
  }

  /** Lets a lease expire, as that of a host that hangs. */
  async expire(lease = name): Promise<void> {
    await this.database.kysely.updateTable('leases').set({ expires_at: 0 }).where('name', '=', lease).execute();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#all[Symbol.asyncDispose]();
  }
}
