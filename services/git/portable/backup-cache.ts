import * as m from '#messages/git-problems';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';

/** Backup file that a client is downloading. */
export interface BackupLease {
  readonly path: string;
  /** Call it when the download has ended. */
  readonly release: () => void;
}

/** Location of a new backup. */
export interface BackupFile {
  readonly folder: string;
  readonly path: string;
}

interface CacheEntry extends BackupFile {
  readonly repository: number;
  /** Hash of the repository's content at the time of the backup. */
  readonly state: string;
  readonly timers: readonly Disposable[];
  readers: number;
  isRecent: boolean;
}

/** Maximum number of files. Each may be as large as its repository. */
const maxFiles = 8;
/** Time for which an unused file is kept for another request, such as a client that resumes a download, ms. */
const idleMs = 60_000;
/** Maximum time of a download, ms. */
const maxDownloadMs = 60 * 60_000;

/**
 * Cache of backup files. Only one backup of a repository is created at a time. It is reused while the repository does
 * not change.
 */
export class BackupCache {
  readonly #clock: Context['clock'];
  readonly #entries = new Set<CacheEntry>();
  readonly #queues = new Map<number, Promise<unknown>>();
  #pendingCount = 0;

  constructor(clock: Context['clock']) {
    this.#clock = clock;
  }

  /**
   * Returns a backup of the current state. `make` runs if there is none in the cache.
   * @throws Problem `git.busy` (503)
   */
  async acquire(
    repository: number,
    inspect: () => Promise<{ readonly state: string; readonly make: () => Promise<BackupFile> }>,
  ): Promise<BackupLease> {
    const before = this.#queues.get(repository) ?? Promise.resolve();
    const task = before.then(async () => {
      const { make, state } = await inspect();
      const cached = [...this.#entries].find((entry) => entry.repository === repository && entry.state === state);
      return this.#lease(cached ?? this.#addEntry(repository, state, await this.#create(repository, make)));
    });
    const settled = task.then(
      () => undefined,
      () => undefined,
    );
    this.#queues.set(repository, settled);
    try {
      return await task;
    } finally {
      if (this.#queues.get(repository) === settled) this.#queues.delete(repository);
    }
  }

  async #create(repository: number, make: () => Promise<BackupFile>): Promise<BackupFile> {
    const idle = [...this.#entries].filter(({ readers }) => readers === 0);
    // Remove outdated files, and the oldest ones if the cache is full.
    for (const entry of idle) {
      if (entry.repository === repository || this.#entries.size + this.#pendingCount >= maxFiles)
        this.#removeEntry(entry);
    }
    if (this.#entries.size + this.#pendingCount >= maxFiles) {
      throw new Problem('git.busy', 503, m.tooManyBackups);
    }
    this.#pendingCount += 1;
    try {
      return await make();
    } finally {
      this.#pendingCount -= 1;
    }
  }

  #addEntry(repository: number, state: string, file: BackupFile): CacheEntry {
    const entry: CacheEntry = {
      ...file,
      repository,
      state,
      readers: 0,
      isRecent: true,
      timers: [
        this.#clock.after(idleMs, () => {
          entry.isRecent = false;
          if (entry.readers === 0) this.#removeEntry(entry);
        }),
        this.#clock.after(maxDownloadMs, () => this.#removeEntry(entry)),
      ],
    };
    this.#entries.add(entry);
    return entry;
  }

  #lease(entry: CacheEntry): BackupLease {
    entry.readers += 1;
    let isLeased = true;
    return {
      path: entry.path,
      release: () => {
        if (!isLeased) return;
        isLeased = false;
        entry.readers -= 1;
        if (entry.readers === 0 && !entry.isRecent) this.#removeEntry(entry);
      },
    };
  }

  #removeEntry(entry: CacheEntry): void {
    if (!this.#entries.delete(entry)) return;
    for (const timer of entry.timers) timer[Symbol.dispose]();
    // A file that cannot be removed now is removed at the next start.
    void removeTree(entry.folder).catch(() => undefined);
  }
}
