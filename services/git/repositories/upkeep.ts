import type { Context } from '../../contracts/service.ts';
import { RepeatingTask } from '../../kit/repeating-task.ts';
import { SerialQueue } from '../../kit/serial-queue.ts';
import type { Lease } from '../../contracts/leases.ts';
import type { Git } from '../engine/git.ts';
import { Maintenance } from './maintenance.ts';
import type { Repository } from './repositories.ts';
import type { RepositoriesFolder } from './repositories-folder.ts';
import type { RepositoryLocks } from './repository-locks.ts';
import { hasLocks, removeLocks } from './stale-files.ts';
import { StaleRepositories } from './stale-repositories.ts';

/** Interval in which the work of ended hosts is completed, ms. */
const recoverEveryMs = 15_000;
/** Interval in which folders of deleted repositories are removed, ms. */
const cleanEveryMs = 10 * 60_000;
/** Minimum age of a lock of a maintenance command whose host has ended, ms. */
const minLockAgeMs = 60_000;
/** Minimum age of a folder without a row, ms. Another host may be creating the repository. */
const minOrphanAgeMs = 24 * 60 * 60_000;

export interface UpkeepDependencies {
  readonly context: Pick<Context, 'bus' | 'clock' | 'commit' | 'db' | 'leases' | 'log' | 'singleHost'>;
  readonly git: Git;
  readonly find: (id: number) => Promise<Repository | undefined>;
  readonly folder: (repository: Repository) => string;
  readonly locks: RepositoryLocks;
  /** Records interrupted pushes. */
  readonly recovery: { run(): Promise<void> };
  readonly repositoriesFolder: RepositoriesFolder;
  /** Releases the data of accounts that were deleted while the service was stopped. */
  readonly releaseAbandoned: () => Promise<void>;
}

/**
 * Work on repositories in addition to requests, while their folder is available: maintenance, and the completion of the
 * work of ended hosts. If several hosts use the same tables, one of them maintains all repositories.
 */
export class RepositoryUpkeep implements AsyncDisposable {
  readonly #dependencies: UpkeepDependencies;
  /** Serializes starts and stops. */
  readonly #transitions = new SerialQueue();
  #resources: AsyncDisposableStack | undefined;
  #maintenance: Maintenance | undefined;

  constructor(deps: UpkeepDependencies) {
    this.#dependencies = deps;
  }

  start(): Promise<void> {
    return this.#transitions.run(async () => {
      if (this.#resources !== undefined) return;
      await using resources = new AsyncDisposableStack();
      if (this.#dependencies.context.singleHost) await this.#startAlone(resources);
      else await this.#startAmongHosts(resources);
      this.#resources = resources.move();
    });
  }

  stop(): Promise<void> {
    return this.#transitions.run(async () => {
      await this.#resources?.disposeAsync();
      this.#resources = undefined;
    });
  }

  /** Runs a task while this host does not change packs. */
  runPaused<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#maintenance === undefined ? work() : this.#maintenance.runPaused(work);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #startAlone(resources: AsyncDisposableStack): Promise<void> {
    await this.#dependencies.releaseAbandoned();
    this.#startMaintenance(resources);
  }

  async #startAmongHosts(resources: AsyncDisposableStack): Promise<void> {
    const { context, recovery, releaseAbandoned, repositoriesFolder } = this.#dependencies;
    const recoverPushes = this.#repeat(
      () => recovery.run(),
      recoverEveryMs,
      'interrupted pushes could not be recovered',
    );
    resources.use(recoverPushes);
    const work = async (lease: Lease): Promise<AsyncDisposable> => {
      await using owned = new AsyncDisposableStack();
      await releaseAbandoned();
      await this.#startMaintenance(owned).scheduleRecent();
      const unlock = (): Promise<void> => this.#removeInterruptedLocks();
      owned.use(this.#repeat(unlock, recoverEveryMs, 'locks of an ended host could not be removed')).trigger();
      const { mayBeMissing, path: root } = repositoriesFolder;
      const stale = new StaleRepositories({ context, mayBeMissing, root });
      const clean = (): Promise<void> => this.#removeStale(lease, stale);
      owned.use(this.#repeat(clean, cleanEveryMs, 'stale repositories could not be removed')).trigger();
      return owned.move();
    };
    resources.use(await context.leases.hold('maintenance', work));
  }

  #startMaintenance(resources: AsyncDisposableStack): Maintenance {
    const maintenance = resources.use(new Maintenance(this.#dependencies));
    this.#maintenance = maintenance;
    resources.defer(() => void (this.#maintenance = undefined));
    return maintenance;
  }

  #repeat(task: () => Promise<void>, intervalMs: number, failure: string): RepeatingTask {
    const { clock, log } = this.#dependencies.context;
    return new RepeatingTask(task, { clock, intervalMs, onError: (error) => log.warn(failure, { error }) });
  }

  async #removeStale({ signal }: Lease, stale: StaleRepositories): Promise<void> {
    const modifiedBefore = (await this.#dependencies.repositoriesFolder.readClock()) - minOrphanAgeMs;
    if (!signal.aborted) await stale.remove(modifiedBefore);
  }

  /**
   * Releases the locks of ended hosts, and removes git's own locks of maintenance that ended with its host. These would
   * prevent the deletion of branches.
   */
  async #removeInterruptedLocks(): Promise<void> {
    const { find, folder, locks, repositoriesFolder } = this.#dependencies;
    for (const kind of ['merge', 'record'] as const) await locks.releaseInterrupted(kind);
    const ids = await locks.listInterrupted('maintenance');
    if (ids.length === 0) return;
    const before = (await repositoriesFolder.readClock()) - minLockAgeMs;
    for (const id of ids) {
      const repository = await find(id);
      if (repository !== undefined) {
        await removeLocks(folder(repository), before);
        if (await hasLocks(folder(repository))) continue;
      }
      // Releases the lock of the ended host.
      await locks.run('maintenance', id, () => Promise.resolve());
    }
  }
}
