import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from '../contracts/service.ts';
import type { Settings } from './settings.ts';
import type { ItemStore, ItemPlace } from './store/items.ts';
import { SingleFlight } from '../kit/single-flight.ts';

const hourMs = 3_600_000;
const dayMs = 24 * 3600 * 1000;
const batchSize = 500;
/** Minimum number of days for which keys of offers are kept, independent of their rows. */
const minKeyDays = 30;

/** Deletes old rows; runs one pass at a time. */
export class Retention {
  readonly #context: Pick<Context, 'commit' | 'clock' | 'log'>;
  readonly #settings: Readonly<Pick<Settings, 'keepDays'>>;
  readonly #store: ItemStore;
  readonly #onRemoved: (rows: readonly ItemPlace[]) => Promise<unknown>;
  #isStarted = false;
  readonly #purging = new SingleFlight(() => this.#purge());

  /** @param onRemoved Called for each batch of deleted rows */
  constructor(
    context: Pick<Context, 'commit' | 'clock' | 'log'>,
    settings: Readonly<Pick<Settings, 'keepDays'>>,
    store: ItemStore,
    onRemoved: (rows: readonly ItemPlace[]) => Promise<unknown>,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#store = store;
    this.#onRemoved = onRemoved;
  }

  /** Starts a pass, and repeats it every hour. The disposal waits for the running pass. */
  start(): AsyncDisposable {
    const timer = this.#context.clock.every(hourMs, () => this.run());
    this.#isStarted = true;
    this.run();
    return {
      [Symbol.asyncDispose]: async () => {
        this.#isStarted = false;
        timer[Symbol.dispose]();
        await this.#purging.settled();
      },
    };
  }

  /** Starts a pass, unless one is running or another host does it. */
  run(): void {
    if (this.#isStarted) void this.#purging.run();
  }

  async #purge(): Promise<void> {
    try {
      await purge(this.#context, this.#store, this.#settings.keepDays, this.#onRemoved);
    } catch (error) {
      this.#context.log.error('inbox purge failed', { error });
    }
  }
}

/**
 * Deletes rows older than `keepDays`, one batch per commit, so that other commits run in between. `onRemoved` is called
 * for each batch.
 */
async function purge(
  { commit, clock }: Pick<Context, 'commit' | 'clock'>,
  store: ItemStore,
  keepDays: number,
  onRemoved: (rows: readonly ItemPlace[]) => Promise<unknown>,
): Promise<void> {
  const now = clock.now();
  for (let isFull = true; isFull; await nextTurn()) {
    const rows = await commit((transaction) => store.removeOld(transaction, now - keepDays * dayMs, batchSize));
    if (rows.length > 0) await onRemoved(rows);
    isFull = rows.length === batchSize;
  }
  const keyLimit = now - Math.max(keepDays, minKeyDays) * dayMs;
  while ((await commit((transaction) => store.removeOffers(transaction, keyLimit, batchSize))) === batchSize)
    await nextTurn();
}
