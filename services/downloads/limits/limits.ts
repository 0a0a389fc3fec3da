import { downloadLimitsChanged, type DownloadLimits, type CurrentLimits } from '../../contracts/downloads/limits.ts';
import { eventsMissed } from '../../contracts/bus.ts';
import { createWallClock } from '../../contracts/quiet-hours.ts';
import type { Context } from '../../contracts/service.ts';
import { isOpenAt, getAllowedState } from './allowed-hours.ts';
import { readLimits, writeLimits } from './store.ts';

/** Longest time without a check: the system clock may be set, and a laptop may sleep. */
const checkIntervalMs = 60_000;

/** Handlers that apply the limits. */
export interface LimitHandlers {
  /** Sets the speed of all downloads together in bytes per second; null removes the limit. */
  speed(limit: number | null): Promise<void>;
  /** Called when the allowed hours begin. */
  opened(): void;
  /** Called when the allowed hours end. */
  closed(): Promise<void>;
}

/** Speed limit and allowed hours of downloads. Stored with the queue, so that they persist over a restart. */
export class Limits implements Disposable {
  readonly #context: Context;
  readonly #wall = createWallClock();
  readonly #resources = new DisposableStack();
  #limits: DownloadLimits = { speed: null, hours: [] };
  #running = true;
  /** Undefined before the start. */
  #handlers: LimitHandlers | undefined;
  #timer: Disposable | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Reads and applies the stored limits. Must resolve before any download starts. */
  async start(handlers: LimitHandlers): Promise<void> {
    this.#handlers = handlers;
    const { clock, bus, log } = this.#context;
    await this.#read();
    this.#running = this.open;
    this.#resources.use(clock.every(checkIntervalMs, () => this.#check()));
    // Another host on the same database may have changed them.
    const reload = async (): Promise<void> => {
      await this.#read();
      this.#check();
    };
    const tryReload = (): void => {
      reload().catch((error: unknown) => log.error('download limits not readable', { error }));
    };
    this.#resources.use(
      bus.subscribe(downloadLimitsChanged, (next) => {
        if (JSON.stringify(next.limits) !== JSON.stringify(this.#limits)) tryReload();
      }),
    );
    this.#resources.use(bus.subscribe(eventsMissed, tryReload));
    this.#scheduleNext();
  }

  get now(): CurrentLimits {
    return { limits: this.#limits, ...getAllowedState(this.#limits.hours, this.#wall, this.#context.clock.now()) };
  }

  /** Returns whether downloads may run now. */
  get open(): boolean {
    return isOpenAt(this.#limits.hours, this.#wall, this.#context.clock.now());
  }

  async set(limits: DownloadLimits): Promise<CurrentLimits> {
    const { commit, bus } = this.#context;
    await commit(async (db) => await writeLimits(db, limits));
    await this.#apply(limits);
    this.#check();
    const { now } = this;
    bus.publish(downloadLimitsChanged, now);
    return now;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#resources.dispose();
  }

  async #read(): Promise<void> {
    await this.#apply(await readLimits(this.#context.db));
  }

  async #apply(limits: DownloadLimits): Promise<void> {
    const before = this.#limits.speed;
    this.#limits = limits;
    if (limits.speed !== before) await this.#handlers?.speed(limits.speed);
  }

  /** Allows or stops downloads when the allowed hours begin or end, and schedules the next check. */
  #check(): void {
    const { open } = this;
    if (open !== this.#running) {
      this.#running = open;
      this.#context.bus.publish(downloadLimitsChanged, this.now);
      this.#context.log.info(open ? 'allowed download hours began' : 'allowed download hours ended');
      if (open) this.#handlers?.opened();
      else {
        this.#handlers?.closed().catch((error: unknown) => {
          this.#context.log.error('downloads not stopped at the end of the allowed hours', { error });
        });
      }
    }
    this.#scheduleNext();
  }

  #scheduleNext(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const { changesAt } = this.now;
    const wait = changesAt === null ? Infinity : changesAt - this.#context.clock.now();
    if (wait <= checkIntervalMs) this.#timer = this.#context.clock.after(Math.max(0, wait), () => this.#check());
  }
}
