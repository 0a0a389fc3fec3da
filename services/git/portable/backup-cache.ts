import { rm } from 'node:fs/promises';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';

/** Backup file that a client is downloading. */
export interface SavedBackup {
  readonly path: string;
  /** Call it when the download has ended. */
  readonly release: () => void;
}

/** Location of a new backup. */
export interface MadeBackup {
  readonly folder: string;
  readonly path: string;
}

interface Kept extends MadeBackup {
  readonly repository: number;
  /** Hash of the repository's content at the time of the backup. */
  readonly state: string;
  readonly timers: readonly Disposable[];
  readers: number;
  isFresh: boolean;
}

/** Maximum number of files. Each may be as large as its repository. */
const mostKept = 8;
/** Time for which an unused file is kept for another request, such as a client that resumes a download, ms. */
const freshMs = 60_000;
/** Maximum time of a download, ms. */
const longestMs = 60 * 60_000;

/**
 * Cache of backup files. Only one backup of a repository is created at a time. It is reused while the repository does
 * not change.
 */
export class KeptBackups {
  readonly #clock: Context['clock'];
  readonly #kept = new Set<Kept>();
  readonly #turns = new Map<number, Promise<unknown>>();
  #making = 0;

  constructor(clock: Context['clock']) {
    this.#clock = clock;
  }

  /**
   * Returns a backup of the current state. `make` runs if there is none in the cache.
   * @throws Problem `git.busy` (503)
   */
  async take(
    repository: number,
    look: () => Promise<{ readonly state: string; readonly make: () => Promise<MadeBackup> }>,
  ): Promise<SavedBackup> {
    const before = this.#turns.get(repository) ?? Promise.resolve();
    const turn = before.then(async () => {
      const { make, state } = await look();
      const known = [...this.#kept].find((each) => each.repository === repository && each.state === state);
      return this.#lend(known ?? this.#keep(repository, state, await this.#made(repository, make)));
    });
    const ended = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(repository, ended);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(repository) === ended) this.#turns.delete(repository);
    }
  }

  async #made(repository: number, make: () => Promise<MadeBackup>): Promise<MadeBackup> {
    const idle = [...this.#kept].filter(({ readers }) => readers === 0);
    // Remove outdated files, and the oldest ones if the cache is full.
    for (const each of idle) {
      if (each.repository === repository || this.#kept.size + this.#making >= mostKept) this.#drop(each);
    }
    if (this.#kept.size + this.#making >= mostKept) {
      throw new Problem(
        'git.busy',
        503,
        'Too many repositories are made into files at this moment. Try again a little later.',
      );
    }
    this.#making += 1;
    try {
      return await make();
    } finally {
      this.#making -= 1;
    }
  }

  #keep(repository: number, state: string, made: MadeBackup): Kept {
    const kept: Kept = {
      ...made,
      repository,
      state,
      readers: 0,
      isFresh: true,
      timers: [
        this.#clock.after(freshMs, () => {
          kept.isFresh = false;
          if (kept.readers === 0) this.#drop(kept);
        }),
        this.#clock.after(longestMs, () => this.#drop(kept)),
      ],
    };
    this.#kept.add(kept);
    return kept;
  }

  #lend(kept: Kept): SavedBackup {
    kept.readers += 1;
    let isReading = true;
    return {
      path: kept.path,
      release: () => {
        if (!isReading) return;
        isReading = false;
        kept.readers -= 1;
        if (kept.readers === 0 && !kept.isFresh) this.#drop(kept);
      },
    };
  }

  #drop(kept: Kept): void {
    if (!this.#kept.delete(kept)) return;
    for (const timer of kept.timers) timer[Symbol.dispose]();
    // A file that cannot be removed now is removed at the next start.
    void rm(kept.folder, { recursive: true, force: true }).catch(() => undefined);
  }
}
