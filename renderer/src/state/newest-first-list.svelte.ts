import type { Topic } from '../../../services/contracts/bus.ts';
import { sentence } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { continued, renewed } from './newest-first-rules.ts';
import { oneAtATime } from './run-exclusive.ts';
import { toasts } from './toasts.svelte.ts';

/** Where a list of the newest comes from. */
interface Source<Row> {
  /** Tells that rows came or changed. */
  readonly topic: Topic<unknown>;
  /** Rows that one reading brings at most. */
  readonly step: number;
  /** When a row came, in ms since the epoch: rows are in this order. */
  readonly time: (row: Row) => number;
  /** The newest rows, or those that come behind one. @throws Problem */
  readonly read: (behind?: Row) => Promise<readonly Row[]>;
}

/** After a failure the end of the list waits so long, in ms, before it asks for more again. */
const restMs = 5000;

/** What happened, newest first: read in pages, and kept up to date where it stands while somebody watches. */
export class Newest<Row extends { readonly id: string }> {
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  rows = $state.raw<readonly Row[]>([]);
  /** Came while the list was held. */
  waiting = $state.raw<readonly Row[]>([]);
  /** Grows with all that happens, for what else has to be read anew. */
  turns = $state(0);
  readonly #source: Source<Row>;
  #watched = 0;
  #holding = false;
  /** What waits does not reach down to the rows: more came than one reading brings. */
  #gap = false;
  #ended = false;
  #readingMore = false;
  #failedAt = -Infinity;
  #turn = 0;
  #loading: Promise<void> | undefined;
  readonly #soon = oneAtATime(() => this.#renew());

  constructor(source: Source<Row>) {
    this.#source = source;
    live.on(source.topic, () => void this.refresh());
    live.onReset(() => void this.refresh());
  }

  /** Follows what happens until the returned function is called. */
  watch(): () => void {
    this.#watched += 1;
    return () => {
      this.#watched -= 1;
      if (this.#watched === 0) this.hold(false);
    };
  }

  /** Reads from the top, as after a change of what is asked for; a later call overtakes an earlier one. */
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
      this.#begin(rows);
      this.phase = 'ready';
    } catch (error) {
      if (turn !== this.#turn) return;
      this.trouble = sentence(error);
      this.phase = 'failed';
    }
  }

  async loadMore(): Promise<void> {
    const last = this.rows.at(-1);
    if (this.#readingMore || this.#ended || last === undefined || Date.now() - this.#failedAt < restMs) return;
    this.#readingMore = true;
    const turn = this.#turn;
    try {
      const rows = await this.#source.read(last);
      if (turn !== this.#turn) return;
      this.rows = continued(this.rows, rows);
      this.#ended = rows.length < this.#source.step;
    } catch (error) {
      this.#failedAt = Date.now();
      toasts.sayWhy(error);
    } finally {
      this.#readingMore = false;
    }
  }

  /** Reads the newest rows again, if anybody watches: those that are there change where they stand. */
  refresh(): Promise<void> {
    return this.#watched === 0 ? Promise.resolve() : this.#soon();
  }

  /** Shows a row as it is now, if it is among them. */
  put(row: Row): void {
    this.rows = this.rows.map((each) => (each.id === row.id ? row : each));
  }

  take(id: string): void {
    this.rows = this.rows.filter((row) => row.id !== id);
  }

  /** While held, new rows wait: nothing moves under the pointer. */
  hold(holding: boolean): void {
    this.#holding = holding;
    if (!holding) this.release();
  }

  /** Lets the waiting rows in. */
  release(): void {
    if (this.waiting.length === 0) return;
    if (this.#gap) this.#begin(this.waiting);
    else this.rows = [...this.waiting, ...this.rows];
    this.waiting = [];
  }

  #begin(rows: readonly Row[]): void {
    this.rows = rows;
    this.waiting = [];
    this.#gap = false;
    this.#ended = rows.length < this.#source.step;
  }

  async #renew(): Promise<void> {
    this.turns += 1;
    // What is on its way may have been read before this happened, and must not be shown after it.
    await this.#loading;
    if (this.phase === 'failed') return this.load();
    if (this.phase === 'loading') return;
    const turn = this.#turn;
    try {
      const rows = await this.#source.read();
      if (turn === this.#turn) this.#renewWith(rows);
    } catch (error) {
      // What is shown stays; the banner of the frame says when the host is away.
      this.trouble = sentence(error);
    }
  }

  #renewWith(newest: readonly Row[]): void {
    const { rows, added, gap } = renewed(this.rows, newest, this.#source.step, this.#source.time);
    this.#gap = gap;
    this.rows = rows;
    this.waiting = added;
    if (!this.#holding) this.release();
  }
}
