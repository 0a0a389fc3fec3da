import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Kysely } from 'kysely';
import { extract, pack, type Pack } from 'tar-stream';
import { z } from 'zod';
import { removeTree, replaceFile } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { validateRepositoryName } from '../domain/names.ts';
import { buildDiskFullProblem, isDiskFull } from '../engine/disk-full.ts';
import { GitError, type Git } from '../engine/git.ts';
import { assetFolder, lfsFolder } from '../repositories/file-folders.ts';
import type { LfsStore } from '../lfs/lfs-store.ts';
import type { Releases } from '../releases/releases.ts';
import type { RepositoryManager, NewRepository } from '../repositories/repository-manager.ts';
import { readReferences, readSize } from '../repositories/references.ts';
import { writeArchive } from '../repositories/archives.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { BackupCache, type BackupFile, type BackupLease } from './backup-cache.ts';
import { readRecord } from './read-record.ts';
import { RepositoryRecord } from './record.ts';
import { writeRecord } from './write-record.ts';
import { parseJson } from '../../contracts/parse-json.ts';

export interface PortableDependencies {
  readonly context: Pick<Context, 'clock' | 'commit' | 'db' | 'files' | 'log' | 'random'>;
  readonly git: Git;
  readonly manager: RepositoryManager;
  readonly lfs: LfsStore;
  readonly releases: Releases;
  readonly repositories: Repositories;
}

const recordName = 'repository.json';
const bundleName = 'repository.bundle';
/** Independent of the repository's name. */
const tarName = 'backup.tar';
const branchPrefix = 'refs/heads/';
const maxRecordBytes = 512 * 1024 * 1024;

/** Exports a repository with issues, pull requests, releases and LFS objects to a file, and imports such files. */
export class Portable {
  readonly #dependencies: PortableDependencies;
  readonly #cache: BackupCache;

  constructor(deps: PortableDependencies) {
    this.#dependencies = deps;
    this.#cache = new BackupCache(deps.context.clock);
  }

