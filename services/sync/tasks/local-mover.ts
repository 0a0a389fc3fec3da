import { constants, createWriteStream, type Dirent } from 'node:fs';
import { lstat, mkdir, open, readdir, rm, rmdir, unlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { getNoFollowFlag, ignoresCase } from '../../kit/platform/file-systems.ts';
import { removeTree, replaceFile } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { compileExclusion, type Exclusion } from '../domain/exclusion.ts';
import type { StoredFailure } from '../domain/failure-cause.ts';
import { FailureProblem, failures } from '../domain/failures.ts';
import { buildPlan, type ListedEntry, type Listing, type PlannedFile } from '../domain/plan.ts';
import type { JobOutcome } from '../jobs/job.ts';
import { refuseReplacedFilesLinks, refuseLinks } from './links.ts';
import type { LocalEvent } from './local-totals.ts';
import type { Mover, MoverOptions } from './mover.ts';
import { getTimePrecision } from './time-precision.ts';

const maxConcurrency = 8;
const success: JobOutcome = { status: 200, body: {} };
/** Prevents reading a file that became a link after it was listed. Windows has no such flag. */
const noFollowFlag = getNoFollowFlag();

/**
 * Syncs local folders without rclone. Files are written under a temporary name and renamed. Links are skipped, as in
 * rclone, and never followed.
 */
export class LocalMover implements Mover {
  readonly #random: Context['random'];
  readonly #report: (event: LocalEvent) => void;
  readonly #platform: NodeJS.Platform;

  constructor(
    random: Context['random'],
    report: (event: LocalEvent) => void,
    platform: NodeJS.Platform = currentPlatform,
  ) {
    this.#random = random;
    this.#report = report;
    this.#platform = platform;
  }

  async list(location: string, { exclude, signal }: MoverOptions): Promise<Listing> {
    const entries: ListedEntry[] = [];
    const platform = this.#platform;
    await walk({ root: location, exclusion: compileExclusion(exclude), entries, signal }, '');
    const precisionMs = await getTimePrecision(location, entries, platform);
    return { entries, ignoresCase: ignoresCase(platform), precisionMs };
  }

  async copy(
    source: string,
    destination: string,
    replaced: string | undefined,
    options: MoverOptions,
  ): Promise<JobOutcome> {
    const sourceListing = await this.list(source, options);
    await mkdir(destination, { recursive: true });
    const destinationListing = await this.list(destination, options);
    this.#report({ kind: 'listed', entries: sourceListing.entries.length + destinationListing.entries.length });
    const plan = buildPlan(sourceListing, destinationListing, 'copy');
    const created = new Set(plan.creates.map(({ path }) => path));
    for (const { isFolder, path, size } of sourceListing.entries) {
      if (!isFolder && !created.has(path)) this.#report({ kind: 'checked', path, size });
    }
    const transfers = [...plan.creates, ...plan.updates];
    this.#report({ kind: 'planned', files: transfers });
    return await this.#processFiles(transfers, options, async ({ path, size }) => {
      this.#report({ kind: 'started', path, size });
      const target = join(destination, path);
      await refuseLinks(destination, [path]);
      if (replaced !== undefined && (await exists(target))) {
        await refuseReplacedFilesLinks(replaced, path);
        await this.#moveOrDelete(target, join(replaced, path), options.signal);
      }
      await mkdir(dirname(target), { recursive: true });
      const bytes = await copyFile(join(source, path), target, options.signal, this.#random);
      this.#report({ kind: 'copied', path, size: bytes });
    });
  }

  remove(
    location: string,
    files: readonly PlannedFile[],
    to: string | undefined,
    options: MoverOptions,
  ): Promise<JobOutcome> {
    return this.#processFiles(files, options, async ({ path, size }) => {
      await refuseLinks(location, [path]);
      if (to !== undefined) await refuseReplacedFilesLinks(to, path);
      await this.#moveOrDelete(join(location, path), to === undefined ? undefined : join(to, path), options.signal);
      this.#report({ kind: 'removed', path, size });
    });
  }

  async removeFolders(location: string, folders: readonly string[], { signal }: MoverOptions): Promise<void> {
    for (const path of folders) {
      signal.throwIfAborted();
      await refuseLinks(location, [path]);
      // A folder that is not empty stays.
      const isRemoved = await rmdir(join(location, path)).then(
        () => true,
        () => false,
      );
      if (isRemoved) this.#report({ kind: 'removedFolder' });
    }
  }

  async purge(location: string): Promise<void> {
    await refuseReplacedFilesLinks(location, '');
    await removeTree(location);
  }

  async move(from: string, to: string, options: MoverOptions): Promise<JobOutcome> {
    if (!(await exists(from))) return success;
    const { entries } = await this.list(from, options);
    const files = entries.filter(({ isFolder }) => !isFolder);
    const outcome = await this.#processFiles(files, options, async ({ path }) => {
      await refuseReplacedFilesLinks(from, path);
      await refuseLinks(to, [path]);
      await this.#moveOrDelete(join(from, path), join(to, path), options.signal);
    });
    if (outcome.status === 200) await removeTree(from);
    return outcome;
  }

  /** Continues with the other files when one fails, and reports the number of failures at the end. */
  async #processFiles(
    files: readonly PlannedFile[],
    { signal }: MoverOptions,
    work: (file: PlannedFile) => Promise<void>,
  ): Promise<JobOutcome> {
    let errors = 0;
    await forEachConcurrently(files, signal, async (file) => {
      try {
        await work(file);
      } catch (error) {
        if (signal.aborted) throw error;
        errors += 1;
        const failure = toFileFailure(error);
        this.#report({ kind: 'failed', path: file.path, ...failure });
      }
    });
    if (errors === 0) return success;
    const failure = failures.filesFailed.create({ count: errors });
    return { status: 500, body: { error: failure.error }, failure };
  }

  /** Moves a file, also to another file system, or deletes it without a target. */
  async #moveOrDelete(from: string, to: string | undefined, signal: AbortSignal): Promise<void> {
    if (to === undefined) return await unlink(from);
    await mkdir(dirname(to), { recursive: true });
    try {
      await replaceFile(from, to);
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EXDEV') throw error;
      await copyFile(from, to, signal, this.#random);
      await unlink(from);
    }
  }
}

