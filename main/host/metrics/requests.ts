import { Counter, Histogram, type Registry } from 'prom-client';

/** Records a finished HTTP request of a service. */
export interface RequestMetrics {
  request(service: string, method: string, code: number, seconds: number): void;
  /** Returns the number of requests of a service. */
  total(service: string): number;
}

const usualMethods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/**
 * Counts requests in plain maps and passes the sums on at the scrape: this runs once per request, also on the fast
 * path of push, where hashing labels would be most of the cost.
 */
export function measureRequests(registry: Registry): RequestMetrics {
  const counts = new Map<string, Map<string, number>>();
  new Counter({
    name: 'http_requests_total',
    help: 'HTTP requests answered. Code 499: the client left before an answer began.',
    labelNames: ['service', 'method', 'code'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [service, byKind] of counts) {
        for (const [kind, count] of byKind) {
          const [method = '', code = ''] = kind.split(' ');
          this.inc({ service, method, code }, count);
        }
      }
    },
  });
  const seconds = new Histogram({
    name: 'http_request_seconds',
    help: 'Time from a request to the end of its answer; open streams count when they end.',
    labelNames: ['service'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers: [registry],
  });
  return {
    total(service) {
      let sum = 0;
      for (const count of counts.get(service)?.values() ?? []) sum += count;
      return sum;
    },
    request(service, method, code, duration) {
      let byKind = counts.get(service);
      if (byKind === undefined) counts.set(service, (byKind = new Map()));
      const kind = `${usualMethods.has(method) ? method : 'other'} ${code}`;
      byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
      seconds.observe({ service }, duration);
    },
  };
}
