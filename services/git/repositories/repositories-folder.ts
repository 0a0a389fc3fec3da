import * as m from '#messages/git-problems';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { SingleFlight } from '../../kit/single-flight.ts';
import { systemTimer } from '../../kit/system-timer.ts';
import type { Tables } from '../store/tables.ts';
import {
  markerName,
  readMarker,
  removeMarker,
  reserveMarker,
  writeMarker,
  type FolderMarker,
} from './folder-marker.ts';
import { getRelativeFolder, readFolderContent } from './repository-folders.ts';

/** Time for which the result of a check applies, ms. */
const freshMs = 1000;
/** Interval of checks without requests, ms. */
const checkEveryMs = 5000;
/** Maximum time that a check waits for the file system, ms. A network file system can block without an error. */
const timeoutMs = 5000;
/** Number of repositories that are searched in a folder that no host uses yet. */
const maxSearched = 50;
/** Delay before a marker that another host is writing is read again, ms. */
const markerDelayMs = 200;
/** Maximum number of unexpected files that are logged. */
const maxLogged = 5;
const rowName = 'repositories';
/** File in the folder of the service. */
export const restoreMarkerName = 'restored';

export interface RepositoriesFolderOptions {
  readonly context: Pick<Context, 'clock' | 'commit' | 'db' | 'files' | 'log' | 'random' | 'singleHost' | 'vault'>;
  /** Path of the settings; empty for the folder of the service. */
  readonly configuredPath: string;
}

/** Called when the folder becomes available or unavailable. */
export type AvailabilityListener = (isAvailable: boolean) => void;

/**
 * Folder with all repositories, which several hosts can share as a network file system. A marker in the folder and a
 * row in the tables contain the same random id, so a host notices a folder that is not the one of the other hosts, and
 * one whose file system is not mounted. It then refuses all work on repositories instead of showing empty ones.
 */
export class RepositoriesFolder implements AsyncDisposable {
  readonly path: string;
  /** The folder is outside of the data folder, and other hosts may use it. */
  readonly isShared: boolean;
  /** The folder is in the data folder and does not exist before the first repository. */
  readonly mayBeMissing: boolean;
  readonly #isConfigured: boolean;
  readonly #context: RepositoriesFolderOptions['context'];
  readonly #isVerified: boolean;
  readonly #listeners = new Set<AvailabilityListener>();
  readonly #checking = new SingleFlight(() => this.#check());
  #marker: FolderMarker | undefined;
  #problem: Problem | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #timer: Disposable | undefined;
  /** Read that the file system has not answered. */
  #blocked: Promise<unknown> | undefined;

  constructor({ context, configuredPath }: RepositoriesFolderOptions) {
    this.#context = context;
    this.path = configuredPath === '' ? join(context.files, 'repositories') : configuredPath;
    this.isShared = configuredPath !== '' && !context.singleHost;
    this.#isConfigured = configuredPath !== '';
    this.#isVerified = this.#isConfigured || !context.singleHost;
    this.mayBeMissing = !this.#isVerified;
  }

