type Labels = Readonly<Record<string, string | number>>;

/** Prometheus counter. */
export interface Counter {
  inc(labels?: Labels, by?: number): void;
}

/** Prometheus gauge. */
export interface Gauge {
  set(value: number, labels?: Labels): void;
}

/** Prometheus histogram. */
export interface Histogram {
  /** Base units: seconds, bytes. */
  observe(value: number, labels?: Labels): void;
}

/** Name and help text of a metric. */
export interface MetricOptions {
  /** Prometheus conventions: snake case, base unit, `_total` for counters. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Label sets that exist with value 0 before the first event. */
  readonly initial?: readonly Labels[];
  /** Metric name of the peer, kept for existing dashboards although it violates the conventions. */
  readonly peer?: true;
}

/** Registers the metrics of a service. */
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions & { readonly collect?: () => number | Promise<number> }): Gauge;
  histogram(options: MetricOptions & { readonly buckets?: readonly number[] }): Histogram;
}
