import * as m from '#messages/sync-problems';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { FileItem, trashFolderName } from '../../contracts/sync/files.ts';
import { Problem } from '../../contracts/problem.ts';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { CallError } from '../access/call-error.ts';
import type { Access, Caller } from '../access/access.ts';
import { joinLocation, parseLocation, splitLocation } from '../domain/location.ts';
import type { Context } from '../../contracts/service.ts';
import type { Engine } from '../engine/engine.ts';
import type { JobRow, JobStore } from '../store/jobs.ts';
import type { Tables } from '../store/tables.ts';

/** Item in the trash: its folder in the trash, and the folder and name that it had. */
export interface TrashedItem extends FileItem {
  readonly folder: string;
  readonly name: string;
  readonly trashFolder: string;
}

const StoredRecord = z.object({
  /** ID of the deletion in the trash folders. */
  trash: z.string(),
  items: z.array(FileItem),
  /** Set until the items are restored or deleted permanently. */
  keepReplaced: z.literal(true),
});
/** Stored with a deletion while its items are in the trash. */
export type TrashRecord = z.infer<typeof StoredRecord>;

/** Parses the stored input of a job; undefined unless it is a deletion whose items are in the trash. */
export function parseTrashRecord(input: string): TrashRecord | undefined {
  return StoredRecord.safeParse(JSON.parse(input)).data;
}

/** Returns the trashed items of a deletion. Each is in the folder that contained it, so that moving it is a rename. */
export function listTrashedItems({ trash, items }: TrashRecord): readonly TrashedItem[] {
  return items.flatMap((item) => {
    const parts = splitLocation(item.path, hasWindowsPaths());
    if (parts === undefined) return [];
    return [{ ...item, ...parts, trashFolder: joinLocation(parts.folder, `${trashFolderName}/${trash}`) }];
  });
}

/** Returns the trash folders of a deletion, each once. */
export function listTrashFolders(record: TrashRecord): readonly string[] {
  return [...new Set(listTrashedItems(record).map(({ trashFolder }) => trashFolder))];
}

/** Decides which deletions can be undone, and deletes the files of expired ones. */
export class Trash {
  readonly #access: Access;
  readonly #commit: Context['commit'];
  readonly #engine: Engine;
  readonly #runs: JobStore;

  constructor(options: {
    readonly access: Access;
    readonly commit: Context['commit'];
    readonly engine: Engine;
    readonly runs: JobStore;
  }) {
    this.#access = options.access;
    this.#commit = options.commit;
    this.#engine = options.engine;
    this.#runs = options.runs;
  }

  /**
   * Returns whether files in a folder can be moved to its trash: the account must be able to write there, the storage
   * must be able to move files, and the folder must not be in a trash.
   */
  async isAvailable(caller: Caller, folder: string): Promise<boolean> {
    const location = parseLocation(folder, hasWindowsPaths());
    if (location.kind === 'inline' || location.path.split(/[/\\]/).includes(trashFolderName)) return false;
    if (!(await this.#canWrite(caller, folder))) return false;
    if (location.kind === 'local') return true;
    const { status, body } = await this.#engine.call('operations/fsinfo', { fs: folder });
    const features = body['Features'] as Readonly<Record<string, unknown>> | undefined;
    return status === 200 && features?.['Move'] === true && features['BucketBased'] !== true;
  }

  /** @throws Problem 409 if one of the items can only be deleted permanently. */
  async require(caller: Caller, items: readonly TrashedItem[]): Promise<void> {
    const folders = new Set(items.map(({ folder }) => folder));
    for (const folder of folders) {
      const isAvailable = await this.isAvailable(caller, folder);
      const hasTrashItself = items.some((item) => item.folder === folder && item.name === trashFolderName);
      if (!isAvailable || hasTrashItself) throw new Problem('sync.no_trash', 409, m.noTrash());
    }
  }

  /** Records that the items of a deletion are no longer in the trash. */
  async setEmptied({ id, input }: Pick<JobRow, 'id' | 'input'>): Promise<void> {
    const stored = { ...(JSON.parse(input) as object), keepReplaced: false };
    await this.#commit((transaction: Kysely<Tables>) => this.#runs.setInput(transaction, id, stored));
  }

  async #canWrite(caller: Caller, folder: string): Promise<boolean> {
    try {
      await this.#access.checkLocation(caller, folder, 'write');
      return true;
    } catch (error) {
      if (error instanceof CallError) return false;
      throw error;
    }
  }
}
