import type { Context } from '../../contracts/service.ts';
import type { Envelope } from '../messages/envelope.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { MessageStore } from '../store/messages.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import { TopicCounts } from '../topics/topic-counts.ts';
import { createPushMetrics, type PushMetrics } from './metrics.ts';
import { Statistics } from './statistics.ts';
import { StoredTotal } from './stored-total.ts';

/** Counts published messages: in memory, in the tables and in the metrics. */
export class Traffic {
  readonly statistics: Statistics;
  readonly counts: TopicCounts;
  readonly metrics: PushMetrics;
  readonly #storedTotal: StoredTotal;

  constructor(context: Context, store: MessageStore, subscribers: Subscribers) {
    this.statistics = new Statistics(context.clock);
    this.#storedTotal = new StoredTotal(context, store, this.statistics);
    this.counts = new TopicCounts(context);
    this.metrics = createPushMetrics(context.metrics, store, subscribers);
  }

  /** Continues from the stored counts. Must be called before anything is published. */
  async resume(): Promise<void> {
    await this.counts.resume();
    await this.#storedTotal.resume(await this.counts.today());
  }

  add(envelopes: readonly Envelope[]): void {
    this.statistics.add(envelopes.length);
    this.#storedTotal.advance(envelopes);
    this.counts.add(envelopes);
    this.metrics.published.inc({}, envelopes.length);
  }

  /** Saves the counts. A write that succeeds shows that messages can be stored again. */
  async save(publisher: Publisher): Promise<void> {
    if (await this.#storedTotal.save({ force: !publisher.healthy })) publisher.markHealthy();
    await this.counts.save();
  }
}
