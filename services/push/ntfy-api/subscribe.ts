import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import { markEndless } from '../../kit/endless.ts';
import { parseFilter } from '../domain/filter.ts';
import type { Event } from '../domain/message.ts';
import { flag } from '../domain/parameters.ts';
import { refuse } from '../domain/refusals.ts';
import { parseSince } from '../domain/since.ts';
import { requireTopic } from '../domain/topics.ts';
import { readHistory } from '../subscribe/history.ts';
import type { ActiveTopics } from '../topics/active-topics.ts';
import type { Limits } from '../access/limits.ts';
import { seal, type Envelope, type Format } from '../subscribe/envelope.ts';
import type { Outside } from '../subscribe/file-addresses.ts';
import { Subscriber, writeHistory, type Outlet, type Subscription } from '../subscribe/subscriber.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import type { RateVisitors } from '../access/subscriber-rate-limits.ts';
import type { MessageStore } from '../store/messages.ts';
import type { DelayedMessageStore } from '../store/delayed-messages.ts';
import { answerValue, crossOrigin, type Asked, type Exchange } from './exchange.ts';

const contentTypes: Readonly<Record<Exclude<Format, 'ws'>, string>> = {
  json: 'application/x-ndjson; charset=utf-8',
  sse: 'text/event-stream; charset=utf-8',
  raw: 'text/plain; charset=utf-8',
};

export interface SubscribeParts {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'random'>;
  readonly store: MessageStore;
  readonly schedule: DelayedMessageStore;
  readonly subscribers: Subscribers;
  readonly reserved: ReadonlySet<string>;
  /** As the settings say at the moment. */
  readonly bounds: { readonly maxTopics: number; readonly maxSubscribers: number };
  /** Counts streams that were cut off because they were not read. */
  readonly cut: Counter;
  readonly limits: Pick<Limits, 'subscription'>;
  readonly topics: Pick<ActiveTopics, 'use'>;
  readonly rates: Pick<RateVisitors, 'listen'>;
  /** Where a reader gets files, if not where kept messages say. */
  readonly outside: (request: IncomingMessage) => Outside | undefined;
}

/** The routes that read. `asked` is the path's comma list of topics. */
export interface SubscribeRoutes {
  /** GET `/<topics>/json|sse|raw`, a stream or with `poll=1` what is cached. */
  read(exchange: Exchange, asked: string, format: Exclude<Format, 'ws'>): Promise<void>;
  /**
   * GET `/<topics>/ws` with an upgrade: `accept` makes the connection once everything is looked at. With `poll=1` it ends
   * after what is cached.
   */
  readWebSocket(request: Asked, asked: string, accept: () => Promise<Outlet>): Promise<void>;
  /** GET `/<topics>/auth`. */
  check(exchange: Exchange, asked: string): void;
  /** GET `/<topics>/ws` without an upgrade. */
  refuseWebSocket(exchange: Exchange, asked: string): never;
}

/**
 * Whether the reader went away while it was found out who he is: no event would tell of it any more. Who ended his side
 * alone has no use for a stream either.
 */
function hasLeft({ request }: Asked, stream: Writable): boolean {
  if (!stream.closed && !stream.destroyed && !request.socket.readableEnded) return false;
  stream.destroy();
  return true;
}

/** An event that is about the stream itself. */
export function sign(event: Event, asked: string, { clock, random }: Pick<Context, 'clock' | 'random'>): Envelope {
  return seal({ id: random.text(12), time: Math.floor(clock.now() / 1000), event, topic: asked });
}

