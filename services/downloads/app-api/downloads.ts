import * as m from '#messages/downloads-problems';
import { compareNames } from '../../contracts/compare-names.ts';
import { FileReply, implement, StreamReply, type ApiHandler } from '../../contracts/api.ts';
import { downloadsApi } from '../../contracts/downloads/api.ts';
import { getFailureCause, type FailureCode } from '../../contracts/downloads/causes.ts';
import type { DownloadPreview } from '../../contracts/downloads/preview.ts';
import { downloadStatistics } from '../../contracts/downloads/statistics.ts';
import { Problem } from '../../contracts/problem.ts';
import { getLastDays } from '../../kit/local-days.ts';
import { DownloadProblem } from '../domain/failure.ts';
import { doneStates, queueStates, toDownload, type Item } from '../domain/item.ts';
import type { AddResult } from '../add/intake.ts';
import type { Previews } from '../add/previews.ts';
import { readAdd } from '../wire/add.ts';
import { readCaptionFiles } from '../files/side-files.ts';
import { readPosition } from '../wire/queue-control.ts';
import { createArchive } from '../files/archive.ts';
import { getMediaType } from '../files/media-type.ts';
import { readStatistics } from '../store/statistics.ts';
import { DownloadStore } from '../store/store.ts';
import type { MetubeDependencies } from '../metube-api/listener.ts';
import { resolveFile } from '../files/resolve-file.ts';

/** Maximum number of history rows for an action on all of them. */
const maxEnded = 10_000;
/** Maximum number of files in an archive. */
const maxArchiveFiles = 300;

/** Returns the handlers for downloads, with the same rules as on the service's port. */
export function createDownloadHandlers(deps: MetubeDependencies): readonly ApiHandler[] {
  return [...createQueueHandlers(deps), ...createControlHandlers(deps), ...createFileHandlers(deps)];
}

function createQueueHandlers(deps: MetubeDependencies): readonly ApiHandler[] {
  const { context, settings } = deps;
  const { store, intake, live, previews } = deps.downloads;
  const { queueControl } = deps.queueing;
  const { folders } = deps.files;
  const historyStore = new DownloadStore(context.reads);
  const toDownloads = (items: readonly Item[]) => items.map((item) => toDownload(item, live.getItemProgress(item)));
  return [
    implement(downloadsApi.list, async ({ query }) => {
      const [queue, history, paused] = await Promise.all([
        store.queue([...queueStates, 'pending']),
        historyStore.history(query),
        queueControl.isPaused(),
      ]);
      return { queue: toDownloads(queue), history: toDownloads(history.items), total: history.total, paused };
    }),
    implement(downloadStatistics, async ({ query }) =>
      readStatistics(context.reads, getLastDays(context.clock.now(), 2 * query.days)),
    ),
    implement(downloadsApi.add, async ({ body }) => {
      const { url, order } = readAdd(body, settings);
      const result = await intake.add(url, order);
      if (result.status === 'error') throw createNotAdded(result);
      return { uids: [...result.uids], ...(result.msg === undefined ? {} : { message: result.msg }) };
    }),
    implement(downloadsApi.preview, async ({ body }) => await readPreview(previews, body.url)),
    implement(downloadsApi.choices, async () => ({
      folders: (await folders.list()).filter((folder) => folder !== '').toSorted(compareNames),
      presets: Object.keys(settings.ytdlPresets).toSorted(compareNames),
    })),
    implement(downloadsApi.remove, async ({ body }) => ({
      removed: await intake.remove(body.uids, [...queueStates, 'pending', ...doneStates], {
        files: body.files === true,
      }),
    })),
    implement(downloadsApi.retry, async ({ body }) => {
      const result = await intake.retry([body.uid]);
      if (result.status === 'error') throw new Problem('downloads.not_retried', 422, describeError(result));
      return { uid: body.uid };
    }),
    implement(downloadsApi.retryAll, async ({ body }) => ({ retried: await intake.retryAll(body.uids) })),
    implement(downloadsApi.ended, async ({ query }) => {
      const { items } = await historyStore.history({ ...query, limit: maxEnded, offset: 0 });
      return { downloads: items.map(({ uid, url }) => ({ uid, url })) };
    }),
    implement(downloadsApi.again, async ({ body }) => {
      const result = await intake.addAgain(body.uid);
      if (result.status === 'error') throw createNotAdded(result);
      return { uids: [...result.uids], ...(result.msg === undefined ? {} : { message: result.msg }) };
    }),
    implement(downloadsApi.one, async ({ params }) => {
      const item = await store.find(params['uid'] ?? '');
      if (item === undefined) throw new Problem('downloads.unknown', 404, m.downloadNotFound());
      return toDownload(item, live.getProgress(item.uid));
    }),
  ];
}

