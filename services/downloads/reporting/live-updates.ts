import { downloadChanged, downloadRemoved, downloadsMoved, downloadsPaused } from '../../contracts/downloads/api.ts';
import { getDownloadName } from '../../contracts/downloads/download-name.ts';
import type { Bus } from '../../contracts/bus.ts';
import type { Clock } from '../../contracts/service.ts';
import type { ServiceWork } from '../../contracts/health.ts';
import { isRunning, noProgress, toDownload, type Item, type Progress } from '../domain/item.ts';

/** At most four events per second for one download. */
const intervalMs = 250;

interface LiveEntry {
  item: Item;
  progress: Progress;
  publishedAt: number;
  /** State of the last published event. */
  publishedState: Item['state'] | undefined;
  timer: Disposable | undefined;
}

/** Receives every change of a download, as for MeTube's live clients. */
export interface LiveSubscriber {
  changed(item: Item, progress: Progress): void;
  removed(items: readonly RemovedItem[]): void;
}

/** Fields of a removed download: it was cancelled, deleted from the history or replaced by its entries. */
export type RemovedItem = Pick<Item, 'uid' | 'url' | 'state'>;

/** Publishes changes to the pages at a limited rate and holds the progress, which is not stored. */
export class LiveUpdates implements Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #entries = new Map<string, LiveEntry>();
  readonly #subscribers = new Set<LiveSubscriber>();

  constructor(bus: Bus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
  }

  getProgress(uid: string): Progress {
    return this.#entries.get(uid)?.progress ?? noProgress;
  }

  /** Running downloads, as Home shows them. */
  get running(): readonly ServiceWork[] {
    return [...this.#entries.values()]
      .filter(({ item }) => isRunning(item.state))
      .map(({ item, progress: { percent } }) => ({
        title: getDownloadName(item),
        to: `/downloads/queue/${item.uid}`,
        percent: percent === null ? null : Math.min(100, Math.max(0, Math.round(percent))),
      }));
  }

  /** Returns the progress for an item as it was read: it may have ended before its last progress was dropped. */
  getItemProgress(item: Item): Progress {
    return item.finishedAt === null ? this.getProgress(item.uid) : noProgress;
  }

  subscribe(subscriber: LiveSubscriber): Disposable {
    this.#subscribers.add(subscriber);
    return { [Symbol.dispose]: () => void this.#subscribers.delete(subscriber) };
  }

  /** Publishes that an item was added or that its row changed. */
  changed(item: Item): void {
    // A paused download keeps its percentage, but no speed or ETA.
    const { percent } = this.getProgress(item.uid);
    if (isRunning(item.state)) this.#schedule(item, this.getProgress(item.uid));
    else this.#schedule(item, item.state === 'paused' ? { ...noProgress, percent } : noProgress);
  }

  /** Publishes the progress of a running item; the progress is dropped when no run works on it. */
  progressed(item: Item, progress: Progress): void {
    this.#schedule(item, progress);
  }

  removed(items: readonly RemovedItem[]): void {
    for (const { uid } of items) {
      this.#drop(uid);
      this.#bus.publish(downloadRemoved, { uid });
    }
    for (const subscriber of this.#subscribers) subscriber.removed(items);
  }

  moved(uids: readonly string[], before: string | null): void {
    this.#bus.publish(downloadsMoved, { uids: [...uids], before });
  }

  paused(paused: boolean): void {
    this.#bus.publish(downloadsPaused, { paused });
  }

  [Symbol.dispose](): void {
    for (const uid of this.#entries.keys()) this.#drop(uid);
  }

  #schedule(item: Item, progress: Progress): void {
    const entry = this.#entries.get(item.uid) ?? {
      item,
      progress,
      publishedAt: -intervalMs,
      publishedState: undefined,
      timer: undefined,
    };
    Object.assign(entry, { item, progress });
    this.#entries.set(item.uid, entry);
    const wait = entry.publishedAt + intervalMs - this.#clock.now();
    // A new state is published immediately: a client that pauses a download receives the event before the response, and
    // no progress after it.
    if (wait <= 0 || entry.publishedState !== item.state) this.#publish(entry);
    else entry.timer ??= this.#clock.after(wait, () => this.#publish(entry));
  }

  #publish(entry: LiveEntry): void {
    entry.timer?.[Symbol.dispose]();
    entry.timer = undefined;
    entry.publishedAt = this.#clock.now();
    entry.publishedState = entry.item.state;
    const { item, progress } = entry;
    this.#bus.publish(downloadChanged, toDownload(item, progress));
    for (const subscriber of this.#subscribers) subscriber.changed(item, progress);
    // The row says everything about a download without a run: waiting feeds of thousands of entries are not held here.
    if (!isRunning(item.state) && progress.percent === null) this.#entries.delete(item.uid);
  }

  #drop(uid: string): void {
    this.#entries.get(uid)?.timer?.[Symbol.dispose]();
    this.#entries.delete(uid);
  }
}
