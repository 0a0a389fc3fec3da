import { hostname } from 'node:os';
import type { Context } from '../../contracts/service.ts';
import { isRunning, type Item } from '../domain/item.ts';
import { findProcessIdentity } from '../../kit/process-group.ts';
import type { EngineWatch } from '../engine/engine-monitor.ts';
import type { Folders } from '../run/folders.ts';
import { keepingHours } from '../limits/store.ts';
import type { Live } from './live-updates.ts';
import { recover, tidy } from './recovery.ts';
import type { Runs } from '../run/active-runs.ts';
import type { Settings } from '../settings.ts';
import { isPaused } from '../store/pause.ts';
import { DownloadStore, type Holder } from '../store/store.ts';
import type { Work } from '../run/download-runner.ts';

/** A host of another machine that has not renewed its lease for this long is taken for dead. */
const leaseMs = 60_000;
const renewEveryMs = 20_000;
/** Rows that another host has left, and a database that was full a while ago. */
const lookEveryMs = 30_000;

interface Parts {
  readonly context: Context;
  readonly settings: Pick<Settings, 'mode' | 'maxConcurrent'>;
  readonly folders: Folders;
  readonly live: Live;
  readonly engine: EngineWatch;
  readonly runs: Runs;
  readonly work: Work;
  /** Whether downloads may run at this hour. */
  readonly isOpen: () => boolean;
}

/** Works the waiting downloads in their order, as many at once as the settings allow. */
export class Queue implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #open = new DisposableStack();
  #holder: Holder = { machine: hostname(), process: '' };
  #filling: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #held = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** How many downloads run at once, by the settings as they are now. */
  get bound(): number {
    const { mode, maxConcurrent } = this.#parts.settings;
    return mode === 'sequential' ? 1 : maxConcurrent;
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
    this.#holder = { machine: hostname(), process: (await findProcessIdentity(process.pid)) ?? String(process.pid) };
    await recover(this.#parts, this.#holder, true);
    await tidy(this.#parts);
    const guarded = (work: () => Promise<void>) => (): void => {
      work().catch((error: unknown) => context.log.error('the queue could not be looked after', { error }));
    };
    this.#open.use(
      context.clock.every(
        renewEveryMs,
        guarded(async () => {
          await this.#renew();
        }),
      ),
    );
    this.#open.use(
      context.clock.every(
        lookEveryMs,
        guarded(async () => {
          await recover(this.#parts, this.#holder, false);
          this.wake();
        }),
      ),
    );
    this.wake();
  }

  /** Starts no further download until it is disposed. */
  hold(): Disposable {
    this.#held += 1;
    return {
      [Symbol.dispose]: () => {
        this.#held -= 1;
        this.wake();
      },
    };
  }

  /** Starts what may start now. */
  wake(): void {
    this.#again = true;
    this.#filling ??= this.#fill()
      .catch((error: unknown) => this.#parts.context.log.error('the queue could not be read', { error }))
      .finally(() => {
        this.#filling = undefined;
        // Asked for after the last look, when this was over but for its last steps.
        if (this.#again && !this.#closed) this.wake();
      });
  }

  /**
   * Stops a download of this process that was paused; its parts stay. A live stream cannot be continued: its recording
   * ends, and is kept. Resolves once nothing of it runs.
   */
  async rest(uid: string): Promise<void> {
    const { runs, work } = this.#parts;
    if (work.endRecording(uid)) await runs.ended(uid);
    else await runs.stop(uid);
  }

  /** Stops downloads that keep to the hours, when these are over; they wait at their places with their parts. */
  async close(): Promise<void> {
    const uids = await keepingHours(this.#parts.context.db, this.#stoppable());
    await Promise.all(uids.map(async (uid) => await this.rest(uid)));
  }

  /** Stops what runs, to go on with it at once under other terms. */
  async restart(): Promise<void> {
    await Promise.all(this.#stoppable().map(async (uid) => await this.rest(uid)));
  }

  /** Stops a download of this process that is no longer wanted, and removes its parts. */
  async cancel(uid: string): Promise<void> {
    await this.#parts.runs.stop(uid);
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
      while (this.active < this.bound && !this.#closed && this.#held === 0) {
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

  /** What can go on later from where it was. */
  #stoppable(): readonly string[] {
    return this.#parts.runs.uids('download').filter((uid) => !this.#parts.work.isRecording(uid));
  }

  #launch(item: Item): void {
    const { runs, work } = this.#parts;
    runs
      .start(item.uid, 'download', async (signal) => await work.run(item, signal))
      .then((again) => again !== undefined && this.#wakeAt(again))
      .catch((error: unknown) => this.#parts.context.log.error('download was not settled', { uid: item.uid, error }))
      .finally(() => this.wake());
  }

  /** Sooner than the next look around, where it is this process that knows. */
  #wakeAt(time: number): void {
    const wait = time - this.#parts.context.clock.now();
    if (!this.#closed && wait < lookEveryMs) this.#open.use(this.#parts.context.clock.after(wait, () => this.wake()));
  }

  /** Keeps what this process works on, and stops what another host has paused or removed. */
  async #renew(): Promise<void> {
    const { context, runs } = this.#parts;
    const uids = runs.uids();
    if (uids.length === 0) return;
    const unwanted = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      await store.renew(uids, this.leaseUntil);
      const wanted = new Set(
        (await store.running()).filter(({ item }) => isRunning(item.state)).map(({ item }) => item.uid),
      );
      // What is added to a paused queue is looked at all the same.
      const held = new Set((await isPaused(db)) ? runs.uids('download') : []);
      return uids.filter((uid) => !wanted.has(uid) || held.has(uid));
    });
    await Promise.all(unwanted.map(async (uid) => await this.rest(uid)));
  }
}
