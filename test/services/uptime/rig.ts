import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as TcpServer } from 'node:net';
import { vi } from 'vitest';
import { uptime } from '../../../services/uptime/index.ts';
import type { Heartbeat, Monitor } from '../../../services/contracts/uptime/views.ts';
import { control } from '../../../services/control/index.ts';
import { adminAuthorization, openTestHost, type TestHost, type TestHostOptions } from '../../support/host.ts';

/** Event that the aggregator received. */
export interface SentEvent {
  readonly title: string;
  readonly body: string;
  readonly type: string;
  readonly tag?: string;
  readonly event: { readonly id: string; readonly kind: string; readonly monitorId?: number } & Record<string, unknown>;
}

/** HTTP server on a free port; `handler` can be replaced. */
export interface Target extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Received requests. */
  readonly requests: IncomingMessage[];
}

export async function openTarget(
  handler: Target['handler'] = (_request, response) => void response.end('fine'),
): Promise<Target> {
  const server = createServer((request, response) => {
    target.requests.push(request);
    target.handler(request, response);
  });
  const port = await listen(server);
  const target: Target = {
    url: `http://127.0.0.1:${String(port)}`,
    port,
    handler,
    requests: [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return target;
}

export async function listen(
  server: Server | TcpServer,
  where: object = { port: 0, host: '127.0.0.1' },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, resolve);
  });
  const address = server.address() as AddressInfo | string;
  return typeof address === 'string' ? 0 : address.port;
}

export interface UptimeRig extends AsyncDisposable {
  readonly host: TestHost;
  readonly url: string;
  /** Calls the REST API on the port of the service. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  raw(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  add(monitor: Record<string, unknown>): Promise<Monitor>;
  /** Returns the heartbeats of a monitor, oldest first. */
  beats(id: number): Promise<readonly Heartbeat[]>;
  /** Waits until the last heartbeat has that status. */
  until(id: number, status: number): Promise<Heartbeat>;
  /** Waits for that number of events of a kind. */
  events(kind: string, monitor: number, count?: number): Promise<readonly SentEvent[]>;
  readonly sent: SentEvent[];
  readonly aggregator: Target;
}

/** Opens a host with the uptime service, whose events are sent to an aggregator of the test. */
export async function openUptime(options: TestHostOptions & { readonly aggregator?: Target } = {}): Promise<UptimeRig> {
  const sent: SentEvent[] = [];
  const aggregator =
    options.aggregator ??
    (await openTarget((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => (text += part.toString()));
      request.on('end', () => {
        sent.push(JSON.parse(text) as SentEvent);
        response.end('{}');
      });
    }));
  const host = await openTestHost({
    services: [uptime, control],
    ...options,
    environment: { UPTIME_NOTIFY_URL: `${aggregator.url}/notify`, ...options.environment },
  });
  const url = host.url('uptime');
  const raw: UptimeRig['raw'] = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      headers: { authorization: adminAuthorization, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const reply = await raw(method, path, body);
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${String(reply.status)} ${text}`);
    return JSON.parse(text) as T;
  };
  const beats: UptimeRig['beats'] = async (id) =>
    (await call<{ items: Heartbeat[] }>('GET', `/api/monitors/${String(id)}/beats?limit=1000`)).items.toReversed();
  return {
    host,
    url,
    raw,
    call,
    beats,
    sent,
    aggregator,
    add: (monitor) => call('POST', '/api/monitors', monitor),
    until: (id, status) =>
      vi.waitUntil<Heartbeat | undefined>(async () => {
        const last = (await beats(id)).at(-1);
        return last?.status === status ? last : undefined;
      }, 60_000),
    events: (kind, monitor, count = 1) =>
      vi.waitUntil(() => {
        const events = sent.filter(({ event }) => event.kind === kind && event.monitorId === monitor);
        return events.length >= count ? events : undefined;
      }, 60_000),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      if (options.aggregator === undefined) await aggregator[Symbol.asyncDispose]();
    },
  };
}
