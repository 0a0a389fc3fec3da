import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFetch } from '../../../../main/host/fetch/fetch.ts';
import { systemClock } from '../../../../main/host/runtime/clock.ts';
import { systemRandom } from '../../../../main/host/runtime/random.ts';
import type { Handovers } from '../../../../services/contracts/bus.ts';
import type { Fetch } from '../../../../services/contracts/outgoing.ts';
import type { Log } from '../../../../services/contracts/service.ts';
import { parseDestination } from '../../../../services/notify/destinations/catalogue.ts';
import type {
  Destination,
  DeliveryContext,
  DeliveryResult,
} from '../../../../services/notify/destinations/destination.ts';
import type { Message } from '../../../../services/notify/domain/message.ts';

/** Request that a provider received; `url` is the original address. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface ProviderResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Provider extends AsyncDisposable {
  readonly requests: ReceivedRequest[];
  /** Outgoing requests of the host, which all reach this server. */
  readonly outlets: DeliveryContext;
  answer: (request: ReceivedRequest) => ProviderResponse | undefined;
}

const origin = 'x-test-origin';
const log: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const handovers: Handovers = {
  pass: () => Promise.reject(new Error('not used')),
  receive: () => ({ [Symbol.dispose]() {} }),
};

/** Opens a web server on loopback that replaces all providers. */
export async function openProvider(): Promise<Provider> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { [origin]: requestOrigin = '', ...headers } = request.headers as Record<string, string>;
      const received = {
        method: request.method ?? '',
        url: `${requestOrigin}${request.url ?? ''}`,
        headers,
        body: Buffer.concat(chunks),
      };
      requests.push(received);
      const answer = provider.answer(received);
      if (answer === undefined) return;
      const { status = 200, headers: extra = {}, body = {} } = answer;
      response.writeHead(status, { 'content-type': 'application/json', ...extra });
      response.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const real = createFetch({ log, isRefused: () => false });
  const fetch: Fetch = (url, options = {}) => {
    const [, requestOrigin = '', path = ''] = /^(https?:\/\/[^/]+)(.*)$/.exec(url) ?? [];
    return real(`http://127.0.0.1:${port}${path}`, {
      ...options,
      headers: { ...options.headers, [origin]: requestOrigin },
    });
  };
  const provider: Provider = {
    requests,
    answer: () => ({}),
    outlets: { fetch, handovers, clock: { ...systemClock, now: () => 1_795_228_737_000 }, random: systemRandom },
    async [Symbol.asyncDispose]() {
      await real[Symbol.asyncDispose]();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return provider;
}

/** Creates the destination of a valid URL. */
export function parsed(url: string): Destination {
  const destination = parseDestination(url);
  if (typeof destination === 'string') throw new Error(`${url}: ${destination}`);
  return destination;
}

export function buildMessage(fields: Partial<Message>): Message {
  const empty = { id: 'n1', title: '', body: '', type: 'info', format: 'text', tags: [], source: 'notify' } as const;
  return { ...empty, time: 1_795_228_737_000, link: undefined, ...fields };
}

/** Sends to all parts of a destination in sequence. */
export async function sendTo(
  url: string,
  fields: Partial<Message>,
  outlets: DeliveryContext,
): Promise<readonly DeliveryResult[]> {
  const destination = parsed(url);
  const results: DeliveryResult[] = [];
  for (const part of destination.parts ?? [destination]) {
    results.push(await part.send(buildMessage(fields), outlets, AbortSignal.timeout(60_000)));
  }
  return results;
}
