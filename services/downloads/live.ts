import { downloadChanged, downloadRemoved, downloadsMoved, downloadsPaused } from '../contracts/downloads.ts';
import type { Bus } from '../contracts/bus.ts';
import type { Clock } from '../contracts/service.ts';
import { isRunning, noProgress, toDownload, type Item, type Progress } from './domain/item.ts';

/** Four events a second for one download. */
const everyMs = 250;

interface Shown {
  item: Item;
  progress: Progress;
  publishedAt: number;
  later: Disposable | undefined;
}

/** Tells the pages what happens, seldom enough, and remembers the progress that no row holds. */
export class Live implements Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #shown = new Map<string, Shown>();

  constructor(bus: Bus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
  }

  progressOf(uid: string): Progress {
    return this.#shown.get(uid)?.progress ?? noProgress;
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

  removed(uids: readonly string[]): void {
    for (const uid of uids) {
      this.#forget(uid);
      this.#bus.publish(downloadRemoved, { uid });
    }
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
    const shown = this.#shown.get(item.uid) ?? { item, progress, publishedAt: -everyMs, later: undefined };
    Object.assign(shown, { item, progress });
    this.#shown.set(item.uid, shown);
    const wait = shown.publishedAt + everyMs - this.#clock.now();
    if (wait <= 0) this.#publish(shown);
    else shown.later ??= this.#clock.after(wait, () => this.#publish(shown));
  }

  #publish(shown: Shown): void {
    shown.later?.[Symbol.dispose]();
    shown.later = undefined;
    shown.publishedAt = this.#clock.now();
    this.#bus.publish(downloadChanged, toDownload(shown.item, shown.progress));
    // Of what nobody works on the row says it all: a feed of thousands waits without being kept here.
    const { item, progress } = shown;
    if (!isRunning(item.state) && progress.percent === null) this.#shown.delete(item.uid);
  }

  #forget(uid: string): void {
    this.#shown.get(uid)?.later?.[Symbol.dispose]();
    this.#shown.delete(uid);
  }
}
