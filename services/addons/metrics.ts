import type { Counter, Histogram, Metrics } from '../contracts/metrics.ts';

/** Metrics of the service. Addons are labeled by preset or host, because their addresses can contain keys. */
export interface AddonMetrics {
  readonly requests: Counter;
  readonly latency: Histogram;
  readonly failures: Counter;
  readonly cache: Counter;
  readonly providerLatency: Histogram;
  readonly providerFailures: Counter;
  readonly plays: Counter;
}

/** Declares the metrics of the service. */
export function createAddonMetrics(metrics: Metrics): AddonMetrics {
  const buckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
  return {
    requests: metrics.counter({
      name: 'addons_requests_total',
      help: 'Requests of clients, by resource.',
      labels: ['resource'],
      initial: ['manifest', 'stream', 'catalog', 'meta', 'subtitles'].map((resource) => ({ resource })),
    }),
    latency: metrics.histogram({
      name: 'addons_upstream_seconds',
      help: 'How long addons took to answer.',
      labels: ['addon', 'resource'],
      buckets,
    }),
    failures: metrics.counter({
      name: 'addons_upstream_failures_total',
      help: 'Questions to addons that came to nothing, by reason.',
      labels: ['addon', 'reason'],
    }),
    cache: metrics.counter({
      name: 'addons_cache_total',
      help: 'Questions by how they were answered: hit, stale, joined (with one that was running), miss.',
      labels: ['result'],
      initial: ['hit', 'stale', 'joined', 'miss'].map((result) => ({ result })),
    }),
    providerLatency: metrics.histogram({
      name: 'addons_provider_seconds',
      help: 'How long debrid services took to answer.',
      labels: ['provider'],
      buckets,
    }),
    providerFailures: metrics.counter({
      name: 'addons_provider_failures_total',
      help: 'Requests to debrid services that failed, by reason.',
      labels: ['provider', 'reason'],
    }),
    plays: metrics.counter({
      name: 'addons_plays_total',
      help: 'Playbacks, by what came of them.',
      labels: ['provider', 'outcome'],
    }),
  };
}

/** Declares the number of cached responses. */
export function registerCacheGauge(metrics: Metrics, upstream: { readonly cached: number }): void {
  const collect = (): number => upstream.cached;
  metrics.gauge({ name: 'addons_cache_entries', help: 'Answers of addons that are remembered.', collect });
}

const maxLabels = 200;
const maxLabelLength = 100;

/**
 * Limits the number of metric labels. Clients choose the addons, so only the first ones get a label and the rest share
 * `other`.
 */
export class MetricLabels {
  readonly #labels = new Set<string>();

  getLabel(label: string): string {
    if (this.#labels.has(label)) return label;
    if (this.#labels.size >= maxLabels || label.length > maxLabelLength) return 'other';
    this.#labels.add(label);
    return label;
  }
}
