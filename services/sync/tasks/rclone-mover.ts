import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { findRcloneFailure } from '../domain/failure-cause.ts';
import { FailureProblem, failures } from '../domain/failures.ts';
import type { Listing, ListedEntry, PlannedFile } from '../domain/plan.ts';
import { getNumber } from '../domain/stats.ts';
import type { Engine } from '../engine/engine.ts';
import { getErrorMessage, type EngineResponse } from '../engine/engine-client.ts';
import { callStoppable } from '../engine/stoppable-call.ts';
import type { Mover, MoverOptions } from './mover.ts';

/** Time precision from which a location counts as one without times. */
const noTimesPrecisionNs = 24 * 3600 * 1e9;
const maxConcurrency = 8;

type MoverContext = Pick<Context, 'clock' | 'files' | 'random'>;

/** Executes sync tasks with rclone. */
export class RcloneMover implements Mover {
  readonly #engine: Engine;
  readonly #context: MoverContext;

  constructor(engine: Engine, context: MoverContext) {
    this.#engine = engine;
    this.#context = context;
  }

  async list(location: string, options: MoverOptions): Promise<Listing> {
    const group = `${options.group}-list-${this.#context.random.text(8)}`;
    const groupOptions = { ...options, group };
    const opt = { recurse: true, noMimeType: true };
    const input = { fs: location, remote: '', opt, ...buildFilter(options) };
    const [listing, info] = await Promise.all([
      this.#callBriefly('operations/list', input, groupOptions),
      this.#callBriefly('operations/fsinfo', { fs: location }, groupOptions),
    ]);
    options.signal.throwIfAborted();
    // An unreadable folder must not look like an empty one.
    const errors = getNumber((await this.#engine.call('core/stats', { group })).body, 'errors');
    await this.#engine.call('core/stats-delete', { group });
    if (listing.status === 200 && errors > 0) {
      throw new FailureProblem(502, failures.foldersUnreadable.create({ count: errors }), { retryable: true });
    }
    const isMissing = listing.status === 404;
    if (listing.status !== 200 && !isMissing) throw toProblem(listing);
    if (isMissing) throw new Problem('sync.no_folder', 404, 'directory not found', { retryable: true });
    const list = listing.body['list'];
    return {
      entries: Array.isArray(list) ? (list as readonly RcloneEntry[]).map(toListedEntry) : [],
      ...getPrecision(info),
    };
  }

  async copy(
    source: string,
    destination: string,
    replaced: string | undefined,
    options: MoverOptions,
  ): Promise<EngineResponse> {
    const config = replaced === undefined ? {} : { _config: { BackupDir: replaced } };
    const input = { srcFs: source, dstFs: destination, ...config, ...buildFilter(options) };
    return await this.#callUntilStopped('sync/copy', input, options);
  }

  async remove(
    location: string,
    files: readonly PlannedFile[],
    to: string | undefined,
    options: MoverOptions,
  ): Promise<EngineResponse> {
    // A name with a line break would be two lines in the list.
    const listable = files.filter(({ path }) => isSingleLine(path));
    const unlistable = files.filter(({ path }) => !isSingleLine(path));
    let response: EngineResponse = { status: 200, body: {} };
    if (listable.length > 0) {
      response = await this.#callForFiles(listable, (_filter) =>
        to === undefined
          ? this.#callUntilStopped('operations/delete', { fs: location, _filter }, options)
          : this.#callUntilStopped('sync/move', { srcFs: location, dstFs: to, _filter }, inSeparateGroup(options)),
      );
    }
    for (const { path } of unlistable) {
      if (response.status !== 200) break;
      options.signal.throwIfAborted();
      response = await this.#removeFile(location, path, to, options);
    }
    return response;
  }

  async removeFolders(location: string, folders: readonly string[], options: MoverOptions): Promise<void> {
    const groupOptions = { ...options, group: `${options.group}-folders` };
    // Innermost folders come first, so folders of one depth are deleted together.
    for (let index = 0; index < folders.length;) {
      options.signal.throwIfAborted();
      const depth = folders[index]?.split('/').length;
      const group = folders.slice(index).filter((path) => path.split('/').length === depth);
      for (let offset = 0; offset < group.length; offset += maxConcurrency) {
        const batch = group.slice(offset, offset + maxConcurrency);
        // A folder that is not empty stays.
        await Promise.all(
          batch.map((remote) => this.#callUntilStopped('operations/rmdir', { fs: location, remote }, groupOptions)),
        );
      }
      index += group.length;
    }
  }

  async move(from: string, to: string, options: MoverOptions): Promise<EngineResponse> {
    const input = { srcFs: from, dstFs: to, deleteEmptySrcDirs: true };
    const response = await this.#callUntilStopped('sync/move', input, options);
    return response.status === 404 ? { status: 200, body: {} } : response;
  }

  async purge(location: string, options: MoverOptions): Promise<void> {
    const response = await this.#callUntilStopped('operations/purge', { fs: location, remote: '' }, options);
    const failure = findRcloneFailure(getErrorMessage(response.body));
    const isDeleted = response.status === 404 || failure === 'folder_missing' || failure === 'missing';
    if (response.status !== 200 && !isDeleted) throw toProblem(response);
  }

  #callUntilStopped(path: string, input: object, options: MoverOptions): Promise<EngineResponse> {
    return callStoppable(this.#engine, this.#context.clock, { path, input }, options);
  }

  /** Calls the engine and aborts immediately when stopped. */
  #callBriefly(path: string, input: object, { group, signal }: MoverOptions): Promise<EngineResponse> {
    return this.#engine.call(path, { ...input, _group: group }, { signal });
  }

  /** Calls the engine for the listed files only, through a file with one path per line. */
  async #callForFiles(
    files: readonly PlannedFile[],
    work: (filter: object) => Promise<EngineResponse>,
  ): Promise<EngineResponse> {
    const folder = join(this.#context.files, 'lists');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const list = join(folder, this.#context.random.text(16));
    try {
      await writeFile(list, files.map(({ path }) => `${path}\n`).join(''), { mode: 0o600 });
      return await work({ FilesFromRaw: [list] });
    } finally {
      await rm(list, { force: true });
    }
  }

  #removeFile(location: string, path: string, to: string | undefined, options: MoverOptions): Promise<EngineResponse> {
    if (to === undefined) {
      return this.#callUntilStopped('operations/deletefile', { fs: location, remote: path }, options);
    }
    const input = { srcFs: location, srcRemote: path, dstFs: to, dstRemote: path };
    return this.#callUntilStopped('operations/movefile', input, inSeparateGroup(options));
  }
}

