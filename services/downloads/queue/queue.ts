import { runInEnglish } from '../../kit/language.ts';
import type { Context } from '../../contracts/service.ts';
import { isRunning, type Item } from '../domain/item.ts';
import { getMachineId } from '../../kit/platform/machine-id.ts';
import { findProcessIdentity } from '../../kit/platform/process-identity.ts';
import type { EngineMonitor } from '../engine/engine-monitor.ts';
import type { Folders } from '../files/folders.ts';
import { findBoundToHours } from '../limits/store.ts';
import type { LiveUpdates } from '../reporting/live-updates.ts';
import { recover, removeLeftovers } from './recovery.ts';
import type { ActiveRuns } from '../run/active-runs.ts';
import type { Settings } from '../settings.ts';
import { isPaused } from '../store/pause.ts';
import { DownloadStore, type RunOwner } from '../store/store.ts';
import type { DownloadRunner } from '../run/download-runner.ts';
import { CoalescedRun } from '../../kit/coalesced-run.ts';

/** A host on another computer counts as dead when it has not renewed its lease for this long. */
const leaseMs = 60_000;
const renewIntervalMs = 20_000;
/** Interval of the check for rows of a dead host, and for a database that was full. */
const checkIntervalMs = 30_000;
/** Interval of both while other hosts share the tables. */
const sharedIntervalMs = 2000;

interface Dependencies {
  readonly context: Context;
  readonly settings: Pick<Settings, 'mode' | 'maxConcurrent'>;
  readonly folders: Folders;
  readonly live: LiveUpdates;
  readonly engine: EngineMonitor;
  readonly runs: ActiveRuns;
  readonly runner: DownloadRunner;
  /** Returns whether downloads may run at this hour. */
  readonly isOpen: () => boolean;
}

/** Runs the waiting downloads in order, as many in parallel as the settings allow. */
export class Queue implements AsyncDisposable {
  readonly #deps: Dependencies;
  readonly #resources = new DisposableStack();
  #holder: RunOwner = { machine: getMachineId(), process: '' };
  readonly #filling = new CoalescedRun(() => this.#fill());
  #closed = false;
  #holds = 0;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Maximum number of parallel downloads according to the current settings. */
  get maxRunning(): number {
    const { mode, maxConcurrent } = this.#deps.settings;
    return mode === 'sequential' ? 1 : maxConcurrent;
  }

  /** Number of downloads of this process, including post-processing. */
  get active(): number {
    return this.#deps.runs.count('download');
  }

  /** Identity of this process in the rows that it works on. */
  get holder(): RunOwner {
    return this.#holder;
  }

  get leaseUntil(): number {
    return this.#deps.context.clock.now() + leaseMs;
  }

  async start(): Promise<void> {
    const { context } = this.#deps;
    this.#holder = {
      machine: getMachineId(),
      process: (await findProcessIdentity(process.pid)) ?? String(process.pid),
      host: context.leases.hostId,
    };
    await recover(this.#deps, this.#holder, true);
    await removeLeftovers(this.#deps);
    const logErrors = (work: () => Promise<void>) => (): void => {
      work().catch((error: unknown) => context.log.error('queue maintenance failed', { error }));
    };
    this.#resources.use(
      context.clock.every(
        context.singleHost ? renewIntervalMs : sharedIntervalMs,
        logErrors(async () => {
          await this.#renew();
        }),
      ),
    );
    this.#resources.use(
      context.clock.every(
        context.singleHost ? checkIntervalMs : sharedIntervalMs,
        logErrors(async () => {
          await recover(this.#deps, this.#holder, false);
          this.wake();
        }),
      ),
    );
    this.wake();
  }

  /** Starts no further download until the result is disposed. */
  hold(): Disposable {
    this.#holds += 1;
    return {
      [Symbol.dispose]: () => {
        this.#holds -= 1;
        this.wake();
      },
    };
  }

  /** Starts the downloads that may start now. */
  wake(): void {
    this.#filling.request();
  }

