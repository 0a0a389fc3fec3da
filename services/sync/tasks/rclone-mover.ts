import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Listing, ListedEntry, PlannedFile } from '../domain/plan.ts';
import { getNumber } from '../domain/stats.ts';
import { getErrorMessage, type Engine, type EngineResponse } from '../engine/engine.ts';
import { callStoppable } from '../engine/stoppable-call.ts';
import type { Mover, MoverOptions } from './mover.ts';

/** Time precision from which a location counts as one without times. */
const noTimesNs = 24 * 3600 * 1e9;
const together = 8;

/** Executes sync tasks with rclone. */
export function rcloneMover(engine: Engine, context: Pick<Context, 'clock' | 'files' | 'random'>): Mover {
  const call = (path: string, input: object, options: MoverOptions): Promise<EngineResponse> =>
    callStoppable(engine, context.clock, { path, input }, options);
  /** Calls the engine and aborts immediately when stopped. */
  const briefly = (path: string, input: object, { group, signal }: MoverOptions): Promise<EngineResponse> =>
    engine.call(path, { ...input, _group: group }, { signal });

  /** Calls the engine for the listed files only, through a file with one path per line. */
  const forFiles = async (
    files: readonly PlannedFile[],
    work: (filter: object) => Promise<EngineResponse>,
  ): Promise<EngineResponse> => {
    const folder = join(context.files, 'lists');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const list = join(folder, context.random.text(16));
    try {
      await writeFile(list, files.map(({ path }) => `${path}\n`).join(''), { mode: 0o600 });
      return await work({ FilesFromRaw: [list] });
    } finally {
      await rm(list, { force: true });
    }
  };

  return {
    async list(place, options) {
      const group = `${options.group}-list-${context.random.text(8)}`;
      const opt = { recurse: true, noMimeType: true };
      const [found, info] = await Promise.all([
        briefly('operations/list', { fs: place, remote: '', opt, ...filterOf(options) }, { ...options, group }),
        briefly('operations/fsinfo', { fs: place }, { ...options, group }),
      ]);
      options.signal.throwIfAborted();
      // An unreadable folder must not look like an empty one.
      const errors = getNumber((await engine.call('core/stats', { group })).body, 'errors');
      await engine.call('core/stats-delete', { group });
      if (found.status === 200 && errors > 0) {
        throw new Problem('sync.unreadable', 502, `${String(errors)} folders could not be read.`, { retryable: true });
      }
      const nothingThere = found.status === 404;
      if (found.status !== 200 && !nothingThere) throw failed(found);
      if (nothingThere) throw new Problem('sync.no_folder', 404, 'directory not found', { retryable: true });
      const list = found.body['list'];
      return {
        entries: Array.isArray(list) ? (list as readonly RcloneEntry[]).map(listed) : [],
        ...precisionOf(info),
      };
    },
    async copy(source, destination, replaced, options) {
      const config = replaced === undefined ? {} : { _config: { BackupDir: replaced } };
      return await call('sync/copy', { srcFs: source, dstFs: destination, ...config, ...filterOf(options) }, options);
    },
    async remove(place, files, to, options) {
      // A name with a line break would be two lines in the list.
      const [listable, odd] = [files.filter(({ path }) => isLine(path)), files.filter(({ path }) => !isLine(path))];
      let answer: EngineResponse = { status: 200, body: {} };
      if (listable.length > 0) {
        answer = await forFiles(listable, (_filter) =>
          to === undefined
            ? call('operations/delete', { fs: place, _filter }, options)
            : call('sync/move', { srcFs: place, dstFs: to, _filter }, apart(options)),
        );
      }
      for (const { path } of odd) {
        if (answer.status !== 200) break;
        options.signal.throwIfAborted();
        answer =
          to === undefined
            ? await call('operations/deletefile', { fs: place, remote: path }, options)
            : await call(
                'operations/movefile',
                { srcFs: place, srcRemote: path, dstFs: to, dstRemote: path },
                apart(options),
              );
      }
      return answer;
    },
    async removeFolders(place, folders, options) {
      // Innermost folders come first, so folders of one depth are deleted together.
      for (let at = 0; at < folders.length;) {
        options.signal.throwIfAborted();
        const depth = folders[at]?.split('/').length;
        const group = folders.slice(at).filter((path) => path.split('/').length === depth);
        for (let from = 0; from < group.length; from += together) {
          // A folder that is not empty stays.
          await Promise.all(
            group
              .slice(from, from + together)
              .map((remote) =>
                call('operations/rmdir', { fs: place, remote }, { ...options, group: `${options.group}-folders` }),
              ),
          );
        }
        at += group.length;
      }
    },
    async move(from, to, options) {
      const moved = await call('sync/move', { srcFs: from, dstFs: to, deleteEmptySrcDirs: true }, options);
      return moved.status === 404 ? { status: 200, body: {} } : moved;
    },
    async purge(place, options) {
      const purged = await call('operations/purge', { fs: place, remote: '' }, options);
      const isGone = purged.status === 404 || /not found|no such file/.test(getErrorMessage(purged.body));
      if (purged.status !== 200 && !isGone) throw failed(purged);
    },
  };
}

interface RcloneEntry {
  readonly Path: string;
  readonly Size: number;
  readonly ModTime: string;
  readonly IsDir: boolean;
}

function listed({ Path: path, Size: size, ModTime: time, IsDir: isFolder }: RcloneEntry): ListedEntry {
  const modifiedAt = Date.parse(time);
  return { path, size, isFolder, modifiedAt: Number.isNaN(modifiedAt) ? null : modifiedAt };
}

function precisionOf({ body }: EngineResponse): Pick<Listing, 'ignoresCase' | 'precisionMs'> {
  const { Precision: precision, Features: features } = body as {
    Precision?: number;
    Features?: Record<string, unknown>;
  };
  const keepsTimes = precision !== undefined && precision < noTimesNs;
  return { ignoresCase: features?.['CaseInsensitive'] === true, precisionMs: keepsTimes ? precision / 1e6 : null };
}

function filterOf({ exclude }: MoverOptions): object {
  return exclude.length === 0 ? {} : { _filter: { ExcludeRule: exclude } };
}

/** Counts moved files in another group, so that they do not count as copied. */
function apart(options: MoverOptions): MoverOptions {
  return { ...options, group: `${options.group}-removed` };
}

function isLine(path: string): boolean {
  return !/[\r\n]/.test(path);
}

function failed({ body, status }: EngineResponse): Problem {
  return new Problem('sync.engine', status === 404 ? 404 : 502, getErrorMessage(body));
}
