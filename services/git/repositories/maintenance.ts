import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import { gitPushed } from '../../contracts/git/topics.ts';
import type { Git } from '../engine/git.ts';
import { removeLeftovers } from './stale-files.ts';
import { readCounts } from './references.ts';
import type { Repository } from './repositories.ts';

/** Delay of the maintenance after the last push, ms. */
const quietMs = 30_000;
const longestMs = 60 * 60_000;
/** Maintenance runs from these numbers of loose objects, packs and objects without a bitmap. */
const limits = { loose: 200, packs: 6, unmapped: 1000 } as const;

export interface MaintenanceDependencies {
  readonly context: Pick<Context, 'bus' | 'clock' | 'log'>;
  readonly git: Git;
  readonly find: (id: number) => Promise<Repository | undefined>;
  readonly folder: (repository: Repository) => string;
}

/**
 * Maintains repositories one after another when no push occurred for a while: packs are combined, with a bitmap that
 * makes clones cheap and an index of paths that makes histories cheap. Objects are never deleted.
 */
export class Upkeep implements AsyncDisposable {
  readonly #dependencies: MaintenanceDependencies;
  readonly #waiting = new Map<number, Disposable>();
  readonly #pushed: Disposable;
  #work: AbortController = new AbortController();
  #turn: Promise<void> = Promise.resolve();
  /** Number of tasks that need unchanged packs. */
  #holders = 0;
  #over = false;

  constructor(deps: MaintenanceDependencies) {
    this.#dependencies = deps;
    this.#pushed = deps.context.bus.subscribe(gitPushed, ({ repository }) => this.#after(repository));
  }

  /** Runs a task while packs must not change. A running maintenance is aborted. */
  async without<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#holders += 1;
    this.#work.abort();
    const done = this.#turn.then(work).finally(() => (this.#holders -= 1));
    this.#turn = done.then(nothing, nothing);
    return done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    this.#pushed[Symbol.dispose]();
    for (const timer of this.#waiting.values()) timer[Symbol.dispose]();
    this.#work.abort();
    await this.#turn;
  }

  #after(id: number): void {
    if (this.#over) return;
    this.#waiting.get(id)?.[Symbol.dispose]();
    const timer = this.#dependencies.context.clock.after(quietMs, () => {
      this.#waiting.delete(id);
      this.#turn = this.#turn.then(() => this.#tidy(id));
    });
    this.#waiting.set(id, timer);
  }

  async #tidy(id: number): Promise<void> {
    const { context, find, folder, git } = this.#dependencies;
    if (this.#holders > 0) return this.#after(id);
    this.#work = new AbortController();
    try {
      const repository = await find(id);
      if (repository === undefined || this.#over) return;
      const path = folder(repository);
      await removeLeftovers(path, context.clock.now());
      const before = await readCounts(git, path);
      if (!(await isDue(path, before))) return;
      const signal = AbortSignal.any([this.#work.signal, AbortSignal.timeout(longestMs)]);
      const run = (...args: string[]) => git.run(path, args, { long: true, signal });
      await run('pack-refs', '--all', '--prune');
      await run('repack', '--geometric=2', '-d', '-l', '-q', '--write-midx', '--write-bitmap-index');
      await run('commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress');
      context.log.info('repository maintenance completed', {
        repository: id,
        packs: before.packs,
        loose: before.loose,
      });
    } catch (error) {
      if (this.#work.signal.aborted) return this.#after(id);
      // The repository may have been removed. The next push schedules maintenance again.
      context.log.warn('repository maintenance failed', { repository: id, error });
    }
  }
}

async function isDue(path: string, { loose, packs, packed }: Awaited<ReturnType<typeof readCounts>>): Promise<boolean> {
  if (loose >= limits.loose || packs >= limits.packs) return true;
  const hasBitmap = (await readdir(join(path, 'objects', 'pack'))).some((name) => name.endsWith('.bitmap'));
  if (!hasBitmap) return packed >= limits.unmapped;
  // The host ended, or maintenance was aborted, after the bitmap and before the index of paths was written.
  return !(await readdir(join(path, 'objects', 'info'))).some((name) => /^commit-graphs?$/.test(name));
}

function nothing(): void {
  // The caller of the task handles its failure.
}