  /**
   * Creates a backup. Its path is valid until it is released.
   * @throws Problem `git.busy` (503), `git.disk_full` (507)
   */
  save(repository: Repository): Promise<BackupLease> {
    const { context, git, manager } = this.#dependencies;
    return this.#cache.acquire(repository.id, async () => {
      // Read the tables first: the objects that they refer to are never deleted.
      const record = await readRecord(context.db, repository, context.clock.now());
      const references = await readReferences(git, manager.getFolder(repository), 'refs/');
      const content = JSON.stringify([{ ...record, savedAt: 0 }, references]);
      const state = createHash('sha256').update(content).digest('hex');
      return { state, make: () => this.#createBackup(repository, record, references.length === 0) };
    });
  }

  /** Creates a source archive of a commit in the format `kind`. It is cached like a backup. */
  source(repository: Repository, commit: string, kind: string): Promise<BackupLease> {
    const make = async (): Promise<BackupFile> => {
      const folder = await this.#createFolder();
      const path = join(folder, 'source');
      try {
        await writeArchive(this.#dependencies, repository, { commit, kind, path });
        return { folder, path };
      } catch (error) {
        await removeTree(folder);
        throw error;
      }
    };
    return this.#cache.acquire(repository.id, () => Promise.resolve({ state: `${commit}.${kind}`, make }));
  }

  /**
   * Imports a repository. It is hidden until it is complete. If it rejects, nothing is stored.
   * @throws Problem (409, 422), `git.disk_full` (507)
   */
  async restore(input: Readable, target: Pick<NewRepository, 'owner' | 'ownerKind' | 'name'>): Promise<Repository> {
    const { context, git, manager, lfs } = this.#dependencies;
    const folder = await this.#createFolder();
    let row: { id: number; folder: string } | undefined;
    try {
      await extractArchive(input, folder);
      const record = await readRecordFile(folder);
      const {
        archived,
        defaultBranch,
        description,
        options,
        private: isPrivate,
        template,
        topics,
        website,
      } = record.repository;
      const name = target.name === '' ? record.repository.name : target.name;
      const nameProblem = validateRepositoryName(name);
      if (nameProblem !== undefined)
        throw buildInvalidBackupProblem(`it names a repository as none can be named: ${nameProblem}`);
      const values = { ...target, name, private: isPrivate, defaultBranch, description, website, template };
      return await manager.create(values, async (path) => {
        await this.#importBundle(join(folder, bundleName), path);
        const branches = (await readReferences(git, path, branchPrefix)).map(({ ref }) =>
          ref.slice(branchPrefix.length),
        );
        const db: Kysely<Tables> = context.db;
        row = await db
          .selectFrom('repositories')
          .select(['id', 'folder'])
          .where('folder', '=', basename(path, '.git'))
          .executeTakeFirstOrThrow();
        for (const lfsObject of record.largeFiles)
          await lfs.receive(row, lfsObject, createReadStream(join(folder, `lfs-${lfsObject.oid}`)));
        const importedRecord = await this.#importAssets(folder, row.folder, record);
        const { id } = row;
        await context.commit((transaction: Kysely<Tables>) => writeRecord(transaction, id, importedRecord));
        return {
          branch_count: branches.length,
          empty: Number(branches.length === 0),
          size: await readSize(git, path),
          archived: Number(archived),
          topics: JSON.stringify(topics),
          options: JSON.stringify(options),
        };
      });
    } catch (error) {
      if (row !== undefined) {
        for (const path of [lfsFolder(context.files, row.folder), assetFolder(context.files, row.folder)])
          await removeTree(path);
      }
      if (error instanceof GitError || error instanceof z.ZodError)
        throw buildInvalidBackupProblem('its contents are damaged', error);
      throw error;
    } finally {
      await removeTree(folder);
    }
  }

  /** Fetches all references of a bundle. An empty repository has none. */
  async #importBundle(bundle: string, path: string): Promise<void> {
    if ((await stat(bundle).catch(() => undefined)) === undefined) return;
    const { git } = this.#dependencies;
    const args = ['fetch', '--quiet', '--no-auto-gc', '--no-write-fetch-head', '--', bundle, '+refs/*:refs/*'];
    const config = ['transfer.fsckObjects=false'];
    await git.run(path, args, { longRunning: true, config, environment: { GIT_ALLOW_PROTOCOL: 'file' } });
    // Some versions of git do not check the objects of a bundle, and others reject tolerated objects.
    await git.run(path, ['fsck', '--strict', '--no-dangling', '--no-progress'], { longRunning: true });
  }

  /** Removes temporary files that a killed host left behind. */
  async clean(): Promise<void> {
    await removeTree(join(this.#dependencies.context.files, 'portable'));
  }

  async #createBackup(repository: Repository, record: RepositoryRecord, isEmpty: boolean): Promise<BackupFile> {
    const { context, git, manager, lfs, releases } = this.#dependencies;
    const folder = await this.#createFolder();
    try {
      const bundle = join(folder, bundleName);
      const source = manager.getFolder(repository);
      if (!isEmpty) await git.run(source, ['bundle', 'create', '--quiet', bundle, '--all'], { longRunning: true });
      const tar = pack();
      const path = join(folder, tarName);
      const writeTask = pipeline(tar, createWriteStream(path, { mode: 0o600, flush: true }));
      const fillTask = (async () => {
        if (!isEmpty && !(await addFile(tar, bundleName, bundle))) throw new Error('bundle file is missing');
        const missing = new Set<string>();
        for (const { oid, path: file } of await lfs.listObjects(repository))
          if (!(await addFile(tar, `lfs/${oid}`, file))) missing.add(oid);
        for (const { uuid } of [...record.release_assets, ...record.issue_attachments])
          if (!(await addFile(tar, `assets/${uuid}`, releases.getPath(repository, uuid)))) missing.add(uuid);
        // Files that were deleted in the meantime or are lost are omitted, so that the backup can be restored.
        if (missing.size > 0)
          context.log.warn('repository backup created with missing files', {
            repository: repository.id,
            files: [...missing],
          });
        tar.entry({ name: recordName }, JSON.stringify(omitMissing(record, missing)));
        tar.finalize();
      })();
      fillTask.catch((error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))));
      await Promise.all([writeTask, fillTask]);
      await rm(bundle, { force: true });
      return { folder, path };
    } catch (error) {
      await removeTree(folder);
      throw isDiskFull(error) ? buildDiskFullProblem(error) : error;
    }
  }

  /**
   * Moves the files into the repository under new IDs, so that a backup can be restored twice. Links in texts are
   * updated.
   */
  async #importAssets(from: string, folder: string, record: RepositoryRecord): Promise<RepositoryRecord> {
    const newUuids = new Map<string, string>();
    const importFile = async <File extends { readonly name: string; readonly uuid: string }>(file: File) => {
      const uuid = randomUUID();
      const target = join(assetFolder(this.#dependencies.context.files, folder), uuid);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      const source = join(from, `assets-${file.uuid}`);
      const { size } = await stat(source).catch((cause: unknown) => {
        throw buildInvalidBackupProblem(`the file ${file.name} is missing`, cause);
      });
      await replaceFile(source, target).catch(() => copyFile(source, target));
      newUuids.set(file.uuid, uuid);
      return { ...file, uuid, size };
    };
    const release_assets = [];
    for (const asset of record.release_assets) release_assets.push(await importFile(asset));
    const issue_attachments = [];
    for (const file of record.issue_attachments) issue_attachments.push(await importFile(file));
    const updateLinks = (text: string): string =>
      text.replaceAll(
        /\/attachments\/([0-9a-f-]{36})\b/g,
        (all, uuid: string) => `/attachments/${newUuids.get(uuid) ?? uuid}`,
      );
    const withBody = <Row extends { readonly body: string }>(row: Row): Row => ({
      ...row,
      body: updateLinks(row.body),
    });
    return {
      ...record,
      release_assets,
      issue_attachments,
      issues: record.issues.map(withBody),
      issue_entries: record.issue_entries.map(withBody),
    };
  }

  async #createFolder(): Promise<string> {
    const { files, random } = this.#dependencies.context;
    const path = join(files, 'portable', random.text(20));
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }
}