interface RcloneEntry {
  readonly Path: string;
  readonly Size: number;
  readonly ModTime: string;
  readonly IsDir: boolean;
}

function toListedEntry({ Path: path, Size: size, ModTime: time, IsDir: isFolder }: RcloneEntry): ListedEntry {
  const modifiedAt = Date.parse(time);
  return { path, size, isFolder, modifiedAt: Number.isNaN(modifiedAt) ? null : modifiedAt };
}

function getPrecision({ body }: EngineResponse): Pick<Listing, 'ignoresCase' | 'precisionMs'> {
  const { Precision: precision, Features: features } = body as {
    Precision?: number;
    Features?: Record<string, unknown>;
  };
  const hasTimes = precision !== undefined && precision < noTimesPrecisionNs;
  return { ignoresCase: features?.['CaseInsensitive'] === true, precisionMs: hasTimes ? precision / 1e6 : null };
}

function buildFilter({ exclude }: MoverOptions): object {
  return exclude.length === 0 ? {} : { _filter: { ExcludeRule: exclude } };
}

/** Counts moved files in another group, so that they do not count as copied. */
function inSeparateGroup(options: MoverOptions): MoverOptions {
  return { ...options, group: `${options.group}-removed` };
}

function isSingleLine(path: string): boolean {
  return !/[\r\n]/.test(path);
}

function toProblem({ body, status }: EngineResponse): Problem {
  return new Problem('sync.engine', status === 404 ? 404 : 502, () => getErrorMessage(body));
}
