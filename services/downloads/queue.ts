import { hostname } from 'node:os';
import { relative, sep } from 'node:path';
import type { Context } from '../contracts/service.ts';
import { Problem } from '../contracts/problem.ts';
import { isRunning, type Item } from './domain/item.ts';
import type { EngineEvent } from './domain/progress.ts';
import { fillTemplate, folderParts } from './domain/template.ts';
import { deliver } from './engine/deliver.ts';
import type { Driver } from './engine/driver.ts';
import { identityOf } from './engine/processes.ts';
import type { EngineWatch } from './engine-watch.ts';
import { Follower } from './follow.ts';
import type { Folders } from './folders.ts';
import type { Live } from './live.ts';
import type { Meters } from './meters.ts';
import type { Notices } from './notices.ts';
import type { Gate } from './gate.ts';
import { keepingHours } from './limits/store.ts';
import type { Prober } from './prober.ts';
import { recover, tidy } from './recovery.ts';
import type { Runs } from './runs.ts';
import type { Settings } from './settings.ts';
import { isPaused } from './store/pause.ts';
import { DownloadStore, type Holder, type ItemChange } from './store/store.ts';

/** A host of another machine that has not renewed its lease for this long is taken for dead. */
const leaseMs = 60_000;
const renewEveryMs = 20_000;
/** Rows that another host has left, and a database that was full a while ago. */
const lookEveryMs = 30_000;
const recordedEveryMs = 1000;

interface Parts {
  readonly context: Context;
  readonly settings: Settings;
  readonly folders: Folders;
  readonly driver: Driver;
  readonly prober: Prober;
  readonly live: Live;
  readonly meters: Meters;
  readonly notices: Notices;
  readonly engine: EngineWatch;
  readonly runs: Runs;
  readonly gate: Gate;
  /** Whether downloads may run at this hour. */
  readonly isOpen: () => boolean;
}

