import * as m from '#messages/git-problems';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Kysely } from 'kysely';
import { extract, pack } from 'tar-stream';
import { z } from 'zod';
import { removeTree } from '../../kit/platform/file-replacement.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { validateRepositoryName } from '../domain/names.ts';
import { buildDiskFullProblem, isDiskFull } from '../engine/disk-full.ts';
import { GitError, type Git } from '../engine/git.ts';
import { assetFolder } from '../repositories/file-folders.ts';
import { removeRepositoryBlobs } from '../repositories/repository-blobs.ts';
import type { LfsStore } from '../lfs/lfs-store.ts';
import type { Releases } from '../releases/releases.ts';
import type { RepositoryManager, NewRepository } from '../repositories/repository-manager.ts';
import { readReferences, readSize } from '../repositories/references.ts';
import { writeArchive } from '../repositories/archives.ts';
import type { Repositories, Repository } from '../repositories/repositories.ts';
import type { Tables } from '../store/tables.ts';
import { addBlob, addFile } from './archive-entries.ts';
import { BackupCache, type BackupFile, type BackupLease } from './backup-cache.ts';
import { importBundle } from './import-bundle.ts';
import { importLargeFiles } from './import-large-files.ts';
import { buildInvalidBackupProblem } from './invalid-backup.ts';
import { readRecord } from './read-record.ts';
import { RepositoryRecord } from './record.ts';
import { writeRecord } from './write-record.ts';
import { parseJson } from '../../contracts/parse-json.ts';

export interface PortableDependencies {
  readonly context: Pick<Context, 'blobs' | 'clock' | 'commit' | 'db' | 'files' | 'log' | 'random'>;
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
      if (nameProblem !== undefined) throw buildInvalidBackupProblem(m.backupNameInvalid({ problem: nameProblem }));
      const values = { ...target, name, private: isPrivate, defaultBranch, description, website, template };
      return await manager.create(values, async (path) => {
        await importBundle(git, join(folder, bundleName), path);
        const branches = (await readReferences(git, path, branchPrefix)).map(({ ref }) =>
          ref.slice(branchPrefix.length),
        );
        const db: Kysely<Tables> = context.db;
        row = await db
          .selectFrom('repositories')
          .select(['id', 'folder'])
          .where('folder', '=', basename(path, '.git'))
          .executeTakeFirstOrThrow();
        await importLargeFiles(lfs, row, folder, record.largeFiles);
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
      if (row !== undefined) await removeRepositoryBlobs(context, row.folder);
      if (error instanceof GitError || error instanceof z.ZodError)
        throw buildInvalidBackupProblem(m.backupDamaged(), error);
      throw error;
    } finally {
      await removeTree(folder);
    }
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
        for (const { oid, key } of await lfs.listObjects(repository))
          if (!(await addBlob(tar, `lfs/${oid}`, context.blobs, key))) missing.add(oid);
        for (const { uuid } of [...record.release_assets, ...record.issue_attachments])
          if (!(await addBlob(tar, `assets/${uuid}`, context.blobs, releases.getKey(repository, uuid))))
            missing.add(uuid);
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
   * Stores the files in the repository under new IDs, so that a backup can be restored twice. Links in texts are
   * updated.
   */
  async #importAssets(from: string, folder: string, record: RepositoryRecord): Promise<RepositoryRecord> {
    const newUuids = new Map<string, string>();
    const importFile = async <File extends { readonly name: string; readonly uuid: string }>(file: File) => {
      const uuid = randomUUID();
      const source = join(from, `assets-${file.uuid}`);
      await stat(source).catch((cause: unknown) => {
        throw buildInvalidBackupProblem(m.backupFileMissing({ file: file.name }), cause);
      });
      const { blobs } = this.#dependencies.context;
      const { size } = await blobs.write(`${assetFolder(folder)}/${uuid}`, createReadStream(source));
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
    throw buildInvalidBackupProblem(m.backupCutOff(), cause);
  });
  inputTask.catch(() => undefined);
  try {
    for await (const entry of entries) {
      const { name, size = 0, type } = entry.header;
      const isKnown =
        name === recordName || name === bundleName || /^(lfs\/[0-9a-f]{64}|assets\/[0-9a-f-]{36})$/.test(name);
      if (!isKnown || type !== 'file') throw buildInvalidBackupProblem(m.backupHasOtherFiles());
      if (name === recordName && size > maxRecordBytes) throw buildInvalidBackupProblem(m.backupIssuesTooLarge());
      await pipeline(entry, createWriteStream(join(folder, name.replace('/', '-')), { flags: 'wx', mode: 0o600 }));
    }
  } catch (error) {
    input.resume();
    if (isDiskFull(error)) {
      await inputTask.catch(() => undefined);
      throw buildDiskFullProblem(error);
    }
    await inputTask;
    throw error instanceof Problem ? error : buildInvalidBackupProblem(m.notABackup(), error);
  }
  await inputTask;
}

async function readRecordFile(folder: string): Promise<RepositoryRecord> {
  try {
    return RepositoryRecord.parse(parseJson(await readFile(join(folder, recordName), 'utf8')));
  } catch (cause) {
    throw buildInvalidBackupProblem(m.notABackup(), cause);
  }
}
