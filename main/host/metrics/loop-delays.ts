import { Histogram, type Registry } from 'prom-client';
import type { LoopDelays } from '../runtime/loop-watch.ts';

/** Histogram that is counted elsewhere and read at the scrape. */
export class LoopDelayHistogram extends Histogram {
  readonly #readBuckets: () => LoopDelays;

  constructor(registry: Registry, name: string, read: () => LoopDelays) {
    super({ name, help: 'How long callbacks had to wait for their turn on the event loop.', registers: [registry] });
    this.#readBuckets = read;
  }

  override async get(): ReturnType<Histogram['get']> {
    const { buckets, count, sum } = this.#readBuckets();
    const metric = await super.get();
    const { name } = metric;
    const bucket = (le: number | string, value: number) => ({
      metricName: `${name}_bucket`,
      exemplar: null,
      labels: { le },
      value,
    });
    const values = [
      ...buckets.map(({ seconds, count: below }) => bucket(seconds, below)),
      bucket('+Inf', count),
      { metricName: `${name}_sum`, labels: {}, value: sum },
      { metricName: `${name}_count`, labels: {}, value: count },
    ];
    return { ...metric, values };
  }
}
