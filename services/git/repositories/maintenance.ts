import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import { gitPushed } from '../../contracts/git/topics.ts';
import type { Git } from '../engine/git.ts';
import { removeStaleFiles } from './stale-files.ts';
import { readCounts } from './references.ts';
import type { Repository } from './repositories.ts';
import type { RepositoryLocks } from './repository-locks.ts';
import type { Tables } from '../store/tables.ts';
import { SerialQueue } from '../../kit/serial-queue.ts';

/** Delay of the maintenance after the last push, ms. */
const idleMs = 30_000;
/** Age of pushes after which their maintenance is complete, ms. */
const recentMs = 60 * 60_000;
const timeoutMs = 60 * 60_000;
/** Maintenance runs from these numbers of loose objects, packs and objects without a bitmap. */
const thresholds = { loose: 200, packs: 6, unmapped: 1000 } as const;

export interface MaintenanceDependencies {
  readonly context: Pick<Context, 'bus' | 'clock' | 'db' | 'log'>;
  readonly git: Git;
  readonly locks: RepositoryLocks;
  readonly find: (id: number) => Promise<Repository | undefined>;
  readonly folder: (repository: Repository) => string;
}

/**
 * Maintains repositories one after another when no push occurred for a while: packs are combined, with a bitmap that
 * makes clones cheap and an index of paths that makes histories cheap. Objects are never deleted.
 */
export class Maintenance implements AsyncDisposable {
  readonly #dependencies: MaintenanceDependencies;
  readonly #timers = new Map<number, Disposable>();
  readonly #subscription: Disposable;
  #abortController: AbortController = new AbortController();
  readonly #queue = new SerialQueue();
  /** Number of tasks that need unchanged packs. */
  #pauseCount = 0;
  #isDisposed = false;

  constructor(deps: MaintenanceDependencies) {
    this.#dependencies = deps;
    const schedule = ({ repository }: { readonly repository: number }): void => this.#schedule(repository);
    this.#subscription = deps.context.bus.subscribe(gitPushed, schedule);
  }

  /** Schedules the repositories with recent pushes, which the former owner of the work may not have maintained. */
  async scheduleRecent(): Promise<void> {
    const { clock, db } = this.#dependencies.context;
    const rows = await (db as Kysely<Tables>)
      .selectFrom('repositories')
      .select('id')
      .where('pushed_at', '>', clock.now() - recentMs)
      .execute();
    for (const { id } of rows) this.#schedule(id);
  }

  /** Runs a task while packs must not change. A running maintenance is aborted. */
  async runPaused<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#pauseCount += 1;
    this.#abortController.abort();
    return this.#queue.run(work).finally(() => (this.#pauseCount -= 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#subscription[Symbol.dispose]();
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    this.#abortController.abort();
    await this.#queue.settled();
  }

  #schedule(id: number): void {
    if (this.#isDisposed) return;
    this.#timers.get(id)?.[Symbol.dispose]();
    const timer = this.#dependencies.context.clock.after(idleMs, () => {
      this.#timers.delete(id);
      void this.#queue.run(() => this.#maintain(id));
    });
    this.#timers.set(id, timer);
  }

  async #maintain(id: number): Promise<void> {
    const { context, find, folder, locks } = this.#dependencies;
    if (this.#pauseCount > 0) return this.#schedule(id);
    this.#abortController = new AbortController();
    try {
      const repository = await find(id);
      if (repository === undefined || this.#isDisposed) return;
      // Locks of git that an ended host left behind are removed first.
      if ((await locks.listInterrupted('maintenance')).includes(id)) return this.#schedule(id);
      // The lock shows other hosts that this one left git's own locks behind.
      await locks.run('maintenance', id, () => this.#combinePacks(id, folder(repository)));
    } catch (error) {
      if (this.#abortController.signal.aborted) return this.#schedule(id);
      // The repository may have been removed. The next push schedules maintenance again.
      context.log.warn('repository maintenance failed', { repository: id, error });
    }
  }

  async #combinePacks(id: number, path: string): Promise<void> {
    const { context, git } = this.#dependencies;
    await removeStaleFiles(path, context.clock.now());
    const before = await readCounts(git, path);
    if (!(await isDue(path, before))) return;
    const signal = AbortSignal.any([this.#abortController.signal, AbortSignal.timeout(timeoutMs)]);
    const run = (...args: string[]) => git.run(path, args, { longRunning: true, signal });
    await run('pack-refs', '--all', '--prune');
    await run('repack', '--geometric=2', '-d', '-l', '-q', '--write-midx', '--write-bitmap-index');
    await run('commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress');
    context.log.info('repository maintenance completed', { repository: id, packs: before.packs, loose: before.loose });
  }
}

async function isDue(path: string, { loose, packs, packed }: Awaited<ReturnType<typeof readCounts>>): Promise<boolean> {
  if (loose >= thresholds.loose || packs >= thresholds.packs) return true;
  const hasBitmap = (await readdir(join(path, 'objects', 'pack'))).some((name) => name.endsWith('.bitmap'));
  if (!hasBitmap) return packed >= thresholds.unmapped;
  // The host ended, or maintenance was aborted, after the bitmap and before the index of paths was written.
  return !(await readdir(join(path, 'objects', 'info'))).some((name) => /^commit-graphs?$/.test(name));
}