function createControlHandlers({
  downloads: { intake },
  queueing: { limits, queueControl },
}: MetubeDependencies): readonly ApiHandler[] {
  return [
    implement(downloadsApi.start, async ({ body }) => ({
      started: await intake.start(body.uids, body.anyway === true),
    })),
    implement(downloadsApi.limits, () => limits.now),
    implement(downloadsApi.setLimits, async ({ body }) => await limits.set(body)),
    implement(downloadsApi.pause, async ({ body }) => await queueControl.pause(body.uids)),
    implement(downloadsApi.resume, async ({ body }) => await queueControl.resume(body.uids)),
    implement(downloadsApi.reorder, async ({ body }) => await queueControl.reorder(body.uids, readPosition(body))),
  ];
}

function createFileHandlers({
  downloads: { store },
  files: { folders, thumbnails },
}: MetubeDependencies): readonly ApiHandler[] {
  return [
    implement(downloadsApi.captions, async ({ params }) => {
      const item = await store.find(params['uid'] ?? '');
      if (item === undefined || item.filename === null) return { captions: [] };
      return { captions: [...(await readCaptionFiles(folders.getRoot(item.order), item.filename))] };
    }),
    implement(downloadsApi.thumbnail, async ({ params }) => {
      const item = await store.find(params['uid'] ?? '');
      const picture = item === undefined ? undefined : await thumbnails.get(item);
      if (picture === undefined) throw new Problem('downloads.no_picture', 404, m.pictureNotFound());
      return new FileReply({ ...picture, maxAge: 86_400 });
    }),
    implement(downloadsApi.archive, async ({ query }) => {
      const items = await store.match(query.uids.split(',').slice(0, maxArchiveFiles), ['finished']);
      const archive = await createArchive(items, folders);
      if (archive === undefined) throw new Problem('downloads.no_file', 404, m.fileNotFound());
      const { stream: body, size } = archive;
      const headers: Record<string, string> = size === undefined ? {} : { 'Content-Length': String(size) };
      // The archive is produced while it is sent, so ranges are not supported.
      const open = () => Promise.resolve({ status: 200, headers, body });
      return new StreamReply({ open, type: 'application/zip', saveAs: 'Homeport downloads.zip' });
    }),
    implement(downloadsApi.file, async ({ params, query }) => {
      const item = await store.find(params['uid'] ?? '');
      const filename = item?.filename?.split('/') ?? [];
      const path = item === undefined ? undefined : await resolveFile(folders.getRoot(item.order), filename);
      if (path === undefined) {
        throw new Problem('downloads.no_file', 404, m.fileNotFound());
      }
      const name = filename.at(-1) ?? '';
      return new FileReply({ path, type: await getMediaType(name), saveAs: query.save === 'yes' ? name : undefined });
    }),
  ];
}

/**
 * Returns the preview of a link, or the reason why there is none, with status 200 in both cases: links are tried while
 * they are typed.
 */
async function readPreview(
  previews: Previews,
  url: string,
): Promise<{ preview: DownloadPreview | null; reason: string; failure?: FailureCode }> {
  try {
    return { preview: await previews.get(url), reason: '' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'downloads.busy') return { preview: null, reason: '' };
    const failure = error instanceof DownloadProblem ? error.failure : null;
    return { preview: null, reason: error.detail, ...(failure === null ? {} : { failure }) };
  }
}

/** Creates the problem of a refused link, with the code of its cause in the field `failure`. */
function createNotAdded(result: Extract<AddResult, { status: 'error' }>): Problem {
  const { failure = null } = result;
  const fields: Record<string, string> = failure === null ? {} : { failure };
  return new Problem('downloads.not_added', 422, describeError(result), { fields });
}

/** Describes an error of which pages show the cause in the language of their reader. */
function describeError({
  msg,
  failure,
  failureParameters,
}: Pick<Extract<AddResult, { status: 'error' }>, 'msg' | 'failure' | 'failureParameters'>): string {
  return getFailureCause({ message: msg, failure: failure ?? undefined, failureParameters }).text;
}
