import type { Kysely } from 'kysely';
import type { Context } from '../../contracts/service.ts';
import type { BeatStore } from '../store/heartbeats.ts';
import { type StoredBeat } from '../store/heartbeats.ts';
import type { Tables } from '../store/tables.ts';
import { rememberedOf, type Watched } from './monitor-state.ts';

const flushMs = 1000;
const largestFlush = 1000;
const retryMs = 2000;
/**
 * Maximum number of queued heartbeats while the database is not writable, such as on a full disk; the oldest are
 * dropped.
 */
const mostWaiting = 200_000;

/** Write that belongs to the transaction of its heartbeats; the returned callback is called after the commit. */
export type Effect = (transaction: Kysely<Tables>) => Promise<(() => void) | undefined>;

/**
 * Writes heartbeats in batches of one second. A state change is written immediately, in one transaction with its
 * events.
 */
export class Recorder implements AsyncDisposable {
  readonly #context: Pick<Context, 'commit' | 'clock' | 'log'>;
  readonly #store: BeatStore;
  #beats: StoredBeat[] = [];
  #changed = new Set<Watched>();
  #effects: Effect[] = [];
  #timer: Disposable | undefined;
  #flushing: Promise<void> | undefined;
  #failed = false;
  #closed = false;

  constructor(context: Pick<Context, 'commit' | 'clock' | 'log'>, store: BeatStore) {
    this.#context = context;
    this.#store = store;
  }

  /** Returns true after a failed write until the retry. */
  get isBehind(): boolean {
    return this.#failed;
  }

  add(
    watched: Watched,
    beat: StoredBeat,
    options: { readonly changed: boolean; readonly effects: readonly Effect[] },
  ): void {
    this.#beats.push(beat);
    if (this.#beats.length > mostWaiting) this.#beats.splice(0, this.#beats.length - mostWaiting);
    if (options.changed) this.#changed.add(watched);
    this.#effects.push(...options.effects);
    if (options.changed || options.effects.length > 0 || this.#beats.length >= largestFlush) this.#soon(0);
    else this.#soon(flushMs);
  }

  /** Saves the state of a monitor and executes further writes. */
  note(watched: Watched, ...effects: readonly Effect[]): void {
    this.#changed.add(watched);
    this.#effects.push(...effects);
    this.#soon(0);
  }

  /** Writes everything that is queued; rejects when that failed. */
  async settled(): Promise<void> {
    await this.#flushing;
    if (this.#isEmpty) return;
    await this.#flush();
    if (this.#failed) throw new Error('the beats could not be written');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
    await this.#flushing;
    if (!this.#isEmpty) await this.#flush();
  }

  get #isEmpty(): boolean {
    return this.#beats.length === 0 && this.#changed.size === 0 && this.#effects.length === 0;
  }

  #soon(ms: number): void {
    if (this.#closed || this.#failed) return;
    if (ms === 0) {
      this.#timer?.[Symbol.dispose]();
      this.#timer = undefined;
      void this.#flush();
    } else this.#timer ??= this.#context.clock.after(ms, () => void this.#flush());
  }

  async #flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => (this.#flushing = undefined));
    await this.#flushing;
  }

  async #write(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    // Combines calls of the same turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    while (!this.#isEmpty) {
      const beats = this.#beats;
      const changed = this.#changed;
      const effects = this.#effects;
      this.#beats = [];
      this.#changed = new Set();
      this.#effects = [];
      try {
        const rows = [...changed].map((watched) => ({
          monitor_id: watched.id,
          body: JSON.stringify(rememberedOf(watched)).replaceAll('\\u0000', '\\ufffd'),
        }));
        const done = await this.#context.commit(async (transaction: Kysely<Tables>) => {
          if (beats.length > 0) await this.#store.add(transaction, beats);
          for (let at = 0; at < rows.length; at += 500) {
            await transaction
              .insertInto('standings')
              .values(rows.slice(at, at + 500))
              .onConflict((conflict) =>
                conflict.column('monitor_id').doUpdateSet((set) => ({ body: set.ref('excluded.body') })),
              )
              .execute();
          }
          const after: (() => void)[] = [];
          for (const effect of effects) after.push((await effect(transaction)) ?? (() => undefined));
          return after;
        });
        for (const call of done) call();
        await this.#store.learn(beats.map(({ msg }) => msg));
        this.#failed = false;
      } catch (error) {
        this.#beats = [...beats, ...this.#beats];
        for (const watched of changed) this.#changed.add(watched);
        this.#effects = [...effects, ...this.#effects];
        if (!this.#failed)
          this.#context.log.error('beats could not be written; they are kept and tried again', { error });
        this.#failed = true;
        if (!this.#closed) {
          this.#timer = this.#context.clock.after(retryMs, () => {
            this.#failed = false;
            void this.#flush();
          });
        }
        return;
      }
    }
  }
}