/** Works the waiting downloads in their order, as many at once as the settings allow. */
export class Queue implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #bound: number;
  readonly #open = new DisposableStack();
  #holder: Holder = { machine: hostname(), process: '' };
  #filling: Promise<void> | undefined;
  /** Live streams that are recorded here; an abort ends the recording and keeps it. */
  readonly #recordings = new Map<string, AbortController>();
  #again = false;
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#bound = parts.settings.mode === 'sequential' ? 1 : parts.settings.maxConcurrent;
  }

  get bound(): number {
    return this.#bound;
  }

  /** Downloads of this process, post-processing included. */
  get active(): number {
    return this.#parts.runs.count('download');
  }

  /** Who this process is in the rows it works on. */
  get holder(): Holder {
    return this.#holder;
  }

  get leaseUntil(): number {
    return this.#parts.context.clock.now() + leaseMs;
  }

  async start(): Promise<void> {
    const { context } = this.#parts;
    this.#holder = { machine: hostname(), process: (await identityOf(process.pid)) ?? String(process.pid) };
    await recover(this.#parts, this.#holder, true);
    await tidy(this.#parts);
    const guarded = (work: () => Promise<void>) => (): void => {
      work().catch((error: unknown) => context.log.error('the queue could not be looked after', { error }));
    };
    this.#open.use(context.clock.every(renewEveryMs, guarded(async () => {
      await this.#renew();
    }))); // prettier-ignore
    this.#open.use(context.clock.every(lookEveryMs, guarded(async () => {
      await recover(this.#parts, this.#holder, false);
      this.wake();
    }))); // prettier-ignore
    this.wake();
  }

  /** Starts what may start now. */
  wake(): void {
    this.#again = true;
    this.#filling ??= this.#fill()
      .catch((error: unknown) => this.#parts.context.log.error('the queue could not be read', { error }))
      .finally(() => {
        this.#filling = undefined;
      });
  }

  /**
   * Stops a download of this process that was paused; its parts stay. A live stream cannot be continued: its recording
   * ends, and is kept. Resolves once nothing of it runs.
   */
  async rest(uid: string): Promise<void> {
    const recording = this.#recordings.get(uid);
    recording?.abort();
    if (recording === undefined) await this.#parts.runs.stop(uid);
    else await this.#parts.runs.ended(uid);
  }

  /** Stops downloads that keep to the hours, when these are over; they wait at their places with their parts. */
  async close(): Promise<void> {
    const { context, runs } = this.#parts;
    const uids = (await keepingHours(context.db, runs.uids('download'))).filter((uid) => !this.#recordings.has(uid));
    await Promise.all(uids.map(async (uid) => await this.rest(uid)));
  }

  /** Stops what runs, to go on with it at once under other terms. */
  async restart(): Promise<void> {
    const uids = this.#parts.runs.uids('download').filter((uid) => !this.#recordings.has(uid));
    await Promise.all(uids.map(async (uid) => await this.rest(uid)));
  }

  /** Stops a download of this process that is no longer wanted, and removes its parts. */
  async cancel(uid: string): Promise<void> {
    await this.#parts.runs.stop(uid);
    await this.#parts.folders.remove(uid);
  }

  /** Ends a download that could not even be looked at. Without `tell` no notice is sent. */
  async fail(uid: string, message: string, { tell }: { readonly tell: boolean }): Promise<void> {
    await this.#finish(uid, { state: 'failed', message }, tell);
    await this.#parts.folders.remove(uid);
  }

  /** Stops everything; what ran goes back to its place in the queue and keeps its parts. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#open.dispose();
    await this.#filling;
    await this.#parts.runs.close();
  }

  async #fill(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      while (this.active < this.#bound && !this.#closed) {
        if (this.#parts.engine.missing !== undefined) break;
        const item = await this.#parts.context.commit(async (db) =>
          (await isPaused(db))
            ? undefined
            : await new DownloadStore(db).claim(this.#holder, this.leaseUntil, {
                anyway: !this.#parts.isOpen(),
                now: this.#parts.context.clock.now(),
              }),
        );
        if (item === undefined) break;
        this.#launch(item);
      }
    }
  }

  #launch(item: Item): void {
    this.#parts.runs
      .start(item.uid, 'download', async (signal) => await this.#run(item, signal))
      .catch((error: unknown) => this.#parts.context.log.error('download was not settled', { uid: item.uid, error }))
      .finally(() => this.wake());
  }

  async #run(claimed: Item, signal: AbortSignal): Promise<void> {
    const { prober, live } = this.#parts;
    let item = claimed;
    try {
      live.changed(item);
      const allowed = await this.#parts.gate(item.url);
      if ('msg' in allowed) throw new Problem('downloads.refused', 403, allowed.msg);
      if (!item.probed) {
        // A playlist becomes its entries, which wait in its place.
        const probed = await prober.probe(item, signal);
        if (probed.length !== 1 || probed[0]?.uid !== item.uid) return;
        item = probed[0];
        if (typeof item.startsAt === 'number') {
          this.#wakeAt(item.startsAt);
          return await this.#letGo(claimed);
        }
      }
      const change = { state: 'downloading', attempts: item.attempts + 1, message: null } as const;
      const started = await this.#advance(item.uid, change);
      if (started === undefined) return await this.#letGo(claimed);
      item = started;
      await this.#download(item, signal);
    } catch (error) {
      await this.#settle(claimed, signal, error);
    }
  }

  async #download(item: Item, signal: AbortSignal): Promise<void> {
    const { context, driver, folders, live, meters, settings } = this.#parts;
    const started = context.clock.now();
    const folder = await folders.make(item.uid);
    const template = item.playlist === null ? settings.outputTemplate : settings.playlistTemplate;
    const follower = new Follower(
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
    else meters.finished(delivered.size, (context.clock.now() - started) / 1000);
    await delivered.settle();
    await folders.remove(item.uid);
  }

  /** Sooner than the next look around, where it is this process that knows. */
  #wakeAt(time: number): void {
    const wait = time - this.#parts.context.clock.now();
    if (!this.#closed && wait < lookEveryMs) this.#open.use(this.#parts.context.clock.after(wait, () => this.wake()));
  }

  /** Tells of a live stream how long and how much was recorded; the extractor says nothing until its end. */
  #record(uid: string, recording: AbortController | undefined, follower: Follower): Disposable {
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

  /** Keeps what this process works on, and stops what another host has paused or removed. */
  async #renew(): Promise<void> {
    const { context, runs } = this.#parts;
    const uids = runs.uids();
    if (uids.length === 0) return;
    const unwanted = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      await store.renew(uids, this.leaseUntil);
      const wanted = new Set((await store.running()).filter(({ item }) => isRunning(item.state)).map(({ item }) => item.uid)); // prettier-ignore
      // What is added to a paused queue is looked at all the same.
      const held = new Set((await isPaused(db)) ? runs.uids('download') : []);
      return uids.filter((uid) => !wanted.has(uid) || held.has(uid));
    });
    await Promise.all(unwanted.map(async (uid) => await this.rest(uid)));
  }

  async #finish(
    uid: string,
    change: ItemChange & { readonly state: 'finished' | 'failed' },
    tell = true,
  ): Promise<Item | undefined> {
    const { context, live, meters, notices } = this.#parts;
    const item = await context.commit(async (db) => {
      const finished = await new DownloadStore(db).finish(uid, context.clock.now(), change);
      if (finished !== undefined && tell) await notices.ended(db, finished);
      return finished;
    });
    if (item === undefined) return undefined;
    live.changed(item);
    if (change.state === 'failed') meters.failed(change.message ?? '');
    return item;
  }
}
