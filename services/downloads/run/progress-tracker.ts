import type { MediaDetails } from '../../contracts/downloads/media-details.ts';
import { noProgress, type Item, type Progress } from '../domain/item.ts';
import { getStageActivity, type EngineEvent } from '../domain/progress.ts';
import type { LiveUpdates } from '../reporting/live-updates.ts';
import type { ItemChange } from '../store/store.ts';

/** Converts the extractor's events into progress and, when the state or title changes, into changes of the row. */
export class ProgressTracker {
  readonly #live: LiveUpdates;
  readonly #store: (change: ItemChange) => Promise<void>;
  #item: Item;
  #progress: Progress = noProgress;
  #fileDetails: MediaDetails = {};
  #streams = 1;
  #completeStreams = 0;
  #isBetweenStreams = false;
  #transferredBytes: number;
  #isRestarted = false;
  #pendingWrites: Promise<void> = Promise.resolve();

  /**
   * @param store Called with one change at a time; handles failures.
   * @param partialBytes Bytes of an interrupted transfer that can be continued.
   */
  constructor(item: Item, live: LiveUpdates, store: (change: ItemChange) => Promise<void>, partialBytes = 0) {
    this.#transferredBytes = partialBytes;
    this.#item = item;
    this.#live = live;
    this.#store = store;
  }

  /** Title as known so far. */
  get title(): string {
    return this.#item.title;
  }

  /** Details of the site and of the finished file, whose values take precedence. */
  get media(): MediaDetails {
    return { ...this.#item.media, ...this.#fileDetails };
  }

  handle(event: EngineEvent): void {
    if (event.kind === 'beginning') {
      this.#streams = event.streams;
      const title = this.#item.playlist?.entryTitle ?? event.title ?? this.#item.title;
      this.#apply({ title, videoId: event.id ?? this.#item.videoId, liveStatus: event.liveStatus });
    } else if (event.kind === 'details') {
      this.#fileDetails = event.media;
    } else if (event.kind === 'transfer') {
      // The end of a stream may be reported more than once.
      if (this.#isBetweenStreams && !event.complete) this.#completeStreams += 1;
      this.#isBetweenStreams = event.complete;
      const stream = this.#streams !== 2 ? null : this.#completeStreams === 0 ? 'video' : 'audio';
      if (event.complete) this.#transferredBytes = 0;
      else if (event.bytes !== null) {
        if (event.bytes < this.#transferredBytes) this.#isRestarted = true;
        this.#transferredBytes = event.bytes;
      }
      this.#progress = { ...event.progress, stream, activity: this.#isRestarted ? { kind: 'restarted' } : null };
      this.#report('downloading');
    } else if (event.kind === 'stage' && event.started && event.name !== 'MoveFiles') {
      const { percent } = this.#progress;
      this.#progress = { ...noProgress, percent, activity: getStageActivity(event.name) };
      this.#report('postprocessing');
    }
  }

  /** Reports the duration and size of a recording. */
  reportRecording(seconds: number, bytes: number): void {
    if (this.#item.state === 'postprocessing' || bytes === 0) return;
    this.#progress = { ...noProgress, activity: { kind: 'recording', seconds, bytes } };
    this.#report('downloading');
  }

  /** Resolves when every change is stored; no change may follow the final one. */
  async flush(): Promise<void> {
    await this.#pendingWrites;
  }

  #report(state: 'downloading' | 'postprocessing'): void {
    if (this.#item.state !== state) this.#apply({ state });
    this.#live.progressed(this.#item, this.#progress);
  }

  #apply(change: ItemChange): void {
    this.#item = { ...this.#item, ...change };
    this.#pendingWrites = this.#pendingWrites.then(async () => await this.#store(change));
  }
}