export function subscribeRoutes(parts: SubscribeParts): SubscribeRoutes {
  const { context, store, schedule, subscribers, reserved } = parts;
  const { accounts, clock } = context;

  const mayRead = (identity: Asked['identity'], topics: readonly string[]): boolean =>
    topics.every((topic) => accounts.may(identity, 'push', 'read', topic));

  const allow = (request: Asked, asked: string): string[] => {
    const { identity } = request;
    const topics = [...new Set(asked.split(','))];
    if (topics.length > parts.bounds.maxTopics)
      throw refuse('invalid', `more than ${String(parts.bounds.maxTopics)} topics`);
    for (const topic of topics) requireTopic(topic, reserved);
    if (!mayRead(identity, topics)) throw refuse('forbidden');
    parts.topics.use(request, topics);
    return topics;
  };

  const parse = (request: Asked, asked: string, format: Format) => {
    const { read, identity } = request;
    const topics = allow(request, asked);
    const polling = flag(read('x-poll', 'poll', 'po'), false);
    const since = parseSince(read('x-since', 'since', 'si'), polling, clock.now());
    parts.rates.listen(request, topics);
    const scheduled = flag(read('x-scheduled', 'scheduled', 'sched'), false);
    const subscription: Subscription = {
      topics,
      asked,
      format,
      filter: parseFilter(read),
      identity,
      outside: parts.outside(request.request),
    };
    const history = (upTo: number) =>
      readHistory(store, schedule, { topics, since, scheduled, upTo, now: Math.floor(clock.now() / 1000) });
    return { subscription, polling, quiet: since.from === 'none' && !scheduled, history };
  };

  /** A place for a stream, held until its connection closes. */
  const takePlace = (request: Asked): Disposable => {
    if (subscribers.size >= parts.bounds.maxSubscribers) throw refuse('too_many_subscribers');
    return parts.limits.subscription(request);
  };

  const stream = async ({ subscription, quiet, history }: ReturnType<typeof parse>, outlet: Outlet): Promise<void> => {
    const subscriber = new Subscriber(subscription, outlet, () => parts.cut.inc());
    // Before history is read: what is published in between is held, and dropped again where history has it.
    const registration = subscribers.add(subscriber);
    outlet.stream.once('close', () => registration[Symbol.dispose]());
    // It may have lost its right, or gone, while a WebSocket was made.
    if (!mayRead(subscription.identity, subscription.topics)) subscriber.end();
    if (outlet.stream.closed) registration[Symbol.dispose]();
    subscriber.tell(sign('open', subscription.asked, context));
    if (quiet) return;
    subscriber.hold();
    const upTo = await store.top();
    await subscriber.replay(history(upTo), clock);
    subscriber.release(upTo);
  };

  return {
    async read(exchange, asked, format) {
      const { response } = exchange;
      const parsed = parse(exchange, asked, format);
      const headers = { ...crossOrigin, 'Content-Type': contentTypes[format] };
      if (parsed.polling) {
        const pages = parsed.history(await store.top());
        // Not writeHead: an empty answer then says so in its length, as the peer's does.
        response.setHeaders(new Map(Object.entries(headers)));
        await writeHistory(response, pages, parsed.subscription, clock);
        response.end();
        return;
      }
      if (hasLeft(exchange, response)) return;
      const place = takePlace(exchange);
      response.once('close', () => place[Symbol.dispose]());
      markEndless(response);
      response.writeHead(200, { ...headers, 'Cache-Control': 'no-cache' });
      await stream(parsed, outletOf(response));
    },

    async readWebSocket(request, asked, accept) {
      const parsed = parse(request, asked, 'ws');
      if (parsed.polling) {
        const outlet = await accept();
        await writeHistory(outlet.stream, parsed.history(await store.top()), parsed.subscription, clock);
        outlet.end();
        return;
      }
      const { socket } = request.request;
      if (hasLeft(request, socket)) return;
      const place = takePlace(request);
      // Also when the handshake fails.
      socket.once('close', () => place[Symbol.dispose]());
      await stream(parsed, await accept());
    },

    check(exchange, asked) {
      allow(exchange, asked);
      answerValue(exchange.response, { success: true });
    },

    refuseWebSocket(exchange, asked) {
      allow(exchange, asked);
      throw refuse('no_websocket');
    },
  };
}

/** Node would encode each event for each reader anew; only the beginning and the end of such an answer are its own. */
function outletOf(response: ServerResponse): Outlet {
  response.flushHeaders();
  const { socket, chunkedEncoding } = response;
  return {
    stream: response,
    // Clients of HTTP/1.0 know no chunks, and an answer behind another one has no connection yet.
    ...(socket !== null && chunkedEncoding && { chunks: socket }),
    end: () => response.end(),
  };
}
