import * as m from '#messages/host-problems';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { StreamOptions, StreamReply } from '../../../services/contracts/outgoing.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { flatten } from './exchange.ts';
import { explainFailure } from './explain.ts';
import { nextHop, type Hop } from './redirect.ts';

const defaults = { headersTimeoutMs: 30_000, idleTimeoutMs: 60_000, maxRedirects: 5 } as const;

/** Sends a request, follows redirects and returns as soon as the headers have arrived; see `FetchStream`. */
export async function openStream(
  first: Hop,
  dispatcherFor: (hop: Hop) => Dispatcher,
  options: StreamOptions,
): Promise<StreamReply> {
  const { maxRedirects = defaults.maxRedirects } = options;
  let hop = first;
  let body = options.body ?? null;
  for (let redirects = 0; ; redirects += 1) {
    const { statusCode, headers, body: answer } = await ask(dispatcherFor(hop), hop, body, options);
    const flat = flatten(headers);
    const location = options.redirect === 'manual' ? undefined : flat['location'];
    const next = nextHop(hop, statusCode, location, options.keepMethod);
    if (next === undefined) {
      const { host, href } = hop.url;
      return { status: statusCode, headers: flat, url: href, body: explaining(answer, host) };
    }
    await answer.dump();
    if (redirects >= maxRedirects)
      throw new Problem('fetch.failed', 502, () => m.tooManyRedirects({ maxRedirects }), { retryable: false });
    // `nextHop` removed the body when the method changed; hops do not contain streams.
    if (next.method !== hop.method) body = null;
    else if (body instanceof Readable)
      throw new Problem('fetch.failed', 502, () => m.uploadRedirected({ host: hop.url.host }));
    hop = next;
  }
}

async function ask(
  dispatcher: Dispatcher,
  hop: Hop,
  body: NonNullable<StreamOptions['body']> | null,
  { headersTimeoutMs, idleTimeoutMs, signal }: StreamOptions,
): Promise<Dispatcher.ResponseData> {
  return await dispatcher.request({
    origin: hop.url.origin,
    path: hop.url.pathname + hop.url.search,
    method: hop.method,
    headers: { 'accept-encoding': 'identity', ...hop.headers },
    body,
    headersTimeout: headersTimeoutMs ?? defaults.headersTimeoutMs,
    bodyTimeout: idleTimeoutMs ?? defaults.idleTimeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Converts errors of a body to the same Problems as for requests, without the address. */
function explaining(body: Readable, host: string): Readable {
  const parts = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* body as AsyncIterable<Buffer>;
    } catch (error) {
      throw explainFailure(error, host);
    }
  };
  // An error before the first read is reported to the later reader.
  body.on('error', () => undefined);
  return Readable.from(parts(), { objectMode: false });
}
