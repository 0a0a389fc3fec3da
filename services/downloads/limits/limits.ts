import { downloadLimitsChanged, type DownloadLimits, type CurrentLimits } from '../../contracts/downloads/limits.ts';
import { createWallClock } from '../../contracts/quiet-hours.ts';
import type { Context } from '../../contracts/service.ts';
import { isOpenAt, openingAt } from './allowed-hours.ts';
import { readLimits, writeLimits } from './store.ts';

/** The clock of the machine may be set, and a laptop sleeps: never believe one timer for longer than this. */
const lookEveryMs = 60_000;

/** What the limits change. */
export interface Limited {
  /** Bytes a second for all downloads together from now on; null: as fast as it goes. */
  speed(limit: number | null): Promise<void>;
  /** The hours have begun. */
  opened(): void;
  /** The hours are over. */
  closed(): Promise<void>;
}

/** How fast downloads may be and at which hours they run. Stored with the queue, so that a restart changes nothing. */
export class Limits implements Disposable {
  readonly #context: Context;
  readonly #limited: Limited;
  readonly #wall = createWallClock();
  readonly #open = new DisposableStack();
  #limits: DownloadLimits = { speed: null, hours: [] };
  #running = true;
  #turn: Disposable | undefined;

  constructor(context: Context, limited: Limited) {
    this.#context = context;
    this.#limited = limited;
  }

  /** Reads what is stored; nothing may start before. */
  async start(): Promise<void> {
    const { clock, bus, log } = this.#context;
    await this.#read();
    this.#running = this.open;
    this.#open.use(clock.every(lookEveryMs, () => this.#look()));
    // Another host on the same database may have set them.
    const changed = async (): Promise<void> => {
      await this.#read();
      this.#look();
    };
    this.#open.use(
      bus.subscribe(downloadLimitsChanged, (next) => {
        if (JSON.stringify(next.limits) === JSON.stringify(this.#limits)) return;
        changed().catch((error: unknown) => log.error('the limits could not be read', { error }));
      }),
    );
    this.#wait();
  }

  get now(): CurrentLimits {
    return { limits: this.#limits, ...openingAt(this.#limits.hours, this.#wall, this.#context.clock.now()) };
  }

  /** Downloads may run now. */
  get open(): boolean {
    return isOpenAt(this.#limits.hours, this.#wall, this.#context.clock.now());
  }

  async set(limits: DownloadLimits): Promise<CurrentLimits> {
    const { commit, bus } = this.#context;
    await commit(async (db) => await writeLimits(db, limits));
    await this.#take(limits);
    this.#look();
    const { now } = this;
    bus.publish(downloadLimitsChanged, now);
    return now;
  }

  [Symbol.dispose](): void {
    this.#turn?.[Symbol.dispose]();
    this.#open.dispose();
  }

  async #read(): Promise<void> {
    await this.#take(await readLimits(this.#context.db));
  }

  async #take(limits: DownloadLimits): Promise<void> {
    const before = this.#limits.speed;
    this.#limits = limits;
    if (limits.speed !== before) await this.#limited.speed(limits.speed);
  }

  /** Opens or closes when it is time, and waits for the next time. */
  #look(): void {
    const { open } = this;
    if (open !== this.#running) {
      this.#running = open;
      this.#context.bus.publish(downloadLimitsChanged, this.now);
      this.#context.log.info(open ? 'the hours for downloads have begun' : 'the hours for downloads are over');
      if (open) this.#limited.opened();
      else {
        this.#limited.closed().catch((error: unknown) => {
          this.#context.log.error('downloads could not be stopped at the end of their hours', { error });
        });
      }
    }
    this.#wait();
  }

  #wait(): void {
    this.#turn?.[Symbol.dispose]();
    this.#turn = undefined;
    const { changesAt } = this.now;
    const wait = changesAt === null ? Infinity : changesAt - this.#context.clock.now();
    if (wait <= lookEveryMs) this.#turn = this.#context.clock.after(Math.max(0, wait), () => this.#look());
  }
}
