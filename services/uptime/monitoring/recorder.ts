import type { Kysely } from 'kysely';
import { LeaseLostError } from '../../contracts/leases.ts';
import type { Context } from '../../contracts/service.ts';
import type { HeartbeatStore } from '../store/heartbeats.ts';
import { type StoredHeartbeat } from '../store/heartbeats.ts';
import type { Tables } from '../store/tables.ts';
import { toStoredState, type RuntimeMonitor } from './monitor-state.ts';
import { SingleFlight } from '../../kit/single-flight.ts';

const flushMs = 1000;
const maxBatchSize = 1000;
const retryMs = 2000;
/**
 * Maximum number of queued heartbeats while the database is not writable, such as on a full disk; the oldest are
 * dropped.
 */
const maxQueuedHeartbeats = 200_000;

/** Write that belongs to the transaction of its heartbeats; the returned callback is called after the commit. */
export type Effect = (transaction: Kysely<Tables>) => Promise<(() => void) | undefined>;

/**
 * Writes heartbeats in batches of one second. A state change is written immediately, in one transaction with its
 * events.
 */
export class Recorder {
  readonly #context: Pick<Context, 'clock' | 'log'>;
  readonly #store: HeartbeatStore;
  #heartbeats: StoredHeartbeat[] = [];
  #changedMonitors = new Set<RuntimeMonitor>();
  #effects: Effect[] = [];
  #timer: Disposable | undefined;
  readonly #flushing = new SingleFlight(() => this.#write());
  #failed = false;
  #isStopping = false;
  /** Commits with the lease of the checks; undefined while another host has it, and nothing is recorded. */
  #commit: Context['commit'] | undefined;

  constructor(context: Pick<Context, 'clock' | 'log'>, store: HeartbeatStore) {
    this.#context = context;
    this.#store = store;
  }

  /** Returns true after a failed write until the retry. */
  get hasFailed(): boolean {
    return this.#failed;
  }

  /** Begins to record, with a group commit that is refused when another host checks the monitors. */
  start(commit: Context['commit']): void {
    this.#commit = commit;
    this.#store.clearMessageIds();
  }

  /** Writes everything that is queued, unless another host has the lease, and records no more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#timer?.[Symbol.dispose]();
    await this.#flushing.settled();
    if (!this.#isEmpty) await this.#flushQueue();
    this.#discard();
    this.#commit = undefined;
    this.#isStopping = false;
    this.#failed = false;
  }

  add(
    monitor: RuntimeMonitor,
    heartbeat: StoredHeartbeat,
    options: { readonly changed: boolean; readonly effects: readonly Effect[] },
  ): void {
    if (this.#commit === undefined) return;
    this.#heartbeats.push(heartbeat);
    if (this.#heartbeats.length > maxQueuedHeartbeats)
      this.#heartbeats.splice(0, this.#heartbeats.length - maxQueuedHeartbeats);
    if (options.changed) this.#changedMonitors.add(monitor);
    this.#effects.push(...options.effects);
    if (options.changed || options.effects.length > 0 || this.#heartbeats.length >= maxBatchSize)
      this.#scheduleFlush(0);
    else this.#scheduleFlush(flushMs);
  }

  /** Saves the state of a monitor and executes further writes. */
  saveState(monitor: RuntimeMonitor, ...effects: readonly Effect[]): void {
    if (this.#commit === undefined) return;
    this.#changedMonitors.add(monitor);
    this.execute(...effects);
  }

  /** Executes writes in the transaction of the heartbeats that were added before. */
  execute(...effects: readonly Effect[]): void {
    if (this.#commit === undefined) return;
    this.#effects.push(...effects);
    this.#scheduleFlush(0);
  }

  /** Writes everything that is queued; rejects when that failed. */
  async flush(): Promise<void> {
    await this.#flushing.settled();
    if (!this.#isEmpty) await this.#flushQueue();
    if (this.#failed) throw new Error('heartbeats could not be written');
  }

  get #isEmpty(): boolean {
    return this.#heartbeats.length === 0 && this.#changedMonitors.size === 0 && this.#effects.length === 0;
  }

  #scheduleFlush(ms: number): void {
    if (this.#isStopping || this.#failed) return;
    if (ms === 0) {
      this.#timer?.[Symbol.dispose]();
      this.#timer = undefined;
      void this.#flushQueue();
    } else this.#timer ??= this.#context.clock.after(ms, () => void this.#flushQueue());
  }

  #discard(): void {
    this.#heartbeats = [];
    this.#changedMonitors = new Set();
    this.#effects = [];
  }

  async #flushQueue(): Promise<void> {
    await this.#flushing.run();
  }

  async #write(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    // Combines calls of the same turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    while (!this.#isEmpty) {
      const commit = this.#commit;
      if (commit === undefined) return this.#discard();
      const beats = this.#heartbeats;
      const changed = this.#changedMonitors;
      const effects = this.#effects;
      this.#heartbeats = [];
      this.#changedMonitors = new Set();
      this.#effects = [];
      try {
        const rows = [...changed].map((monitor) => ({
          monitor_id: monitor.id,
          body: JSON.stringify(toStoredState(monitor)).replaceAll('\\u0000', '\\ufffd'),
        }));
        const callbacks = await commit(async (transaction: Kysely<Tables>) => {
          if (beats.length > 0) await this.#store.add(transaction, beats);
          for (let offset = 0; offset < rows.length; offset += 500) {
            await transaction
              .insertInto('standings')
              .values(rows.slice(offset, offset + 500))
              .onConflict((conflict) =>
                conflict.column('monitor_id').doUpdateSet((set) => ({ body: set.ref('excluded.body') })),
              )
              .execute();
          }
          const after: (() => void)[] = [];
          for (const effect of effects) after.push((await effect(transaction)) ?? (() => undefined));
          return after;
        });
        for (const callback of callbacks) callback();
        await this.#store.cacheMessageIds(beats.map(({ msg }) => msg));
        this.#failed = false;
      } catch (error) {
        if (error instanceof LeaseLostError) {
          // The new owner checks the monitors itself.
          this.#failed = true;
          return this.#discard();
        }
        this.#heartbeats = [...beats, ...this.#heartbeats];
        for (const monitor of changed) this.#changedMonitors.add(monitor);
        this.#effects = [...effects, ...this.#effects];
        if (!this.#failed) this.#context.log.error('heartbeats could not be written, retrying', { error });
        this.#failed = true;
        if (!this.#isStopping) {
          this.#timer = this.#context.clock.after(retryMs, () => {
            this.#failed = false;
            void this.#flushQueue();
          });
        }
        return;
      }
    }
  }
}