/** Adds a file to the archive. Returns false if it does not exist. */
async function addFile(tar: Pack, name: string, path: string): Promise<boolean> {
  const file = await open(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return false;
  await using handle = file;
  const { size } = await handle.stat();
  await new Promise<void>((resolve, reject) => {
    const entry = tar.entry({ name, size }, (error) => (error ? reject(error) : resolve()));
    pipeline(handle.createReadStream({ end: Math.max(0, size - 1), autoClose: false }), entry).catch(reject);
  });
  return true;
}

/** Removes the rows of missing files. */
function omitMissing(record: RepositoryRecord, missing: ReadonlySet<string>): RepositoryRecord {
  const isPresent = ({ uuid }: { readonly uuid: string }): boolean => !missing.has(uuid);
  return {
    ...record,
    release_assets: record.release_assets.filter(isPresent),
    issue_attachments: record.issue_attachments.filter(isPresent),
    largeFiles: record.largeFiles.filter(({ oid }) => !missing.has(oid)),
  };
}

/** Extracts the known files of an archive under fixed names. Names from the archive are never used as paths. */
async function extractArchive(input: Readable, folder: string): Promise<void> {
  const entries = extract();
  const inputTask = pipeline(input, entries).catch((cause: unknown) => {
    throw buildInvalidBackupProblem('it is cut off, or no backup of a repository', cause);
  });
  inputTask.catch(() => undefined);
  try {
    for await (const entry of entries) {
      const { name, size = 0, type } = entry.header;
      const isKnown =
        name === recordName || name === bundleName || /^(lfs\/[0-9a-f]{64}|assets\/[0-9a-f-]{36})$/.test(name);
      if (!isKnown || type !== 'file') throw buildInvalidBackupProblem('it holds what does not belong there');
      if (name === recordName && size > maxRecordBytes)
        throw buildInvalidBackupProblem('its list of issues is too large');
      await pipeline(entry, createWriteStream(join(folder, name.replace('/', '-')), { flags: 'wx', mode: 0o600 }));
    }
  } catch (error) {
    input.resume();
    if (isDiskFull(error)) {
      await inputTask.catch(() => undefined);
      throw buildDiskFullProblem(error);
    }
    await inputTask;
    throw error instanceof Problem ? error : buildInvalidBackupProblem('it is no backup of a repository', error);
  }
  await inputTask;
}

async function readRecordFile(folder: string): Promise<RepositoryRecord> {
  try {
    return RepositoryRecord.parse(parseJson(await readFile(join(folder, recordName), 'utf8')));
  } catch (cause) {
    throw buildInvalidBackupProblem('it is no backup of a repository', cause);
  }
}

function buildInvalidBackupProblem(reason: string, cause?: unknown): Problem {
  return new Problem('git.bad_backup', 422, `This file cannot be restored: ${reason}.`, { cause });
}
