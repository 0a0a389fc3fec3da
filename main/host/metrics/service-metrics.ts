import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Log } from '../../../services/contracts/service.ts';
import type { MetricOptions, Metrics } from '../../../services/contracts/metrics.ts';
import { findNameProblem, type MetricKind } from './names.ts';
import type { Family } from './page.ts';

/** First declaration of a name: families with the same name are merged on the joined page, so they must agree. */
export interface NameOwner {
  readonly kind: MetricKind;
  readonly owner: string;
}

export interface ServiceMetricsOptions {
  /** Id of a service, or `host`. */
  readonly owner: string;
  /** Shared by all services. */
  readonly names: Map<string, NameOwner>;
  readonly log: Log | undefined;
}

/** Registry behind the contract's three methods. */
export interface ServiceMetrics {
  readonly metrics: Metrics;
  readonly registry: Registry;
  /** Removes the `collect` callbacks; their gauges are omitted until they are declared again. */
  release(): void;
  /** Returns the sum of a counter's samples with these labels; 0 for an unknown name. */
  total(counter: string, labels?: Labels): Promise<number>;
  /** Reads everything that was declared. */
  families(): Promise<Family[]>;
}

type Labels = Readonly<Record<string, string | number>>;

/** Growth of a counter since the last read: hashing labels for each event costs more than most events. */
class Sums {
  readonly #counter: Counter;
  readonly #sums = new Map<string, { readonly labels: Labels; by: number }>();

  constructor(counter: Counter) {
    this.#counter = counter;
  }

  add(labels: Labels, by: number): void {
    let place = '';
    for (const name in labels) place += `${name}=${String(labels[name])}\n`;
    const sum = this.#sums.get(place);
    if (sum !== undefined) sum.by += by;
    else {
      // Reports a wrong label to the caller immediately.
      this.#counter.inc(labels, 0);
      this.#sums.set(place, { labels, by });
    }
  }

  handOver(): void {
    for (const { labels, by } of this.#sums.values()) this.#counter.inc(labels, by);
    this.#sums.clear();
  }
}

type Collect = () => number | Promise<number>;
interface Collected {
  readonly gauge: Gauge;
  collect: Collect | undefined;
}

/** Opens the registry of a service or of the host. */
export function openServiceMetrics(options: ServiceMetricsOptions): ServiceMetrics {
  return new OwnerMetrics(options);
}

class OwnerMetrics implements ServiceMetrics {
  readonly registry = new Registry();
  readonly metrics: Metrics = {
    counter: (options) => this.#declareCounter(options),
    gauge: (options) => this.#declareGauge(options),
    histogram: (options) => this.#declareHistogram(options),
  };
  readonly #options: ServiceMetricsOptions;
  /** Kind and labels by name. */
  readonly #shapes = new Map<string, string>();
  readonly #collected = new Map<string, Collected>();
  readonly #summed = new Map<string, Sums>();

  constructor(options: ServiceMetricsOptions) {
    this.#options = options;
  }