  /** Reason why the folder cannot be used; undefined while it can be used. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** Checks the folder, now and regularly. Resolves also if it cannot be used. */
  async start(): Promise<void> {
    if (!this.#isVerified) return;
    await this.#checking.run();
    this.#timer = this.#context.clock.every(checkEveryMs, () => void this.#checking.run());
  }

  /** Calls a listener after each change of the availability until it is disposed. */
  onChange(listener: AvailabilityListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /**
   * Ensures that the folder can be used. Without `now`, a check of the last second is sufficient.
   * @throws Problem `git.repositories_unavailable`, `git.repositories_not_shared`, `git.repositories_foreign`,
   * `git.repositories_missing`, `git.repositories_not_dedicated` (503)
   */
  async ensure({ now = false } = {}): Promise<void> {
    if (!this.#isVerified) return;
    // The regular check ends the problem, so that requests do not wait for a file system that does not respond.
    this.#throwProblem();
    if (!now && performance.now() - this.#checkedAt < freshMs) return;
    await this.#checking.run();
    this.#throwProblem();
  }

  /**
   * Checks the folder now, also while an earlier check has failed: a backup does not depend on the regular check.
   * @throws Problem as {@link ensure}
   */
  async verify(): Promise<void> {
    if (!this.#isVerified) return;
    await this.#checking.run();
    this.#throwProblem();
  }

  /**
   * Ensures that a backup can be restored to the folder: no installation has used it, or it can be used.
   * @throws Problem as {@link ensure}
   */
  async ensureRestorable(): Promise<void> {
    // The folder in the data folder was replaced with the rest of it.
    if (!this.#isConfigured) return;
    if ((await readMarker(this.path)) !== undefined || (await this.#readStoredId()) !== undefined) return this.verify();
    await this.#ensureDedicated();
  }

  /** Returns the present time by the clock of the file system, which sets the times of files. */
  async readClock(): Promise<number> {
    const path = join(this.path, `.clock-${this.#context.random.text(8)}`);
    await writeFile(path, '');
    try {
      return (await stat(path)).mtimeMs;
    } finally {
      await rm(path, { force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#listeners.clear();
    await this.#checking.settled();
  }

  #throwProblem(): void {
    if (this.#problem !== undefined) throw this.#problem;
  }

  async #check(): Promise<void> {
    const before = this.#problem;
    try {
      await this.#withTimeout(() => (this.#marker === undefined ? this.#open() : this.#verify(this.#marker)));
      this.#problem = undefined;
    } catch (error) {
      this.#problem = error instanceof Problem ? error : buildUnavailableProblem(error);
    }
    this.#checkedAt = performance.now();
    const { log } = this.#context;
    const isAvailable = this.#problem === undefined;
    if (before?.code !== this.#problem?.code) {
      if (isAvailable) log.info('repositories folder available', { folder: this.path });
      else log.error('repositories folder unavailable', { folder: this.path, error: this.#problem });
    }
    if ((before === undefined) !== isAvailable) for (const listener of this.#listeners) listener(isAvailable);
  }

  /** Only one check waits for a file system that does not respond, since each blocks a thread. */
  async #withTimeout(work: () => Promise<void>): Promise<void> {
    if (this.#blocked !== undefined) throw buildUnavailableProblem();
    const run = work();
    const timeout = Promise.withResolvers<'timeout'>();
    using _timer = systemTimer.after(timeoutMs, () => timeout.resolve('timeout'));
    if ((await Promise.race([run, timeout.promise])) !== 'timeout') return;
    this.#blocked = run.then(
      () => (this.#blocked = undefined),
      () => (this.#blocked = undefined),
    );
    throw buildUnavailableProblem();
  }

  /** Checks that the folder is still the one that was opened. */
  async #verify({ id, installation }: FolderMarker): Promise<void> {
    const marker = await readMarker(this.path);
    if (marker === undefined || marker === 'empty') throw buildUnavailableProblem();
    if (marker.installation !== installation) throw buildForeignProblem();
    if (marker.id !== id) throw buildNotSharedProblem();
  }

  /** Opens the folder: its marker must match the row of the other hosts. The first host writes both. */
  async #open(): Promise<void> {
    const installation = this.#context.vault.fingerprint('git', 'repositories-folder');
    const marker = await this.#readCompleteMarker();
    const storedId = await this.#readStoredId();
    if (marker === undefined && storedId !== undefined) {
      if (!this.#isConfigured && (await exists(getRestoreMarker(this.#context.files))))
        return this.#adopt(installation, storedId);
      // A missing folder, unlike an empty one, cannot be a wrong one.
      throw (await exists(this.path)) ? buildNotSharedProblem() : buildUnavailableProblem();
    }
    if (marker === undefined) return this.#claim(installation);
    if (marker === 'empty') return this.#adopt(installation, storedId);
    if (marker.installation !== installation) throw buildForeignProblem();
    // The tables were replaced. The folder may contain repositories that only the former tables know.
    if (storedId === undefined) await this.#ensureDedicated();
    if ((storedId ?? (await this.#storeId(marker.id))) !== marker.id) throw buildNotSharedProblem();
    this.#marker = marker;
  }

  /** Makes the folder the one of the installation, which has none yet. */
  async #claim(installation: string): Promise<void> {
    if (!(await this.#containsRepositories())) throw buildProblem('git.repositories_missing', m.repositoriesMissing);
    if (this.#isConfigured) await this.#ensureDedicated();
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    // Another host has claimed the same folder at the same moment.
    if (!(await reserveMarker(this.path))) return this.#open();
    const marker = { id: this.#context.random.text(20), installation };
    if ((await this.#storeId(marker.id)) !== marker.id) {
      if ((await readMarker(this.path)) === 'empty') await removeMarker(this.path);
      throw buildNotSharedProblem();
    }
    await writeMarker(this.path, marker);
    this.#marker = marker;
  }

  /** Completes an empty marker, which an administrator or an interrupted host created. */
  async #adopt(installation: string, storedId: string | undefined): Promise<void> {
    if (this.#isConfigured) await this.#ensureDedicated();
    const id = storedId ?? (await this.#storeId(this.#context.random.text(20)));
    const marker = { id, installation };
    await writeMarker(this.path, marker);
    this.#marker = marker;
  }

  /** Reads the marker. Waits for another host that has reserved it and will complete it. */
  async #readCompleteMarker(): Promise<FolderMarker | 'empty' | undefined> {
    const marker = await readMarker(this.path);
    if (marker !== 'empty') return marker;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    using _timer = systemTimer.after(markerDelayMs, () => resolve(undefined));
    await promise;
    return readMarker(this.path);
  }

  /**
   * Ensures that the folder contains only known repositories: those without a row are removed, and a folder with other
   * files was probably selected by mistake.
   */
  async #ensureDedicated(): Promise<void> {
    const { folders, others } = await readFolderContent(this.path, { mayBeMissing: true });
    const rows = await (this.#context.db as Kysely<Tables>).selectFrom('repositories').select('folder').execute();
    const expected = new Set(rows.map(({ folder }) => getRelativeFolder(folder)));
    const unknown = folders
      .filter(({ isRemoved }) => !isRemoved)
      .map(({ part, name }) => join(part, name))
      .filter((path) => !expected.has(path));
    const unexpected = [...unknown, ...others.filter((path) => !isCreatedBySystem(path))];
    if (unexpected.length === 0) return;
    const cause = new Error(`unexpected content: ${unexpected.slice(0, maxLogged).join(', ')}`);
    throw buildProblem('git.repositories_not_dedicated', m.repositoriesNotDedicated, cause);
  }

  /** Returns whether the folder contains most repositories of the tables, so that no host claims an empty one. */
  async #containsRepositories(): Promise<boolean> {
    const rows = await (this.#context.db as Kysely<Tables>)
      .selectFrom('repositories')
      .select('folder')
      .where('filling', '=', 0)
      .orderBy('id', 'desc')
      .limit(maxSearched)
      .execute();
    const results = await Promise.all(rows.map(({ folder }) => exists(join(this.path, getRelativeFolder(folder)))));
    return results.filter(Boolean).length * 2 >= rows.length;
  }

  async #readStoredId(): Promise<string | undefined> {
    const row = await (this.#context.db as Kysely<Tables>)
      .selectFrom('repository_folders')
      .select('id')
      .where('name', '=', rowName)
      .executeTakeFirst();
    return row?.id;
  }

  /** Stores the id unless another host has stored one. Returns the stored id. */
  async #storeId(id: string): Promise<string> {
    return this.#context.commit(async (transaction: Kysely<Tables>) => {
      await transaction
        .insertInto('repository_folders')
        .values({ name: rowName, id })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute();
      const row = await transaction
        .selectFrom('repository_folders')
        .select('id')
        .where('name', '=', rowName)
        .executeTakeFirstOrThrow();
      return row.id;
    });
  }
}

/** Returns whether an unused folder can contain the file: the marker, and what file systems and computers create. */
function isCreatedBySystem(path: string): boolean {
  return path.startsWith(markerName) || path.startsWith('.') || path === 'lost+found';
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function buildUnavailableProblem(cause?: unknown): Problem {
  return buildProblem('git.repositories_unavailable', m.repositoriesUnavailable, cause);
}

function buildNotSharedProblem(): Problem {
  return buildProblem('git.repositories_not_shared', m.repositoriesNotShared);
}

function buildForeignProblem(): Problem {
  return buildProblem('git.repositories_foreign', m.repositoriesForeign);
}

/** Builds a Problem for clients of all kinds, which does not name the folder. */
function buildProblem(code: string, text: () => string, cause?: unknown): Problem {
  return new Problem(code, 503, text, { cause });
}

/** Returns the path of a file that exists from the restore of a backup until the tables are updated. */
export function getRestoreMarker(files: string): string {
  return join(files, restoreMarkerName);
}
