import { FileReply, implement, type ApiHandler } from '../../contracts/api.ts';
import { downloadsApi } from '../../contracts/downloads/api.ts';
import type { FailureCode } from '../../contracts/downloads/causes.ts';
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
import { getMediaType } from '../files/media-type.ts';
import { readStatistics } from '../store/statistics.ts';
import { DownloadStore } from '../store/store.ts';
import type { MetubeDependencies } from '../metube-api/listener.ts';
import { resolveFile } from '../files/resolve-file.ts';

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
      readStatistics(context.reads, getLastDays(context.clock.now(), query.days)),
    ),
    implement(downloadsApi.add, async ({ body }) => {
      const { url, order } = readAdd(body, settings);
      const result = await intake.add(url, order);
      if (result.status === 'error') throw createNotAdded(result);
      return { uids: [...result.uids], ...(result.msg === undefined ? {} : { message: result.msg }) };
    }),
    implement(downloadsApi.preview, async ({ body }) => await readPreview(previews, body.url)),
    implement(downloadsApi.choices, async () => ({
      folders: (await folders.list()).filter((folder) => folder !== ''),
      presets: Object.keys(settings.ytdlPresets).toSorted(),
    })),
    implement(downloadsApi.remove, async ({ body }) => ({
      removed: await intake.remove(body.uids, [...queueStates, 'pending', ...doneStates], {
        files: body.files === true,
      }),
    })),
    implement(downloadsApi.retry, async ({ body }) => {
      const result = await intake.retry([body.uid]);
      if (result.status === 'error') throw new Problem('downloads.not_retried', 422, result.msg);
      return { uid: body.uid };
    }),
    implement(downloadsApi.again, async ({ body }) => {
      const result = await intake.addAgain(body.uid);
      if (result.status === 'error') throw createNotAdded(result);
      return { uids: [...result.uids], ...(result.msg === undefined ? {} : { message: result.msg }) };
    }),
    implement(downloadsApi.one, async ({ params }) => {
      const item = await store.find(params['uid'] ?? '');
      if (item === undefined) throw new Problem('downloads.unknown', 404, 'This download is not there any more.');
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
      if (picture === undefined) throw new Problem('downloads.no_picture', 404, 'There is no picture of it.');
      return new FileReply({ ...picture, maxAge: 86_400 });
    }),
    implement(downloadsApi.file, async ({ params, query }) => {
      const item = await store.find(params['uid'] ?? '');
      const filename = item?.filename?.split('/') ?? [];
      const path = item === undefined ? undefined : await resolveFile(folders.getRoot(item.order), filename);
      if (path === undefined) {
        throw new Problem('downloads.no_file', 404, 'Its file is not in the download folder any more.');
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
function createNotAdded({ msg, failure = null }: Extract<AddResult, { status: 'error' }>): Problem {
  const fields: Record<string, string> = failure === null ? {} : { failure };
  return new Problem('downloads.not_added', 422, msg, { fields });
}
