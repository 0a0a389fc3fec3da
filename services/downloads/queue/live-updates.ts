import { downloadChanged, downloadRemoved, downloadsMoved, downloadsPaused } from '../../contracts/downloads/api.ts';
import { getDownloadName } from '../../contracts/downloads/download-name.ts';
import type { Bus } from '../../contracts/bus.ts';
import type { Clock } from '../../contracts/service.ts';
import type { RunningWork } from '../../contracts/health.ts';
import { isRunning, noProgress, toDownload, type Item, type Progress } from '../domain/item.ts';

/** Four events a second for one download. */
const everyMs = 250;

interface Shown {
  item: Item;
  progress: Progress;
  publishedAt: number;
  /** The state that was told last. */
  told: Item['state'] | undefined;
  later: Disposable | undefined;
}

/** Who follows every download, such as the peer's live clients. */
export interface Follower {
  changed(item: Item, progress: Progress): void;
  removed(items: readonly Gone[]): void;
}

/** What is left to say of a download that was cancelled, forgotten or became its entries. */
export type Gone = Pick<Item, 'uid' | 'url' | 'state'>;

/** Tells the pages what happens, seldom enough, and remembers the progress that no row holds. */
export class Live implements Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #shown = new Map<string, Shown>();
  readonly #followers = new Set<Follower>();

  constructor(bus: Bus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
  }

  progressOf(uid: string): Progress {
    return this.#shown.get(uid)?.progress ?? noProgress;
  }

  /** What is being worked on, as Home names it. */
  get running(): readonly RunningWork[] {
    return [...this.#shown.values()]
      .filter(({ item }) => isRunning(item.state))
      .map(({ item, progress: { percent } }) => ({
        ...{ title: getDownloadName(item), to: `/downloads/queue/${item.uid}` },
        percent: percent === null ? null : Math.min(100, Math.max(0, Math.round(percent))),
      }));
  }

  /** What there is to say of a row as it was read: it may have ended before its last progress was forgotten. */
  progressFor(item: Item): Progress {
    return item.finishedAt === null ? this.progressOf(item.uid) : noProgress;
  }

  follow(follower: Follower): Disposable {
    this.#followers.add(follower);
    return { [Symbol.dispose]: () => void this.#followers.delete(follower) };
  }

  /** An item was added or its row changed. */
  changed(item: Item): void {
    // What rests keeps how far it came, and nothing that moves.
    const { percent } = this.progressOf(item.uid);
    if (isRunning(item.state)) this.#show(item, this.progressOf(item.uid));
    else this.#show(item, item.state === 'paused' ? { ...noProgress, percent } : noProgress);
  }

  /** A running item went on; forgotten when nobody runs it any more. */
  progressed(item: Item, progress: Progress): void {
    this.#show(item, progress);
  }

  removed(items: readonly Gone[]): void {
    for (const { uid } of items) {
      this.#forget(uid);
      this.#bus.publish(downloadRemoved, { uid });
    }
    for (const follower of this.#followers) follower.removed(items);
  }

  moved(uids: readonly string[], before: string | null): void {
    this.#bus.publish(downloadsMoved, { uids: [...uids], before });
  }

  paused(paused: boolean): void {
    this.#bus.publish(downloadsPaused, { paused });
  }

  [Symbol.dispose](): void {
    for (const uid of this.#shown.keys()) this.#forget(uid);
  }

  #show(item: Item, progress: Progress): void {
    const shown = this.#shown.get(item.uid) ?? {
      item,
      progress,
      publishedAt: -everyMs,
      told: undefined,
      later: undefined,
    };
    Object.assign(shown, { item, progress });
    this.#shown.set(item.uid, shown);
    const wait = shown.publishedAt + everyMs - this.#clock.now();
    // Another state is told at once: whoever pauses a download hears of it before the answer, and no progress after it.
    if (wait <= 0 || shown.told !== item.state) this.#publish(shown);
    else shown.later ??= this.#clock.after(wait, () => this.#publish(shown));
  }

  #publish(shown: Shown): void {
    shown.later?.[Symbol.dispose]();
    shown.later = undefined;
    shown.publishedAt = this.#clock.now();
    shown.told = shown.item.state;
    const { item, progress } = shown;
    this.#bus.publish(downloadChanged, toDownload(item, progress));
    for (const follower of this.#followers) follower.changed(item, progress);
    // Of what nobody works on the row says it all: a feed of thousands waits without being kept here.
    if (!isRunning(item.state) && progress.percent === null) this.#shown.delete(item.uid);
  }

  #forget(uid: string): void {
    this.#shown.get(uid)?.later?.[Symbol.dispose]();
    this.#shown.delete(uid);
  }
}
