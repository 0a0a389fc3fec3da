import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import type { Handover } from '../../../services/contracts/bus.ts';
import { inboxOffered, type InboxOffer } from '../../../services/contracts/inbox/api.ts';
import { notificationOffered, type NotificationOffer } from '../../../services/contracts/notify/notification.ts';
import { pushOffered, type PushOffer } from '../../../services/contracts/push/topics.ts';
import { defineService, type Context, type ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { Metrics } from '../../../services/contracts/metrics.ts';

/** Request that a destination received. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Receiver extends AsyncDisposable {
  readonly port: number;
  readonly received: Received[];
  /** Status of the following responses, unless the path selects one; 0 for no response. */
  answer: number;
  /** Value of `Retry-After` in seconds. */
  retryAfter?: number;
  /** Bodies that get the status 500. */
  refuses?: (body: string) => boolean;
  /** Delays responses until the returned function is called. */
  hold(): () => void;
}

/**
 * Opens a web server that receives notifications; `/__status/500` responds with 500, `/__never` not at all, `/pic.bin`
 * with a file, and other paths with 200.
 */
export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let blocked: Promise<void> | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const text = Buffer.concat(chunks).toString('utf8');
      received.push({ method: request.method ?? '', path, headers: request.headers, body: text });
      if (path === '/__never' || receiver.answer === 0) return;
      const reply = (): void => {
        if (path.startsWith('/pic.bin')) {
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"x","ok":true}');
          return;
        }
        const status = /^\/__status\/(\d+)/.exec(path)?.[1];
        const { retryAfter } = receiver;
        const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
        response.writeHead(Number(status ?? (receiver.refuses?.(text) ? 500 : receiver.answer)), headers).end('{}');
      };
      if (blocked === undefined) reply();
      else void blocked.then(reply);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    port: (server.address() as AddressInfo).port,
    received,
    answer: 200,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      blocked = promise;
      return resolve;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Notifications that were handed over, by the key of the receiver. */
export interface Offers {
  readonly inbox: Map<string, InboxOffer>;
  readonly push: Map<string, PushOffer>;
  readonly notices: Map<string, NotificationOffer>;
  /** Context of the probe, whose hand-overs are those of the host. */
  context: Context | undefined;
}

/** Creates a service that replaces the receivers of hand-overs. */
export function createProbe(receives: readonly ('inbox' | 'push' | 'notices')[]): {
  readonly offers: Offers;
  readonly descriptor: ServiceDescriptor<any, any>;
} {
  const offers: Offers = { inbox: new Map(), push: new Map(), notices: new Map(), context: undefined };
  const handovers = { inbox: inboxOffered, push: pushOffered, notices: notificationOffered };
  const descriptor = defineService({
    id: 'probe',
    title: 'Probe',
    summary: 'Receives hand-overs in tests.',
    settings: z.object({}),
    environment: {},
    migrations: [],
    create(context) {
      offers.context = context;
      const open = new DisposableStack();
      return {
        start() {
          for (const name of receives) {
            open.use(
              context.handovers.receive(handovers[name] as Handover<unknown>, async (offer, key) => {
                const offered = offers[name] as Map<string, unknown>;
                if (!offered.has(key)) offered.set(key, offer);
              }),
            );
          }
          return Promise.resolve();
        },
        health: () => Promise.resolve({ state: 'up', detail: '' }),
        [Symbol.asyncDispose]() {
          open.dispose();
          return Promise.resolve();
        },
      };
    },
  });
  return { offers, descriptor };
}

/** Returns the counters and gauges of a service by `name{label="value"}`, as a scrape would read them. */
export interface Readings {
  readonly counters: Map<string, number>;
  read(gauge: string): Promise<number | undefined>;
}

/** Returns the service with metrics that a test can read. */
export function withReadings<Settings>(descriptor: ServiceDescriptor<Settings>): {
  readonly descriptor: ServiceDescriptor<Settings>;
  readonly readings: Readings;
} {
  const counters = new Map<string, number>();
  const gauges = new Map<string, () => number | Promise<number>>();
  const formatSeries = (name: string, labels: Readonly<Record<string, string | number>> = {}): string => {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
  };
  const metrics = (hostMetrics: Metrics): Metrics => ({
    ...hostMetrics,
    counter(options) {
      for (const labels of options.initial ?? []) counters.set(formatSeries(options.name, labels), 0);
      const counter = hostMetrics.counter(options);
      return {
        inc(labels, by = 1) {
          const name = formatSeries(options.name, labels);
          counters.set(name, (counters.get(name) ?? 0) + by);
          counter.inc(labels, by);
        },
      };
    },
    gauge(options) {
      if (options.collect !== undefined) gauges.set(options.name, options.collect);
      return hostMetrics.gauge(options);
    },
  });
  return {
    descriptor: {
      ...descriptor,
      create: (context, settings) => descriptor.create({ ...context, metrics: metrics(context.metrics) }, settings),
    },
    readings: { counters, read: async (gauge) => gauges.get(gauge)?.() },
  };
}
