import { noProgress, type Item, type Progress } from '../domain/item.ts';
import { recordedMessage, stageMessage, type EngineEvent } from '../domain/progress.ts';
import type { Live } from '../queue/live-updates.ts';
import type { ItemChange } from '../store/store.ts';

const startedAnew = 'The server cannot continue a broken transfer: it was started again from the beginning.';

/** Turns the extractor's events into progress and, where the state or the title changes, into changes of the row. */
export class ProgressFollower {
  readonly #live: Live;
  readonly #store: (change: ItemChange) => Promise<void>;
  #item: Item;
  #progress: Progress = noProgress;
  #streams = 1;
  #complete = 0;
  #betweenStreams = false;
  #reached: number;
  #anew = false;
  #writing: Promise<void> = Promise.resolve();

  /**
   * `store` is called with one change at a time and handles its own failure; `kept` are the bytes of a broken transfer
   * that lie there to be continued.
   */
  constructor(item: Item, live: Live, store: (change: ItemChange) => Promise<void>, kept = 0) {
    this.#reached = kept;
    this.#item = item;
    this.#live = live;
    this.#store = store;
  }

  /** As far as it is known by now. */
  get title(): string {
    return this.#item.title;
  }

  take(event: EngineEvent): void {
    if (event.kind === 'beginning') {
      this.#streams = event.streams;
      const title = this.#item.playlist?.entryTitle ?? event.title ?? this.#item.title;
      this.#become({ title, videoId: event.id ?? this.#item.videoId, liveStatus: event.liveStatus });
    } else if (event.kind === 'transfer') {
      // The end of a stream may be told more than once.
      if (this.#betweenStreams && !event.complete) this.#complete += 1;
      this.#betweenStreams = event.complete;
      const stream = this.#streams !== 2 ? null : this.#complete === 0 ? 'video' : 'audio';
      if (event.complete) this.#reached = 0;
      else if (event.bytes !== null) {
        if (event.bytes < this.#reached) this.#anew = true;
        this.#reached = event.bytes;
      }
      this.#progress = { ...event.progress, stream, message: this.#anew ? startedAnew : null };
      this.#reach('downloading');
    } else if (event.kind === 'stage' && event.started && event.name !== 'MoveFiles') {
      const { percent } = this.#progress;
      this.#progress = { ...noProgress, percent, message: stageMessage(event.name) };
      this.#reach('postprocessing');
    }
  }

  /** A live stream is recorded: for so many seconds, and bytes. */
  recorded(seconds: number, bytes: number): void {
    if (this.#item.state === 'postprocessing' || bytes === 0) return;
    this.#progress = { ...noProgress, message: recordedMessage(seconds, bytes) };
    this.#reach('downloading');
  }

  /** Resolves when every change is stored; none may arrive after the end was. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #reach(state: 'downloading' | 'postprocessing'): void {
    if (this.#item.state !== state) this.#become({ state });
    this.#live.progressed(this.#item, this.#progress);
  }

  #become(change: ItemChange): void {
    this.#item = { ...this.#item, ...change };
    this.#writing = this.#writing.then(async () => await this.#store(change));
  }
}
