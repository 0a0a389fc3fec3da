import type { Context } from '../../contracts/service.ts';
import type { MessageStore } from '../store/messages.ts';
import type { Envelope } from '../subscribe/envelope.ts';
import type { Statistics } from './statistics.ts';

/** Keeps how many messages there ever were, also of those that are removed. */
export class StoredTotal {
  readonly #context: Pick<Context, 'commit'>;
  readonly #store: MessageStore;
  readonly #statistics: Statistics;
  /** The newest message that the total counts. */
  #newest = 0;
  /** The total is known; before that there is none to save. */
  #known = false;
  #saved: number | undefined;

  constructor(context: Pick<Context, 'commit'>, store: MessageStore, statistics: Statistics) {
    this.#context = context;
    this.#store = store;
    this.#statistics = statistics;
  }

  /** Goes on from what is stored. `today`: how many were published today. */
  async resume(today: number): Promise<void> {
    this.#newest = await this.#store.top();
    this.#statistics.resume(await this.#store.total(), today);
    this.#known = true;
  }

  /** The statistics count these, too. */
  counted(envelopes: readonly Envelope[]): void {
    this.#newest = envelopes.findLast(({ seq }) => seq !== undefined)?.seq ?? this.#newest;
  }

  /** Says whether it was written; `anyway` also where nothing has changed, to see whether writing works. */
  async save({ anyway }: { readonly anyway: boolean }): Promise<boolean> {
    const { total } = this.#statistics;
    if (!this.#known || (total === this.#saved && !anyway)) return false;
    const newest = this.#newest;
    await this.#context.commit((transaction) => this.#store.saveTotal(transaction, total, newest));
    this.#saved = total;
    return true;
  }
}
