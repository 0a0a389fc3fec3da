import type { Topic } from '../../../services/contracts/bus.ts';
import { live } from './live.svelte.ts';
import { appendOlder, mergeNewest } from './newest-first-rules.ts';
import { runExclusive } from './run-exclusive.ts';
import { toasts } from './toasts.svelte.ts';

/** Source of the rows of a list. */
interface Source<Row> {
  /** Topic that announces added or changed rows. */
  readonly topic: Topic<unknown>;
  /** Maximum number of rows in one page. */
  readonly step: number;
  /** Creation time of a row in ms since the epoch; the rows are sorted by it. */
  readonly getTime: (row: Row) => number;
  /**
   * Returns the newest rows, or those that are older than a row.
   * @throws Problem
   */
  readonly read: (behind?: Row) => Promise<readonly Row[]>;
}

/** Delay before older rows are requested again after a failure. */
const retryDelayMs = 5000;

/** A list sorted by time, newest first. It is loaded in pages, and kept up to date while it has observers. */
export class NewestFirstList<Row extends { readonly id: string }> {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  /** Error of the last failed load. */
  failure = $state.raw<unknown>();
  rows = $state.raw<readonly Row[]>([]);
  /** Rows that arrived while the list was paused. */
  pending = $state.raw<readonly Row[]>([]);
  /** Incremented with each event, for other data that must be reloaded. */
  changeCount = $state(0);
  readonly #source: Source<Row>;
  #observers = 0;
  #isPaused = false;
  /** More rows arrived than one page has: the pending rows do not reach down to the visible ones. */
  #hasGap = false;
  #isComplete = false;
  #isLoadingMore = false;
  #failedAt = -Infinity;
  #turn = 0;
  #loading: Promise<void> | undefined;
  readonly #renewOnce = runExclusive(() => this.#renew());

  constructor(source: Source<Row>) {
    this.#source = source;
    live.on(source.topic, () => void this.refresh());
    live.onReset(() => void this.refresh());
  }

  /** Keeps the list up to date until the returned function is called. */
  observe(): () => void {
    this.#observers += 1;
    return () => {
      this.#observers -= 1;
      if (this.#observers === 0) this.setPaused(false);
    };
  }

  /** Loads from the top, as after a change of filters. A later call supersedes an earlier one. */
  load(): Promise<void> {
    this.#turn += 1;
    const loading = this.#load(this.#turn).finally(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  async #load(turn: number): Promise<void> {
    await live.opened();
    try {
      const rows = await this.#source.read();
      if (turn !== this.#turn) return;
      this.#replaceRows(rows);
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.failure = error;
      this.phase = 'failed';
    }
  }

  async loadMore(): Promise<void> {
    const oldest = this.rows.at(-1);
    if (this.#isLoadingMore || this.#isComplete || oldest === undefined || Date.now() - this.#failedAt < retryDelayMs)
      return;
    this.#isLoadingMore = true;
    const turn = this.#turn;
    try {
      const rows = await this.#source.read(oldest);
      if (turn !== this.#turn) return;
      this.rows = appendOlder(this.rows, rows);
      this.#isComplete = rows.length < this.#source.step;
    } catch (error) {
      this.#failedAt = Date.now();
      toasts.showError(error);
    } finally {
      this.#isLoadingMore = false;
    }
  }

  /** Reloads the newest rows while the list has observers; existing rows are updated in place. */
  refresh(): Promise<void> {
    return this.#observers === 0 ? Promise.resolve() : this.#renewOnce();
  }

  /** Updates a row if it is in the list. */
  update(row: Row): void {
    this.rows = this.rows.map((each) => (each.id === row.id ? row : each));
  }

  remove(id: string): void {
    this.rows = this.rows.filter((row) => row.id !== id);
  }

  /** While paused, new rows stay pending, so that nothing moves under the pointer. */
  setPaused(paused: boolean): void {
    this.#isPaused = paused;
    if (!paused) this.showPending();
  }

  /** Shows the pending rows. */
  showPending(): void {
    if (this.pending.length === 0) return;
    if (this.#hasGap) this.#replaceRows(this.pending);
    else this.rows = [...this.pending, ...this.rows];
    this.pending = [];
  }

  #replaceRows(rows: readonly Row[]): void {
    this.rows = rows;
    this.pending = [];
    this.#hasGap = false;
    this.#isComplete = rows.length < this.#source.step;
  }

  async #renew(): Promise<void> {
    this.changeCount += 1;
    // A running load may return rows that are older than this event and must not replace newer ones.
    await this.#loading;
    if (this.phase === 'failed') return this.load();
    if (this.phase === 'loading') return;
    const turn = this.#turn;
    try {
      const rows = await this.#source.read();
      if (turn === this.#turn) this.#renewWith(rows);
    } catch (error) {
      // The visible rows stay; the frame shows a banner while the host does not respond.
      this.failure = error;
    }
  }

  #renewWith(newest: readonly Row[]): void {
    const { rows, added, gap } = mergeNewest(this.rows, newest, this.#source.step, this.#source.getTime);
    this.#hasGap = gap;
    this.rows = rows;
    this.pending = added;
    if (!this.#isPaused) this.showPending();
  }
}
