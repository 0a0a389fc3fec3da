import type { Context } from '../../contracts/service.ts';
import type { MessageStore } from '../store/messages.ts';
import type { Envelope } from '../messages/envelope.ts';
import type { Statistics } from './statistics.ts';

/** Stores the number of messages ever published, including deleted ones. */
export class StoredTotal {
  readonly #context: Pick<Context, 'commit'>;
  readonly #store: MessageStore;
  readonly #statistics: Statistics;
  /** Newest message included in the total. */
  #newestSeq = 0;
  /** True after the stored total was read; before that, nothing may be saved. */
  #loaded = false;
  #savedTotal: number | undefined;

  constructor(context: Pick<Context, 'commit'>, store: MessageStore, statistics: Statistics) {
    this.#context = context;
    this.#store = store;
    this.#statistics = statistics;
  }

  /** Continues from the stored total. `today` is the number of messages published today. */
  async resume(today: number): Promise<void> {
    this.#newestSeq = await this.#store.top();
    this.#statistics.resume(await this.#store.total(), today);
    this.#loaded = true;
  }

  /** Records that the statistics include these messages. */
  advance(envelopes: readonly Envelope[]): void {
    this.#newestSeq = envelopes.findLast(({ seq }) => seq !== undefined)?.seq ?? this.#newestSeq;
  }

  /**
   * Saves the total and returns true when it was written. `force` writes an unchanged total, to test whether storage
   * works.
   */
  async save({ force }: { readonly force: boolean }): Promise<boolean> {
    const { total } = this.#statistics;
    if (!this.#loaded || (total === this.#savedTotal && !force)) return false;
    const newestSeq = this.#newestSeq;
    await this.#context.commit((transaction) => this.#store.saveTotal(transaction, total, newestSeq));
    this.#savedTotal = total;
    return true;
  }
}
