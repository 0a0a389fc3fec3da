import type { Counter, Histogram, Metrics } from '../../contracts/metrics.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import type { MessageStore } from '../store/messages.ts';

export interface PushMetrics {
  readonly published: Counter;
  readonly refused: Counter;
  readonly cut: Counter;
  /** Seconds from the arrival of a message to its commit. */
  readonly commitSeconds: Histogram;
}

/** Registers the metrics of the service. */
export function createPushMetrics(metrics: Metrics, store: MessageStore, subscribers: Subscribers): PushMetrics {
  metrics.gauge({
    name: 'push_subscribers',
    help: 'Streams that are open.',
    collect: () => subscribers.size,
  });
  metrics.gauge({
    name: 'push_messages_cached',
    help: 'Messages that can be read again.',
    collect: () => store.count(),
  });
  return {
    published: metrics.counter({
      name: 'push_messages_published_total',
      help: 'Messages that were committed and passed on.',
      initial: [{}],
    }),
    refused: metrics.counter({
      name: 'push_requests_refused_total',
      help: 'Requests that were refused, by the code in their answer.',
      labels: ['code'],
    }),
    cut: metrics.counter({
      name: 'push_subscribers_cut_total',
      help: 'Streams that were cut off because they were not read.',
      initial: [{}],
    }),
    commitSeconds: metrics.histogram({
      name: 'push_commit_seconds',
      help: 'Time from the arrival of a message to its commit.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    }),
  };
}
