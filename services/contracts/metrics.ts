type Labels = Readonly<Record<string, string | number>>;
export interface Counter {
  inc(labels?: Labels, by?: number): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
}
export interface Histogram {
  /** Base units: seconds, bytes. */
  observe(value: number, labels?: Labels): void;
}
export interface MetricOptions {
  /** Prometheus conventions: snake case, base unit, `_total` for counters. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Label sets that must be there with 0 before the first event. */
  readonly initial?: readonly Labels[];
  /** A name of the peer's own metrics page, kept as its users' dashboards know it although it breaks the conventions. */
  readonly peer?: true;
}
export interface Metrics {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions & { readonly collect?: () => number | Promise<number> }): Gauge;
  histogram(options: MetricOptions & { readonly buckets?: readonly number[] }): Histogram;
}
