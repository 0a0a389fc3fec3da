import { dirname, relative, sep } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import { Problem } from '../../contracts/problem.ts';
import {
  createRefusedProblem,
  createServiceFailure,
  toDownloadFailure,
  type DownloadFailure,
} from '../domain/failure.ts';
import type { Item } from '../domain/item.ts';
import type { EngineEvent } from '../domain/progress.ts';
import { fillTemplate, splitFolder } from '../domain/template.ts';
import { deliver } from '../files/file-delivery.ts';
import { findArchive, findOrderTemplate } from '../engine/command-settings.ts';
import type { Driver } from '../engine/driver.ts';
import { createFolders } from '../files/file-permissions.ts';
import type { EngineMonitor } from '../engine/engine-monitor.ts';
import { ProgressTracker } from './progress-tracker.ts';
import type { Folders } from '../files/folders.ts';
import type { UrlPolicy } from '../engine/url-policy.ts';
import type { Prober } from './prober.ts';
import type { Settings } from '../settings.ts';
import { DownloadStore, type ItemChange } from '../store/store.ts';
import type { Reporting } from '../reporting/reporting.ts';

const recordingReportIntervalMs = 1000;

/** Returns the template of the settings. An empty template for lists selects the usual one. */
function getSettingsTemplate({ playlist }: Pick<Item, 'playlist'>, settings: Settings): string {
  const { outputTemplate, playlistTemplate, channelTemplate } = settings;
  if (playlist === null) return outputTemplate;
  return (playlist.channel === undefined ? playlistTemplate : channelTemplate) || outputTemplate;
}

export interface RunnerDependencies {
  readonly context: Context;
  readonly settings: Settings;
  readonly folders: Folders;
  readonly driver: Driver;
  readonly prober: Prober;
  readonly reporting: Reporting;
  readonly engine: EngineMonitor;
  readonly urlPolicy: UrlPolicy;
}

/** Runs a download from its turn in the queue to its end. */
export class DownloadRunner {
  readonly #deps: RunnerDependencies;
  /** Recordings of live streams in this process; an abort ends and keeps the recording. */
  readonly #recordings = new Map<string, AbortController>();

  constructor(deps: RunnerDependencies) {
    this.#deps = deps;
  }

  isRecording(uid: string): boolean {
    return this.#recordings.has(uid);
  }

  /** Ends and keeps a recording. Returns false without a recording. */
  endRecording(uid: string): boolean {
    const recording = this.#recordings.get(uid);
    recording?.abort();
    return recording !== undefined;
  }

  /** Fails a download that could not be probed. Without `notify`, no notification is sent. */
  async fail(uid: string, failure: DownloadFailure, { notify }: { readonly notify: boolean }): Promise<void> {
    const { context, folders } = this.#deps;
    await this.#storeFailure(uid, failure, notify);
    // A folder that cannot be written may not be removable either.
    await folders
      .remove(uid)
      .catch((error: unknown) => context.log.warn('download folder not removed', { uid, error }));
  }

  /**
   * Runs a claimed download until it ended or waits again. Resolves with the time of the next probe in ms since the
   * epoch if it waits for the start of a stream.
   */
  async run(claimedItem: Item, signal: AbortSignal): Promise<number | undefined> {
    const { prober } = this.#deps;
    const { live } = this.#deps.reporting;
    let item = claimedItem;
    try {
      live.changed(item);
      const url = await this.#deps.urlPolicy(item.url);
      if ('msg' in url) throw createRefusedProblem(403, url);
      if (!item.probed) {
        // A playlist is replaced by its entries, which wait at its position.
        const probed = await prober.probe(item, signal);
        if (probed.length !== 1 || probed[0]?.uid !== item.uid) return undefined;
        item = probed[0];
        if (typeof item.startsAt === 'number') {
          await this.#release(claimedItem);
          return item.startsAt;
        }
      }
      const change = {
        state: 'downloading',
        attempts: item.attempts + 1,
        message: null,
        failure: null,
        failureParameters: null,
      } as const;
      const startedItem = await this.#applyChange(item.uid, change);
      if (startedItem === undefined) await this.#release(claimedItem);
      else await this.#download(startedItem, signal);
    } catch (error) {
      await this.#handleError(claimedItem, signal, error);
    }
    return undefined;
  }

