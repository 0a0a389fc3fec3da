import { Counter } from 'prom-client';
import type { Log } from '../../../services/contracts/service.ts';
import type { Metrics } from '../../../services/contracts/metrics.ts';
import type { LoopDelays } from '../runtime/loop-watch.ts';
import { LoopDelayHistogram } from './loop-delays.ts';
import { metricsPage, type Family } from './page.ts';
import { measureProcess, processorSeconds } from './process.ts';
import { measureRequests, type RequestMetrics } from './requests.ts';
import { openServiceMetrics, type NameOwner, type ServiceMetrics } from './service-metrics.ts';

export type { RequestMetrics } from './requests.ts';

export interface HostMetricsOptions {
  /** Version of the host for `homeport_info`. */
  readonly version: string;
  readonly log?: Log;
  /** Delays of event loop callbacks. */
  readonly loopDelays?: () => LoopDelays;
}

/** Metrics of the host: one registry per service, one for the host itself. */
export interface HostMetrics {
  /**
   * Returns the metrics of a service. Metrics that are declared again after a restart continue counting; this call
   * removes `collect` callbacks of the previous instance.
   */
  forService(id: string): Metrics;
  /** Metrics of the host itself, without a `service` label. */
  readonly host: Metrics;
  readonly http: RequestMetrics;
  /** Removes the `collect` callbacks of a stopped service; its counters remain. */
  release(id: string): void;
  /**
   * Returns the value of a service's counter with these labels; without a name, the number of requests that its
   * listeners have answered.
   */
  total(service: string, counter?: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /**
   * Prometheus text. With a service: its own metrics under their declared names, and its HTTP requests. Without: all
   * metrics, samples of services with the label `service`.
   */
  text(service?: string): Promise<string>;
}

const loopDelayName = 'nodejs_eventloop_delay_seconds';

/** Opens the host's metrics. Declaring a metric whose name `promtool check metrics` rejects throws an Error. */
export function createMetrics(options: HostMetricsOptions): HostMetrics {
  const names = new Map<string, NameOwner>();
  const services = new Map<string, ServiceMetrics>();
  const hostRoom = openServiceMetrics({ owner: 'host', names, log: options.log });
  const http = measureRequests(hostRoom.registry);
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time the host has used.',
    registers: [hostRoom.registry],
    collect() {
      this.reset();
      this.inc(processorSeconds());
    },
  });
  if (options.loopDelays !== undefined) {
    new LoopDelayHistogram(hostRoom.registry, loopDelayName, options.loopDelays);
  }
  for (const name of ['http_requests_total', 'http_request_seconds', 'process_cpu_seconds_total', loopDelayName]) {
    names.set(name, { kind: name.endsWith('_total') ? 'counter' : 'histogram', owner: 'host' });
  }
  measureProcess(hostRoom.metrics, options.version);

  return {
    host: hostRoom.metrics,
    http,
    forService(id) {
      let serviceMetrics = services.get(id);
      if (serviceMetrics === undefined)
        services.set(id, (serviceMetrics = openServiceMetrics({ owner: id, names, log: options.log })));
      serviceMetrics.release();
      return serviceMetrics.metrics;
    },
    release: (id) => services.get(id)?.release(),
    total: async (service, counter, labels) =>
      counter === undefined ? http.total(service) : ((await services.get(service)?.total(counter, labels)) ?? 0),
    async text(service) {
      const host = await hostRoom.families();
      if (service === undefined) {
        const families = await Promise.all(
          [...services].map(async ([id, serviceMetrics]) => labelled(await serviceMetrics.families(), id)),
        );
        return metricsPage([...host, ...families.flat()]);
      }
      const own = (await services.get(service)?.families()) ?? [];
      return metricsPage([...own, ...forService(host, service)]);
    },
  };
}

function labelled(families: readonly Family[], service: string): Family[] {
  return families.map((family) => ({
    ...family,
    samples: family.samples.map((sample) => ({ ...sample, labels: { service, ...sample.labels } })),
  }));
}

function forService(families: readonly Family[], service: string): Family[] {
  return families
    .map((family) => ({ ...family, samples: family.samples.filter((sample) => sample.labels['service'] === service) }))
    .filter((family) => family.samples.length > 0);
}