  /**
   * Stops a paused download of this process and keeps its partial files. A live stream cannot be continued: its
   * recording ends and is kept. Resolves when nothing of it runs.
   */
  async stopRun(uid: string): Promise<void> {
    const { runs, runner } = this.#deps;
    if (runner.endRecording(uid)) await runs.ended(uid);
    else await runs.stop(uid);
  }

  /** Stops downloads that are bound to the allowed hours; they wait at their positions with their partial files. */
  async stopOutsideHours(): Promise<void> {
    const uids = await findBoundToHours(this.#deps.context.db, this.#stoppable());
    await Promise.all(uids.map(async (uid) => await this.stopRun(uid)));
  }

  /** Stops running downloads, which continue immediately under changed limits. */
  async restart(): Promise<void> {
    await Promise.all(this.#stoppable().map(async (uid) => await this.stopRun(uid)));
  }

  /** Stops a cancelled download of this process and removes its partial files. */
  async cancel(uid: string): Promise<void> {
    await this.#deps.runs.stop(uid);
    await this.#deps.folders.remove(uid);
  }

  /** Stops everything. Running downloads return to their positions in the queue and keep their partial files. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#resources.dispose();
    await this.#filling[Symbol.asyncDispose]();
    await this.#deps.runs.close();
  }

  async #fill(): Promise<void> {
    try {
      while (this.active < this.maxRunning && !this.#closed && this.#holds === 0) {
        if (this.#deps.engine.missing !== undefined) return;
        const item = await this.#deps.context.commit(async (db) =>
          (await isPaused(db))
            ? undefined
            : await new DownloadStore(db).claim(this.#holder, this.leaseUntil, {
                anyway: !this.#deps.isOpen(),
                now: this.#deps.context.clock.now(),
              }),
        );
        if (item === undefined) return;
        this.#launch(item);
      }
    } catch (error) {
      this.#deps.context.log.error('queue not readable', { error });
    }
  }

  /** Returns the uids of running downloads that can be continued later. */
  #stoppable(): readonly string[] {
    return this.#deps.runs.uids('download').filter((uid) => !this.#deps.runner.isRecording(uid));
  }

  #launch(item: Item): void {
    const { runs, runner } = this.#deps;
    // A request may have woken the queue, and failures are stored.
    runInEnglish(() => runs.start(item.uid, 'download', async (signal) => await runner.run(item, signal)))
      .then((startsAt) => startsAt !== undefined && this.#wakeAt(startsAt))
      .catch((error: unknown) => this.#deps.context.log.error('download result not stored', { uid: item.uid, error }))
      .finally(() => this.wake());
  }

  /** Wakes the queue before the next periodic check, if this process scheduled the time. */
  #wakeAt(time: number): void {
    const wait = time - this.#deps.context.clock.now();
    if (!this.#closed && wait < checkIntervalMs)
      this.#resources.use(this.#deps.context.clock.after(wait, () => this.wake()));
  }

  /** Returns false for a row that another host has taken, because this one did not respond. */
  #isOwn(owner: RunOwner | undefined): boolean {
    return owner?.host === undefined || owner.host === this.#holder.host;
  }

  /** Renews the leases of this process, and stops downloads that another host paused or removed. */
  async #renew(): Promise<void> {
    const { context, runs } = this.#deps;
    const uids = runs.uids();
    if (uids.length === 0) return;
    const toStop = await context.commit(async (db) => {
      const store = new DownloadStore(db);
      const active = new Set(
        (await store.running())
          .filter(({ item, owner }) => isRunning(item.state) && this.#isOwn(owner))
          .map(({ item }) => item.uid),
      );
      // Downloads added to a paused queue are probed all the same.
      const paused = new Set((await isPaused(db)) ? runs.uids('download') : []);
      await store.renew(
        uids.filter((uid) => active.has(uid)),
        this.leaseUntil,
      );
      return uids.filter((uid) => !active.has(uid) || paused.has(uid));
    });
    await Promise.all(toStop.map(async (uid) => await this.stopRun(uid)));
  }
}