  async #download(item: Item, signal: AbortSignal): Promise<void> {
    const { context, driver, folders, settings } = this.#deps;
    const { live, metrics } = this.#deps.reporting;
    const started = context.clock.now();
    const folder = await folders.create(item.uid);
    const archive = findArchive(item.order, settings, folders.downloads);
    if (archive !== undefined) await createFolders(dirname(archive), folders.permissions);
    const template = findOrderTemplate(item.order, settings, folders.downloads) ?? getSettingsTemplate(item, settings);
    const tracker = new ProgressTracker(
      item,
      live,
      async (change) => {
        await this.#applyChange(item.uid, change).catch((error: unknown) => {
          context.log.warn('download state not stored', { uid: item.uid, error });
        });
      },
      await folders.getPartialBytes(item.uid),
    );
    const recording = item.liveStatus === 'is_live' ? new AbortController() : undefined;
    using _recording = this.#trackRecording(item.uid, recording, tracker);
    const call = {
      stopRecording: recording?.signal,
      item,
      folder,
      signal,
      template: fillTemplate(template, { prefix: item.order.prefix, playlist: item.playlist }),
      onStart: async (identity: string) =>
        await context.commit(async (db) => await new DownloadStore(db).setChild(item.uid, identity)),
      onEvent: (event: EngineEvent) => {
        if (!signal.aborted) tracker.handle(event);
      },
    };
    const mainFile = await driver.download(call).finally(async () => await tracker.flush());
    const folderNames = splitFolder(item.order.folder ?? '') ?? [];
    const root = folders.getRoot(item.order);
    const delivery = await deliver({
      from: `${folder}${sep}out`,
      chapters: `${folder}${sep}chapters`,
      to: [root, ...folderNames].join(sep),
      root,
      uid: item.uid,
      main: mainFile,
      rights: folders.permissions,
    });
    const toRelativePath = (path: string): string => relative(root, path).split(sep).join('/');
    const finished = await this.#storeResult(item.uid, {
      state: 'finished',
      filename: toRelativePath(delivery.path),
      size: delivery.size,
      otherFiles: delivery.others.map(({ path, ...more }) => ({ filename: toRelativePath(path), ...more })),
      media: tracker.media,
      message: null,
      title: tracker.title,
    });
    // Cancelled during the delivery.
    if (finished === undefined) await delivery.undo();
    else metrics.finished(delivery.size, (context.clock.now() - started) / 1000);
    await delivery.settle();
    await folders.remove(item.uid);
  }

  /** Reports the duration and size of a recording; the extractor reports nothing until its end. */
  #trackRecording(uid: string, recording: AbortController | undefined, tracker: ProgressTracker): Disposable {
    const open = new DisposableStack();
    if (recording === undefined) return open;
    const { context, folders } = this.#deps;
    const startedAt = context.clock.now();
    this.#recordings.set(uid, recording);
    open.defer(() => void this.#recordings.delete(uid));
    const notify = async (): Promise<void> =>
      tracker.reportRecording((context.clock.now() - startedAt) / 1000, await folders.getPartialBytes(uid));
    open.use(
      context.clock.every(recordingReportIntervalMs, () => {
        notify().catch((error: unknown) => context.log.debug('recording size not readable', { uid, error }));
      }),
    );
    return open;
  }

  /** Handles the failure or abort of a run. */
  async #handleError(item: Item, signal: AbortSignal, error: unknown): Promise<void> {
    const { context, engine } = this.#deps;
    if (signal.aborted) return await this.#release(item);
    if (error instanceof Problem && error.code === 'downloads.engine_missing') {
      await this.#release(item);
      engine.checkInBackground();
      return;
    }
    if (error instanceof Problem && error.code === 'downloads.archived') {
      const { kind: _, ...archived } = createServiceFailure('already_archived', 'other');
      await this.#storeResult(item.uid, {
        state: 'finished',
        filename: null,
        size: null,
        ...archived,
      });
      await this.#deps.folders.remove(item.uid);
      return;
    }
    const isProblem = error instanceof Problem;
    if (!isProblem || error.cause !== undefined) context.log.error('download failed', { uid: item.uid, error });
    await this.#storeFailure(item.uid, toDownloadFailure(error));
  }

  /** Releases a download that was paused or removed, or when the service stops. The attempt does not count. */
  async #release({ uid, attempts }: Item): Promise<void> {
    const { context, folders } = this.#deps;
    const { live } = this.#deps.reporting;
    const item = await context.commit(async (db) => await new DownloadStore(db).release(uid, { attempts }));
    if (item === undefined) await folders.remove(uid);
    else live.changed(item);
  }

  async #applyChange(uid: string, change: ItemChange): Promise<Item | undefined> {
    const item = await this.#deps.context.commit(async (db) => await new DownloadStore(db).advance(uid, change));
    if (item !== undefined) this.#deps.reporting.live.changed(item);
    return item;
  }

  async #storeFailure(uid: string, { kind, ...failure }: DownloadFailure, notify = true): Promise<void> {
    const item = await this.#storeResult(uid, { state: 'failed', ...failure }, notify);
    if (item !== undefined) this.#deps.reporting.metrics.failed(kind);
  }

  async #storeResult(
    uid: string,
    change: ItemChange & { readonly state: 'finished' | 'failed' },
    notify = true,
  ): Promise<Item | undefined> {
    const { context } = this.#deps;
    const { live, notifier } = this.#deps.reporting;
    const item = await context.commit(async (db) => {
      const finished = await new DownloadStore(db).finish(uid, context.clock.now(), change);
      if (finished !== undefined && notify) await notifier.downloadEnded(db, finished);
      return finished;
    });
    if (item !== undefined) live.changed(item);
    return item;
  }
}
