import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import { markLongLived } from '../../kit/long-lived-response.ts';
import { parseFilter } from '../domain/filter.ts';
import type { Event } from '../domain/message.ts';
import { parseFlag } from '../domain/parameters.ts';
import { refuse } from '../domain/refusals.ts';
import { parseSince } from '../domain/since.ts';
import { requireTopic } from '../domain/topics.ts';
import { readHistory } from '../subscribe/history.ts';
import type { ActiveTopics } from '../topics/active-topics.ts';
import type { Limits } from '../access/limits.ts';
import { toEnvelope, type Envelope, type Format } from '../subscribe/envelope.ts';
import type { FileAddressRewrite } from '../subscribe/file-addresses.ts';
import { Subscriber, writeHistory, type Outlet, type Subscription } from '../subscribe/subscriber.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import type { SubscriberRateLimits } from '../access/subscriber-rate-limits.ts';
import type { MessageStore } from '../store/messages.ts';
import type { DelayedMessageStore } from '../store/delayed-messages.ts';
import { answerValue, crossOrigin, type RequestContext, type Exchange } from './exchange.ts';

const contentTypes: Readonly<Record<Exclude<Format, 'ws'>, string>> = {
  json: 'application/x-ndjson; charset=utf-8',
  sse: 'text/event-stream; charset=utf-8',
  raw: 'text/plain; charset=utf-8',
};

export interface SubscribeDependencies {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'random'>;
  readonly store: MessageStore;
  readonly delayedMessages: DelayedMessageStore;
  readonly subscribers: Subscribers;
  readonly reserved: ReadonlySet<string>;
  /** Current settings. */
  readonly bounds: { readonly maxTopics: number; readonly maxSubscribers: number };
  /** Counts streams that were closed because the client did not read. */
  readonly cut: Counter;
  readonly limits: Pick<Limits, 'subscription'>;
  readonly topics: Pick<ActiveTopics, 'use'>;
  readonly subscriberRateLimits: Pick<SubscriberRateLimits, 'recordSubscriber'>;
  /** Returns the rewrite of file addresses for clients that use another address than the stored one. */
  readonly findFileRewrite: (request: IncomingMessage) => FileAddressRewrite | undefined;
}

/** Routes that subscribe. `topicList` is the comma-separated list of topics in the path. */
export interface SubscribeRoutes {
  /** Serves GET `/<topics>/json|sse|raw`: a stream, or cached messages only with `poll=1`. */
  read(exchange: Exchange, topicList: string, format: Exclude<Format, 'ws'>): Promise<void>;
  /**
   * Serves GET `/<topics>/ws` with an upgrade. `accept` completes the handshake after all checks. With `poll=1`, the
   * connection ends after the cached messages.
   */
  readWebSocket(request: RequestContext, topicList: string, accept: () => Promise<Outlet>): Promise<void>;
  /** Serves GET `/<topics>/auth`. */
  check(exchange: Exchange, topicList: string): void;
  /** Refuses GET `/<topics>/ws` without an upgrade. */
  refuseWebSocket(exchange: Exchange, topicList: string): never;
}

/**
 * Returns true when the client disconnected during authentication, for which no event follows. A client that
 * half-closed its connection cannot use a stream either.
 */
function hasDisconnected({ request }: RequestContext, stream: Writable): boolean {
  if (!stream.closed && !stream.destroyed && !request.socket.readableEnded) return false;
  stream.destroy();
  return true;
}

/** Builds an event about the stream itself. */
export function buildStreamEvent(
  event: Event,
  topicList: string,
  { clock, random }: Pick<Context, 'clock' | 'random'>,
): Envelope {
  return toEnvelope({ id: random.text(12), time: Math.floor(clock.now() / 1000), event, topic: topicList });
}

