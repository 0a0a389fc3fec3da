import type { Counter, Metrics } from '../contracts/metrics.ts';

/** Outcome of a request. */
export type Outcome = 'passed' | 'sign_in' | 'refused' | 'not_found' | 'service_down' | 'failed';

/** Outcome of a TCP connection. */
export type ConnectionOutcome = 'passed' | 'refused' | 'service_down';

interface MetricSources {
  readonly metrics: Metrics;
  readonly open: () => number;
  readonly connections: () => number;
  readonly certificateExpiry: () => number;
  /** Like `certificateExpiry`, for the certificate of a public authority. */
  readonly publicCertificateExpiry: () => number;
}

/** Metrics of the gateway; general request metrics come from its listeners. */
export class GatewayMetrics {
  readonly #requests: Counter;
  readonly #signIns: Counter;
  readonly #connections: Counter;

  constructor({ metrics, open, connections, certificateExpiry, publicCertificateExpiry }: MetricSources) {
    this.#requests = metrics.counter({
      name: 'gateway_requests_total',
      help: 'Requests from the network, by what became of them.',
      labels: ['to', 'outcome'],
    });
    this.#signIns = metrics.counter({
      name: 'gateway_sign_ins_total',
      help: 'Attempts to sign in on the gateway page.',
      labels: ['result'],
      initial: [{ result: 'right' }, { result: 'wrong' }, { result: 'code_wanted' }],
    });
    this.#connections = metrics.counter({
      name: 'gateway_connections_total',
      help: 'Connections from the network to shared ports that speak no HTTP, by what became of them.',
      labels: ['to', 'outcome'],
    });
    metrics.gauge({
      name: 'gateway_connections_open',
      help: 'Connections to shared ports that speak no HTTP at the moment.',
      collect: connections,
    });
    metrics.gauge({
      name: 'gateway_exchanges_open',
      help: 'Requests and WebSockets that services answer at the moment.',
      collect: open,
    });
    metrics.gauge({
      name: 'gateway_certificate_expiry_timestamp_seconds',
      help: 'When the certificate that is shown ends; 0 while none is.',
      collect: certificateExpiry,
    });
    metrics.gauge({
      name: 'gateway_public_certificate_expiry_timestamp_seconds',
      help: 'When the certificate of a public authority ends; 0 without one.',
      collect: publicCertificateExpiry,
    });
  }

  /** @param service Empty for requests without a service */
  request(service: string, outcome: Outcome): void {
    this.#requests.inc({ to: service, outcome });
  }

  /** @param port ID of the port */
  connection(port: string, outcome: ConnectionOutcome): void {
    this.#connections.inc({ to: port, outcome });
  }

  signIn(result: 'right' | 'wrong' | 'code_wanted'): void {
    this.#signIns.inc({ result });
  }
}

/** Returns the outcome label of a rejection. */
export function getOutcome(status: number): Outcome {
  if (status === 401) return 'sign_in';
  if (status === 404) return 'not_found';
  if (status === 502) return 'service_down';
  return status >= 500 ? 'failed' : 'refused';
}
