import * as m from '#messages/git-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { systemTimer } from '../../kit/system-timer.ts';
import type { Tables } from '../store/tables.ts';

/** Kind of work that is done on a repository by one task at a time. */
export type LockKind = 'maintenance' | 'merge' | 'record';

/** Interval of the attempts to get a lock that another host has, ms. */
const retryEveryMs = 50;
/** Interval in which a waiting host checks whether the other host has ended, ms. */
const checkOwnerEveryMs = 1000;
/** Maximum time that work waits for other hosts, ms. */
const maxWaitMs = 60_000;

type LockContext = Pick<Context, 'commit' | 'db' | 'leases' | 'log' | 'random' | 'singleHost'>;

/**
 * Serializes work on a repository in this host and, if other hosts use the same tables, among all hosts. The lock of a
 * host that has ended or hangs is taken over. Such a host may continue, so work must also be safe without the lock: git
 * changes a reference only if it has the expected value, and a push is recorded only while its row exists.
 */
export class RepositoryLocks {
  readonly #context: LockContext;
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(context: LockContext) {
    this.#context = context;
  }

  /**
   * Runs work after all earlier work of this kind on the repository.
   * @throws Problem `git.busy` (503) if another host does not end its work in time
   */
  async run<T>(kind: LockKind, repository: number, work: () => Promise<T>): Promise<T> {
    const name = `${kind}/${String(repository)}`;
    const previous = this.#queues.get(name);
    const task = (async () => {
      await previous?.catch(() => undefined);
      return this.#context.singleHost ? work() : this.#runShared(name, work);
    })();
    this.#queues.set(name, task);
    try {
      return await task;
    } finally {
      if (this.#queues.get(name) === task) this.#queues.delete(name);
    }
  }

  /** Lists the repositories whose work of a kind was interrupted, because the host has ended. */
  async listInterrupted(kind: LockKind): Promise<readonly number[]> {
    const rows = await this.#db.selectFrom('repository_locks').select(['name', 'host_id']).execute();
    const ofKind = rows.filter(({ name }) => name.startsWith(`${kind}/`));
    const ended = await this.#context.leases.findEnded([...new Set(ofKind.map(({ host_id }) => host_id))]);
    return ofKind.flatMap(({ name, host_id }) => (ended.has(host_id) ? [Number(name.slice(kind.length + 1))] : []));
  }

  /** Releases the locks of ended hosts. They would remain until the next work of their kind on the repository. */
  async releaseInterrupted(kind: LockKind): Promise<void> {
    for (const id of await this.listInterrupted(kind)) await this.run(kind, id, () => Promise.resolve());
  }

  get #db(): Kysely<Tables> {
    return this.#context.db;
  }

  async #runShared<T>(name: string, work: () => Promise<T>): Promise<T> {
    const token = this.#context.random.text(12);
    await this.#acquire(name, token);
    try {
      return await work();
    } finally {
      await this.#release(name, token);
    }
  }

  async #release(name: string, token: string): Promise<void> {
    const { commit, log } = this.#context;
    try {
      await commit((transaction: Kysely<Tables>) =>
        transaction.deleteFrom('repository_locks').where('name', '=', name).where('token', '=', token).execute(),
      );
    } catch (error) {
      // This host takes its own lock over, and the others when this host has ended.
      log.warn('repository lock could not be released', { name, error });
    }
  }

  async #acquire(name: string, token: string): Promise<void> {
    const deadline = performance.now() + maxWaitMs;
    let nextOwnerCheck = 0;
    for (;;) {
      if (await this.#insert(name, token)) return;
      if (performance.now() >= nextOwnerCheck) {
        if (await this.#takeOver(name, token)) return;
        nextOwnerCheck = performance.now() + checkOwnerEveryMs;
      }
      if (performance.now() >= deadline) throw new Problem('git.busy', 503, m.repositoryBusy);
      await pause(retryEveryMs);
    }
  }

  async #insert(name: string, token: string): Promise<boolean> {
    const host_id = this.#context.leases.hostId;
    const { numInsertedOrUpdatedRows } = await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction
        .insertInto('repository_locks')
        .values({ name, host_id, token })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirst(),
    );
    return numInsertedOrUpdatedRows === 1n;
  }

  /** Takes the lock of a host that has ended, or one that this host could not release. */
  async #takeOver(name: string, token: string): Promise<boolean> {
    const { commit, leases } = this.#context;
    const owner = await this.#db
      .selectFrom('repository_locks')
      .select(['host_id', 'token'])
      .where('name', '=', name)
      .executeTakeFirst();
    if (owner === undefined) return false;
    const isOwn = owner.host_id === leases.hostId;
    if (!isOwn && !(await leases.findEnded([owner.host_id])).has(owner.host_id)) return false;
    const { numUpdatedRows } = await commit((transaction: Kysely<Tables>) =>
      transaction
        .updateTable('repository_locks')
        .set({ host_id: leases.hostId, token })
        .where('name', '=', name)
        .where('token', '=', owner.token)
        .executeTakeFirst(),
    );
    return numUpdatedRows === 1n;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemTimer.after(ms, resolve));
}
