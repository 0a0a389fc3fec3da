import * as m from '#messages/sync-problems';
import { randomUUID } from 'node:crypto';
import type { FileItem } from '../../contracts/sync/files.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import type { Access, Caller } from '../access/access.ts';
import { calls } from '../access/calls.ts';
import type { Input } from '../access/input.ts';
import { FailureProblem, failures } from '../domain/failures.ts';
import { joinLocation } from '../domain/location.ts';
import type { Engine } from '../engine/engine.ts';
import { getErrorMessage } from '../engine/engine-client.ts';
import { callStoppable } from '../engine/stoppable-call.ts';
import { getCanonicalLocation } from '../jobs/canonical-location.ts';
import type { Job, JobOutcome, JobRequest } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { JobRow } from '../store/jobs.ts';
import { requireLocation, requireSplitLocation } from './file-location.ts';
import { getBody } from './file-problem.ts';
import {
  listTrashedItems,
  listTrashFolders,
  parseTrashRecord,
  type Trash,
  type TrashedItem,
  type TrashRecord,
} from './trash.ts';

export interface FileJobsOptions {
  readonly access: Access;
  readonly clock: Clock;
  readonly engine: Engine;
  readonly jobs: Jobs;
  readonly trash: Trash;
}

export interface TransferRequest {
  readonly action: 'copy' | 'move';
  readonly items: readonly FileItem[];
  readonly to: string;
  /** New name of a single item. */
  readonly name?: string | undefined;
  readonly replace: boolean;
}

interface ItemPlace {
  readonly folder: string;
  readonly name: string;
}

/** Checked call of the engine for one selected file or folder. */
interface ItemCall {
  readonly name: string;
  readonly path: string;
  readonly input: Input;
  /** Call after a success, whose failure does not matter. */
  readonly then?: { readonly path: string; readonly input: Input };
}

/** Job of the file manager. */
interface FileOrder {
  readonly kind: string;
  readonly source: string;
  readonly destination: string;
  readonly writes: readonly string[];
  readonly list: readonly ItemCall[];
  /** Stored with the job in addition to the names. */
  readonly input?: JobRequest['input'];
  /** Runs after all items have succeeded. */
  readonly finish?: () => Promise<void>;
}

const maxConcurrency = 4;
/** Maximum number of names in an error message. */
const maxNames = 3;

/** Copies, moves and deletes selected files and folders as one job with its progress. */
export class FileJobs {
  readonly #options: FileJobsOptions;

  constructor(options: FileJobsOptions) {
    this.#options = options;
  }

