import { dirname, relative, sep } from 'node:path';
import type { Context } from '../../contracts/service.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Item } from '../domain/item.ts';
import type { EngineEvent } from '../domain/progress.ts';
import { fillTemplate, folderParts } from '../domain/template.ts';
import { deliver } from '../engine/file-delivery.ts';
import { archiveOf, templateOf } from '../engine/command-settings.ts';
import type { Driver } from '../engine/driver.ts';
import { makeFolders } from '../engine/file-permissions.ts';
import type { EngineWatch } from '../engine/engine-monitor.ts';
import { ProgressFollower } from './progress-tracker.ts';
import type { Folders } from './folders.ts';
import type { UrlPolicy } from '../add/url-policy.ts';
import type { Live } from '../queue/live-updates.ts';
import type { DownloadMetrics } from './metrics.ts';
import type { Notices } from './download-notifier.ts';
import type { Prober } from '../add/prober.ts';
import type { Settings } from '../settings.ts';
import { DownloadStore, type ItemChange } from '../store/store.ts';

const recordedEveryMs = 1000;
const alreadyArchived = 'Already in the download archive: it was downloaded before.';

/** An empty template of lists stands for the usual one. */
function ownTemplate({ playlist }: Pick<Item, 'playlist'>, settings: Settings): string {
  const { outputTemplate, playlistTemplate, channelTemplate } = settings;
  if (playlist === null) return outputTemplate;
  return (playlist.channel === undefined ? playlistTemplate : channelTemplate) || outputTemplate;
}

export interface WorkParts {
  readonly context: Context;
  readonly settings: Settings;
  readonly folders: Folders;
  readonly driver: Driver;
  readonly prober: Prober;
  readonly live: Live;
  readonly metrics: DownloadMetrics;
  readonly notices: Notices;
  readonly engine: EngineWatch;
  readonly gate: UrlPolicy;
}

/** What one download goes through once it is its turn, up to its end. */
export class Work {
  readonly #parts: WorkParts;
  /** Live streams that are recorded here; an abort ends the recording and keeps it. */
  readonly #recordings = new Map<string, AbortController>();

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  isRecording(uid: string): boolean {
    return this.#recordings.has(uid);
  }

  /** Ends a recording, which is kept then. False: there is none. */
  endRecording(uid: string): boolean {
    const recording = this.#recordings.get(uid);
    recording?.abort();
    return recording !== undefined;
  }

  /** Ends a download that could not even be looked at. Without `tell` no notice is sent. */
  async fail(uid: string, message: string, { tell }: { readonly tell: boolean }): Promise<void> {
    const { context, folders } = this.#parts;
    await this.#finish(uid, { state: 'failed', message }, tell);
    // What could not be written can perhaps not be removed either.
    await folders.remove(uid).catch((error: unknown) => context.log.warn('a folder was not removed', { uid, error }));
  }

  /**
   * Works a claimed download until it has ended, or waits again. Resolves with the time when it is to be looked at again,
   * in ms since the epoch, where it waits for a stream to begin.
   */
  async run(claimed: Item, signal: AbortSignal): Promise<number | undefined> {
    const { prober, live } = this.#parts;
    let item = claimed;
    try {
      live.changed(item);
      const allowed = await this.#parts.gate(item.url);
      if ('msg' in allowed) throw new Problem('downloads.refused', 403, allowed.msg);
      if (!item.probed) {
        // A playlist becomes its entries, which wait in its place.
        const probed = await prober.probe(item, signal);
        if (probed.length !== 1 || probed[0]?.uid !== item.uid) return undefined;
        item = probed[0];
        if (typeof item.startsAt === 'number') {
          await this.#letGo(claimed);
          return item.startsAt;
        }
      }
      const change = { state: 'downloading', attempts: item.attempts + 1, message: null } as const;
      const started = await this.#advance(item.uid, change);
      if (started === undefined) await this.#letGo(claimed);
      else await this.#download(started, signal);
    } catch (error) {
      await this.#settle(claimed, signal, error);
    }
    return undefined;
  }