  release(): void {
    for (const sample of this.#collected.values()) sample.collect = undefined;
  }

  async total(name: string, labels: Labels = {}): Promise<number> {
    this.#summed.get(name)?.handOver();
    const metric = this.registry.getSingleMetric(name);
    if (metric === undefined || !this.#shapes.get(name)?.startsWith('counter ')) return 0;
    const { values } = await metric.get();
    const requestedLabels = Object.entries(labels);
    return values
      .filter((sample) => requestedLabels.every(([label, value]) => sample.labels[label] === value))
      .reduce((sum, { value }) => sum + value, 0);
  }

  async families(): Promise<Family[]> {
    const { log, owner } = this.#options;
    for (const sums of this.#summed.values()) sums.handOver();
    const absent = new Set<string>();
    for (const [name, { gauge, collect }] of this.#collected) {
      try {
        if (collect === undefined) absent.add(name);
        else gauge.set(await collect());
      } catch (error) {
        absent.add(name);
        log?.warn('metric collection failed', { metric: name, service: owner, error });
      }
    }
    const read = await this.registry.getMetricsAsJSON();
    return read.filter((metric) => !absent.has(metric.name)).map(family);
  }

  #declareCounter(options: Parameters<Metrics['counter']>[0]): ReturnType<Metrics['counter']> {
    const counter = this.#declare('counter', options, () => new Counter(this.#toConfiguration(options)));
    for (const labels of options.initial ?? []) counter.inc(labels, 0);
    this.#summed.get(options.name)?.handOver();
    const sums = new Sums(counter);
    this.#summed.set(options.name, sums);
    return { inc: (labels = {}, by = 1) => sums.add(labels, by) };
  }

  #declareGauge(options: Parameters<Metrics['gauge']>[0]): ReturnType<Metrics['gauge']> {
    const gauge = this.#declare('gauge', options, () => new Gauge(this.#toConfiguration(options)));
    if (options.collect === undefined) this.#collected.delete(options.name);
    else this.#collected.set(options.name, { gauge, collect: options.collect });
    for (const labels of options.initial ?? []) gauge.set(labels, 0);
    return { set: (value, labels = {}) => gauge.set(labels, value) };
  }

  #declareHistogram(options: Parameters<Metrics['histogram']>[0]): ReturnType<Metrics['histogram']> {
    const buckets = options.buckets === undefined ? {} : { buckets: [...options.buckets] };
    const histogram = this.#declare(
      'histogram',
      options,
      () => new Histogram({ ...this.#toConfiguration(options), ...buckets }),
    );
    for (const labels of options.initial ?? []) histogram.zero(labels);
    return { observe: (value, labels = {}) => histogram.observe(labels, value) };
  }

  /** Creates a metric, or returns the one that this owner created before a restart. */
  #declare<T extends Counter | Gauge | Histogram>(kind: MetricKind, options: MetricOptions, make: () => T): T {
    const { name, labels = [] } = options;
    this.#checkDeclaration(kind, options);
    const shape = `${kind} ${labels.join(',')}`;
    const previous = this.registry.getSingleMetric(name);
    if (previous !== undefined && this.#shapes.get(name) === shape) return previous as T;
    if (previous !== undefined) this.registry.removeSingleMetric(name);
    const { names, owner } = this.#options;
    names.set(name, names.get(name) ?? { kind, owner });
    this.#shapes.set(name, shape);
    return make();
  }

  /** Refuses names that are invalid, or that another owner has declared differently. */
  #checkDeclaration(kind: MetricKind, { name, help, labels = [], peer }: MetricOptions): void {
    const { names, owner } = this.#options;
    const named = owner === 'host' ? labels.filter((label) => label !== 'service') : labels;
    const nameProblem = peer === true ? undefined : findNameProblem(kind, name, help, named);
    if (nameProblem !== undefined) throw new Error(`The metric ${name} ${nameProblem}.`);
    const existing = names.get(name);
    if (existing !== undefined && existing.owner !== owner && (existing.owner === 'host' || owner === 'host')) {
      throw new Error(`The metric ${name} is one of the host's own; give the service's another name.`);
    }
    if (existing !== undefined && existing.kind !== kind) {
      throw new Error(`The metric ${name} is a ${existing.kind} of ${existing.owner} and cannot be a ${kind} as well.`);
    }
  }

  #toConfiguration({ name, help, labels = [] }: MetricOptions): {
    name: string;
    help: string;
    labelNames: string[];
    registers: Registry[];
  } {
    return { name, help, labelNames: [...labels], registers: [this.registry] };
  }
}

/** Result of prom-client 15; its own types lack the name of a histogram's samples. */
interface Read {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  readonly values: readonly {
    readonly value: number;
    readonly labels: Partial<Record<string, string | number>>;
    readonly metricName?: string;
  }[];
}

function family(metric: Read): Family {
  return {
    name: metric.name,
    help: metric.help,
    type: String(metric.type),
    samples: metric.values.map(({ value, labels, metricName }) => ({
      name: metricName ?? metric.name,
      labels: defined(labels),
      value,
    })),
  };
}

function defined(labels: Partial<Record<string, string | number>>): Record<string, string | number> {
  const all: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(labels)) if (value !== undefined) all[name] = value;
  return all;
}