  /** Starts a copy or a move. @throws CallError, Problem 409 if a name exists and is not to be replaced, 422. */
  async transfer(caller: Caller, request: TransferRequest): Promise<Job> {
    const { action, items, to, name } = request;
    requireLocation(to);
    if (name !== undefined && items.length > 1) throw new Problem('sync.one_name', 422, m.nameForOneItem());
    const list: ItemCall[] = [];
    for (const item of items) list.push(await this.#buildTransfer(caller, item, request));
    const repeated = findRepeated(list.map((each) => each.name));
    if (repeated !== undefined) throw new Problem('sync.same_names', 422, m.sameNames({ name: repeated }));
    if (!request.replace) await this.#refuseExisting(to, list);
    const source = requireSplitLocation(items[0]?.path ?? '').folder;
    return this.#start(caller, {
      kind: `files/${action}`,
      source: items.length === 1 ? (items[0]?.path ?? '') : source,
      destination: to,
      writes: action === 'move' ? [...getFolders(items), to] : [to],
      list,
    });
  }

  /** Starts to delete files and folders permanently. @throws CallError */
  async remove(caller: Caller, items: readonly FileItem[]): Promise<Job> {
    const list: ItemCall[] = [];
    for (const { path, isFolder } of items) {
      const { folder, name } = requireSplitLocation(path);
      const call = isFolder ? 'operations/purge' : 'operations/deletefile';
      const checked = await this.#check(caller, call, { fs: folder, remote: name });
      list.push({ name, path: call, input: checked });
    }
    return this.#start(caller, { kind: 'files/delete', source: '', ...describeItems(items), list });
  }

  /** Starts to move files and folders to the trash of their folder. @throws CallError, Problem 409 without a trash. */
  async moveToTrash(caller: Caller, items: readonly FileItem[]): Promise<Job> {
    for (const { path } of items) {
      const { folder, name } = requireSplitLocation(path);
      await this.#check(caller, 'operations/deletefile', { fs: folder, remote: name });
    }
    const record: TrashRecord = { trash: randomUUID(), items: [...items], keepReplaced: true };
    const trashed = listTrashedItems(record);
    await this.#options.trash.require(caller, trashed);
    const list: ItemCall[] = [];
    for (const item of trashed) {
      const { folder, trashFolder, ...rest } = item;
      list.push(await this.#buildMove(caller, { ...rest, from: folder, to: trashFolder }));
    }
    return this.#start(caller, { kind: 'files/delete', source: '', ...describeItems(items), list, input: record });
  }

  /**
   * Starts to move trashed items back. Items that are not in the trash, because an earlier attempt was interrupted, are
   * skipped.
   * @throws CallError, Problem 409 if the items were deleted permanently or if a name exists again.
   */
  async undo(caller: Caller, row: JobRow): Promise<Job> {
    const record = parseTrashRecord(row.input);
    if (record === undefined || row.ended_at === null) throw new Problem('sync.no_undo', 409, m.noUndo());
    const list: ItemCall[] = [];
    for (const item of listTrashedItems(record)) {
      const { folder, trashFolder, ...rest } = item;
      const call = await this.#buildMove(caller, { ...rest, from: trashFolder, to: folder });
      if (!(await this.#exists(trashFolder, item.name))) continue;
      if (await this.#exists(folder, item.name))
        throw new Problem('sync.file_exists', 409, m.namesExist({ count: 1, names: item.name }));
      list.push(call);
    }
    const finish = async (): Promise<void> => {
      await this.#removeEmptyFolders(listTrashFolders(record));
      await this.#options.trash.setEmptied(row);
    };
    return this.#start(caller, { kind: 'undo', source: '', ...describeItems(record.items), list, finish });
  }

  /** Builds the move of a file or folder that keeps its name. */
  async #buildMove(
    caller: Caller,
    {
      name,
      isFolder,
      from,
      to,
    }: Pick<TrashedItem, 'name' | 'isFolder'> & { readonly from: string; readonly to: string },
  ): Promise<ItemCall> {
    const [call, input] = isFolder
      ? (['sync/move', { srcFs: joinLocation(from, name), dstFs: joinLocation(to, name) }] as const)
      : (['operations/movefile', { srcFs: from, srcRemote: name, dstFs: to, dstRemote: name }] as const);
    const options = isFolder ? { createEmptySrcDirs: true, deleteEmptySrcDirs: true } : {};
    const checked = await this.#check(caller, call, { ...input, ...options });
    const then = { path: 'operations/rmdir', input: { fs: checked['srcFs'], remote: '' } };
    return { name, path: call, input: checked, ...(isFolder ? { then } : {}) };
  }

  /** @throws Problem 502 when the storage does not respond, which must not look like a missing file */
  async #exists(folder: string, name: string): Promise<boolean> {
    const response = await this.#options.engine.call('operations/stat', { fs: folder, remote: name });
    // A missing folder.
    if (response.status === 404) return false;
    const { item = null } = getBody(response, folder);
    return item !== null;
  }

  /** Removes the trash folders of a deletion, and those that contain them, unless they contain other files. */
  async #removeEmptyFolders(folders: readonly string[]): Promise<void> {
    for (const fs of folders.flatMap((folder) => [folder, folder.slice(0, folder.lastIndexOf('/'))]))
      await this.#options.engine.call('operations/rmdir', { fs, remote: '' });
  }

  async #buildTransfer(
    caller: Caller,
    { path, isFolder }: FileItem,
    { action, to, name: newName, replace }: TransferRequest,
  ): Promise<ItemCall> {
    const source = requireSplitLocation(path);
    const name = newName ?? source.name;
    const target = joinLocation(to, name);
    if (!isFolder) {
      const call = action === 'copy' ? 'operations/copyfile' : 'operations/movefile';
      // Some remotes store no times: another file of the same size would count as unchanged, and a move would delete it.
      const options = replace ? { _config: { IgnoreTimes: true } } : {};
      const input = { srcFs: source.folder, srcRemote: source.name, dstFs: to, dstRemote: name, ...options };
      const checked = await this.#check(caller, call, input);
      await this.#refuseItself(source, { folder: to, name });
      return { name, path: call, input: checked };
    }
    const call = action === 'copy' ? 'sync/copy' : 'sync/move';
    const options = { createEmptySrcDirs: true, ...(action === 'move' ? { deleteEmptySrcDirs: true } : {}) };
    const input = await this.#check(caller, call, { srcFs: path, dstFs: target, ...options });
    await this.#refuseItself(source, { folder: to, name });
    const then = { path: 'operations/rmdir', input: { fs: input['srcFs'], remote: '' } };
    return { name, path: call, input, ...(action === 'move' ? { then } : {}) };
  }

  /**
   * Refuses a copy that would read what it writes, and a move of a file to itself, after which the engine deletes it.
   * Links and aliases can name one file in several ways.
   * @throws Problem 422
   */
  async #refuseItself(source: ItemPlace, target: ItemPlace): Promise<void> {
    if (isChangeOfCase(source, target)) return;
    const [sourcePath, targetPath] = await Promise.all([
      this.#getCanonicalPath(source),
      this.#getCanonicalPath(target),
    ]);
    if (!targetPath.startsWith(sourcePath)) return;
    throw new Problem('sync.into_itself', 422, m.targetInsideSource({ name: target.name }));
  }

  async #getCanonicalPath({ folder, name }: ItemPlace): Promise<string> {
    const { engine } = this.#options;
    if (requireLocation(folder).kind === 'local') return await getCanonicalLocation(engine, joinLocation(folder, name));
    // The engine describes folders only.
    const canonicalFolder = await getCanonicalLocation(engine, folder);
    return `${joinLocation(canonicalFolder, name)}/`;
  }

  #check(caller: Caller, call: string, input: Input): Promise<Input> {
    return this.#options.access.check(caller, call, calls[call] ?? {}, input);
  }

  /** @throws Problem 409 */
  async #refuseExisting(to: string, list: readonly ItemCall[]): Promise<void> {
    const opt = { noModTime: true, noMimeType: true };
    const { status, body } = await this.#options.engine.call('operations/list', { fs: to, remote: '', opt });
    // A missing folder is created.
    if (status !== 200 || !Array.isArray(body['list'])) return;
    const namesAtTarget = new Set((body['list'] as readonly { readonly Name: string }[]).map(({ Name }) => Name));
    const existing = list.filter(({ name }) => namesAtTarget.has(name)).map(({ name }) => name);
    if (existing.length === 0) return;
    const names = existing.slice(0, maxNames).join(', ');
    throw new Problem('sync.file_exists', 409, m.namesExist({ count: existing.length, names }));
  }

  async #start(caller: Caller, order: FileOrder): Promise<Job> {
    const { engine, jobs } = this.#options;
    if (!(await engine.isInstalled())) throw new FailureProblem(503, failures.engineMissing.create({}));
    const { list, input = {}, finish, ...rest } = order;
    const { job } = await jobs.start({
      ...rest,
      account: caller.account,
      input: { names: list.map(({ name }) => name), ...input },
      durable: true,
      isAsync: true,
      work: async (running) => {
        const outcome = await this.#run(running, list);
        if (outcome.status === 200) await finish?.();
        return outcome;
      },
    });
    return job;
  }

  /** Continues with the other items when one fails. */
  async #run(job: Job, list: readonly ItemCall[]): Promise<JobOutcome> {
    const responses: JobOutcome[] = [];
    const pending = [...list];
    const worker = async (): Promise<void> => {
      for (let item = pending.shift(); item !== undefined; item = pending.shift()) {
        const response = await this.#runItem(job, item);
        if (response.status !== 200) responses.push(response);
      }
    };
    await Promise.all(Array.from({ length: maxConcurrency }, worker));
    const [first] = responses;
    if (first === undefined) return { status: 200, body: {} };
    if (list.length === 1) return first;
    const failure = failures.filesFailed.create({ count: responses.length });
    return { status: 500, body: { error: failure.error }, failure };
  }

  async #runItem(job: Job, { name, path, input, then }: ItemCall): Promise<JobOutcome> {
    const { clock, engine } = this.#options;
    const { signal } = job.stopping;
    signal.throwIfAborted();
    const response = await callStoppable(engine, clock, { path, input }, { group: job.engineGroup, signal });
    if (response.status !== 200) {
      const error = getErrorMessage(response.body);
      job.addError({ name, error, code: '', what: '', size: -1, at: clock.now() });
    } else if (then !== undefined) await engine.call(then.path, then.input);
    return response;
  }
}

/** Returns true for a new name that differs by case only, which is the same file on the usual systems of Windows and macOS. */
function isChangeOfCase(source: ItemPlace, target: ItemPlace): boolean {
  const isSameName = source.name.toLowerCase() === target.name.toLowerCase();
  return source.folder === target.folder && source.name !== target.name && isSameName;
}

/** Returns the folders that contain the items. */
function getFolders(items: readonly FileItem[]): readonly string[] {
  return [...new Set(items.map(({ path }) => requireSplitLocation(path).folder))];
}

/** Returns the first name that occurs twice. */
function findRepeated(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}

/** Returns the location of a deletion for the history, and the folders that it changes. */
function describeItems(items: readonly FileItem[]): Pick<FileOrder, 'destination' | 'writes'> {
  const folders = [...new Set(items.map(({ path }) => requireSplitLocation(path).folder))];
  return { destination: items.length === 1 ? (items[0]?.path ?? '') : (folders[0] ?? ''), writes: folders };
}