async function forEachConcurrently<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      signal.throwIfAborted();
      await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrency }, worker));
}

interface WalkOptions {
  readonly root: string;
  readonly exclusion: Exclusion;
  readonly entries: ListedEntry[];
  readonly signal: AbortSignal;
}

async function walk(options: WalkOptions, relativeFolder: string): Promise<void> {
  const { root, exclusion, entries, signal } = options;
  signal.throwIfAborted();
  let directoryEntries: Dirent[];
  try {
    directoryEntries = await readdir(join(root, relativeFolder), { withFileTypes: true });
  } catch (error) {
    const isMissing = relativeFolder === '' && error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isMissing) throw new Problem('sync.no_folder', 404, 'directory not found', { retryable: true });
    throw new Problem('sync.unreadable', 502, () => getErrorMessage(error));
  }
  for (const entry of directoryEntries) {
    const path = relativeFolder === '' ? entry.name : `${relativeFolder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (exclusion.folder(path)) continue;
      entries.push({ path, size: -1, modifiedAt: null, isFolder: true });
      await walk(options, path);
    } else if (entry.isFile() && !exclusion.file(path)) {
      const { size, mtimeMs } = await lstat(join(root, path));
      entries.push({ path, size, modifiedAt: Math.round(mtimeMs), isFolder: false });
    }
  }
}

async function copyFile(from: string, to: string, signal: AbortSignal, random: Context['random']): Promise<number> {
  const temporaryPath = `${to}.${random.text(8)}.partial`;
  try {
    await using source = await open(from, constants.O_RDONLY | noFollowFlag);
    const { size, atime, mtime, mode } = await source.stat();
    const target = createWriteStream(temporaryPath, { mode: mode & 0o777, flags: 'wx' });
    await pipeline(source.createReadStream({ autoClose: false }), target, { signal });
    await utimes(temporaryPath, atime, mtime);
    await replaceFile(temporaryPath, to);
    return size;
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

function toFileFailure(error: unknown): StoredFailure {
  if (error instanceof FailureProblem) return error.failure;
  return { error: getErrorMessage(error), code: error instanceof Problem ? error.code : '' };
}

function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