export function subscribeRoutes(dependencies: SubscribeDependencies): SubscribeRoutes {
  const { context, store, delayedMessages, subscribers, reserved } = dependencies;
  const { accounts, clock } = context;

  const mayRead = (identity: RequestContext['identity'], topics: readonly string[]): boolean =>
    topics.every((topic) => accounts.may(identity, 'push', 'read', topic));

  const requireRead = (request: RequestContext, topicList: string): string[] => {
    const { identity } = request;
    const topics = [...new Set(topicList.split(','))];
    if (topics.length > dependencies.bounds.maxTopics)
      throw refuse('invalid', `more than ${String(dependencies.bounds.maxTopics)} topics`);
    for (const topic of topics) requireTopic(topic, reserved);
    if (!mayRead(identity, topics)) throw refuse('forbidden');
    dependencies.topics.use(request, topics);
    return topics;
  };

  const parse = (request: RequestContext, topicList: string, format: Format) => {
    const { read, identity } = request;
    const topics = requireRead(request, topicList);
    const isPoll = parseFlag(read('x-poll', 'poll', 'po'), false);
    const since = parseSince(read('x-since', 'since', 'si'), isPoll, clock.now());
    dependencies.subscriberRateLimits.recordSubscriber(request, topics);
    const scheduled = parseFlag(read('x-scheduled', 'scheduled', 'sched'), false);
    const subscription: Subscription = {
      topics,
      topicList,
      format,
      filter: parseFilter(read),
      identity,
      fileRewrite: dependencies.findFileRewrite(request.request),
    };
    const history = (upTo: number) =>
      readHistory(store, delayedMessages, { topics, since, scheduled, upTo, now: Math.floor(clock.now() / 1000) });
    return { subscription, polling: isPoll, quiet: since.from === 'none' && !scheduled, history };
  };

  /** Reserves a stream until its connection closes. */
  const reserveStream = (request: RequestContext): Disposable => {
    if (subscribers.size >= dependencies.bounds.maxSubscribers) throw refuse('too_many_subscribers');
    return dependencies.limits.subscription(request);
  };

  const stream = async (
    { subscription, quiet: skipsHistory, history }: ReturnType<typeof parse>,
    outlet: Outlet,
  ): Promise<void> => {
    const subscriber = new Subscriber(subscription, outlet, () => dependencies.cut.inc());
    // Registered before history is read: messages published in between are queued, and dropped when the history
    // contains them.
    const registration = subscribers.add(subscriber);
    outlet.stream.once('close', () => registration[Symbol.dispose]());
    // The client may have lost its permission or disconnected during the handshake.
    if (!mayRead(subscription.identity, subscription.topics)) subscriber.end();
    if (outlet.stream.closed) registration[Symbol.dispose]();
    subscriber.write(buildStreamEvent('open', subscription.topicList, context));
    if (skipsHistory) return;
    subscriber.startQueue();
    const upTo = await store.top();
    await subscriber.replay(history(upTo), clock);
    subscriber.release(upTo);
  };

  return {
    async read(exchange, topicList, format) {
      const { response } = exchange;
      const parsed = parse(exchange, topicList, format);
      const headers = { ...crossOrigin, 'Content-Type': contentTypes[format] };
      if (parsed.polling) {
        const pages = parsed.history(await store.top());
        // Does not use writeHead, so that an empty response has a Content-Length, as in ntfy.
        response.setHeaders(new Map(Object.entries(headers)));
        await writeHistory(response, pages, parsed.subscription, clock);
        response.end();
        return;
      }
      if (hasDisconnected(exchange, response)) return;
      const reservation = reserveStream(exchange);
      response.once('close', () => reservation[Symbol.dispose]());
      markLongLived(response);
      response.writeHead(200, { ...headers, 'Cache-Control': 'no-cache' });
      await stream(parsed, createOutlet(response));
    },

    async readWebSocket(request, topicList, accept) {
      const parsed = parse(request, topicList, 'ws');
      if (parsed.polling) {
        const outlet = await accept();
        await writeHistory(outlet.stream, parsed.history(await store.top()), parsed.subscription, clock);
        outlet.end();
        return;
      }
      const { socket } = request.request;
      if (hasDisconnected(request, socket)) return;
      const reservation = reserveStream(request);
      // Also released when the handshake fails.
      socket.once('close', () => reservation[Symbol.dispose]());
      await stream(parsed, await accept());
    },

    check(exchange, topicList) {
      requireRead(exchange, topicList);
      answerValue(exchange.response, { success: true });
    },

    refuseWebSocket(exchange, topicList) {
      requireRead(exchange, topicList);
      throw refuse('no_websocket');
    },
  };
}

/**
 * Writes shared chunks to the socket, because Node would encode each event for each client; only the head and the end
 * of the response are its own.
 */
function createOutlet(response: ServerResponse): Outlet {
  response.flushHeaders();
  const { socket, chunkedEncoding } = response;
  return {
    stream: response,
    // HTTP/1.0 clients do not support chunks, and a pipelined response has no connection yet.
    ...(socket !== null && chunkedEncoding && { chunks: socket }),
    end: () => response.end(),
  };
}