  async #download(item: Item, signal: AbortSignal): Promise<void> {
    const { context, driver, folders, live, metrics, settings } = this.#parts;
    const started = context.clock.now();
    const folder = await folders.make(item.uid);
    const archive = archiveOf(item.order, settings, folders.downloads);
    if (archive !== undefined) await makeFolders(dirname(archive), folders.rights);
    const template = templateOf(item.order, settings, folders.downloads) ?? ownTemplate(item, settings);
    const follower = new ProgressFollower(
      item,
      live,
      async (change) => {
        await this.#advance(item.uid, change).catch((error: unknown) => {
          context.log.warn('download state could not be stored', { uid: item.uid, error });
        });
      },
      await folders.kept(item.uid),
    );
    const recording = item.liveStatus === 'is_live' ? new AbortController() : undefined;
    using _recording = this.#record(item.uid, recording, follower);
    const call = {
      keep: recording?.signal,
      item,
      folder,
      signal,
      template: fillTemplate(template, { prefix: item.order.prefix, playlist: item.playlist }),
      onStart: async (identity: string) =>
        await context.commit(async (db) => await new DownloadStore(db).setChild(item.uid, identity)),
      onEvent: (event: EngineEvent) => {
        if (!signal.aborted) follower.take(event);
      },
    };
    const main = await driver.download(call).finally(async () => await follower.settled());
    const parts = folderParts(item.order.folder ?? '') ?? [];
    const root = folders.rootOf(item.order);
    const delivered = await deliver({
      from: `${folder}${sep}out`,
      chapters: `${folder}${sep}chapters`,
      to: [root, ...parts].join(sep),
      root,
      uid: item.uid,
      main,
      rights: folders.rights,
    });
    const below = (path: string): string => relative(root, path).split(sep).join('/');
    const finished = await this.#finish(item.uid, {
      state: 'finished',
      filename: below(delivered.path),
      size: delivered.size,
      otherFiles: delivered.others.map(({ path, ...more }) => ({ filename: below(path), ...more })),
      message: null,
      title: follower.title,
    });
    // Cancelled on the way.
    if (finished === undefined) await delivered.undo();
    else metrics.finished(delivered.size, (context.clock.now() - started) / 1000);
    await delivered.settle();
    await folders.remove(item.uid);
  }

  /** Tells of a live stream how long and how much was recorded; the extractor says nothing until its end. */
  #record(uid: string, recording: AbortController | undefined, follower: ProgressFollower): Disposable {
    const open = new DisposableStack();
    if (recording === undefined) return open;
    const { context, folders } = this.#parts;
    const began = context.clock.now();
    this.#recordings.set(uid, recording);
    open.defer(() => void this.#recordings.delete(uid));
    const tell = async (): Promise<void> =>
      follower.recorded((context.clock.now() - began) / 1000, await folders.kept(uid));
    open.use(
      context.clock.every(recordedEveryMs, () => {
        tell().catch((error: unknown) => context.log.debug('a recording could not be measured', { uid, error }));
      }),
    );
    return open;
  }

  /** What becomes of a run that did not come to its end. */
  async #settle(item: Item, signal: AbortSignal, error: unknown): Promise<void> {
    const { context, engine } = this.#parts;
    if (signal.aborted) return await this.#letGo(item);
    if (error instanceof Problem && error.code === 'downloads.engine_missing') {
      await this.#letGo(item);
      engine.look();
      return;
    }
    if (error instanceof Problem && error.code === 'downloads.archived') {
      await this.#finish(item.uid, { state: 'finished', filename: null, size: null, message: alreadyArchived });
      await this.#parts.folders.remove(item.uid);
      return;
    }
    const known = error instanceof Problem;
    if (!known || error.cause !== undefined) context.log.error('download failed', { uid: item.uid, error });
    const message = known ? error.detail : 'The download failed for a reason of our own; see the log.';
    await this.#finish(item.uid, { state: 'failed', message });
  }

  /** Paused or removed meanwhile, or the service stops. The attempt does not count. */
  async #letGo({ uid, attempts }: Item): Promise<void> {
    const { context, folders, live } = this.#parts;
    const item = await context.commit(async (db) => await new DownloadStore(db).release(uid, { attempts }));
    if (item === undefined) await folders.remove(uid);
    else live.changed(item);
  }

  async #advance(uid: string, change: ItemChange): Promise<Item | undefined> {
    const item = await this.#parts.context.commit(async (db) => await new DownloadStore(db).advance(uid, change));
    if (item !== undefined) this.#parts.live.changed(item);
    return item;
  }

  async #finish(
    uid: string,
    change: ItemChange & { readonly state: 'finished' | 'failed' },
    tell = true,
  ): Promise<Item | undefined> {
    const { context, live, metrics, notices } = this.#parts;
    const item = await context.commit(async (db) => {
      const finished = await new DownloadStore(db).finish(uid, context.clock.now(), change);
      if (finished !== undefined && tell) await notices.ended(db, finished);
      return finished;
    });
    if (item === undefined) return undefined;
    live.changed(item);
    if (change.state === 'failed') metrics.failed(change.message ?? '');
    return item;
  }
}
