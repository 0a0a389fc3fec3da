import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import type { Context } from '../../contracts/service.ts';
import type { Counter } from '../../contracts/metrics.ts';
import { markLongLived } from '../../kit/http/long-lived-response.ts';
import { addHeaders, startResponse } from '../../kit/http/respond.ts';
import { parseFilter } from '../domain/filter.ts';
import { parseFlag } from '../domain/parameters.ts';
import { refuse } from '../domain/refusals.ts';
import { parseSince } from '../domain/since.ts';
import { requireTopic } from '../domain/topics.ts';
import { readHistory } from '../subscribe/history.ts';
import type { Format } from '../messages/envelope.ts';
import type { FileAddressRewrite } from '../messages/file-addresses.ts';
import { Subscriber, writeHistory, type Outlet, type Subscription } from '../subscribe/subscriber.ts';
import { buildStreamEvent } from '../subscribe/stream-event.ts';
import type { LiveFeed } from '../subscribe/live-feed.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import { findNetworkDevice } from '../subscribe/network-device.ts';
import type { TopicDevices } from '../subscribe/topic-devices.ts';
import type { Delivery } from '../publish/delivery.ts';
import type { Settings } from '../settings.ts';
import type { Visitors } from '../topics/visitors.ts';
import { answerValue, crossOrigin, type RequestContext, type Exchange } from './exchange.ts';

const contentTypes: Readonly<Record<Exclude<Format, 'ws'>, string>> = {
  json: 'application/x-ndjson; charset=utf-8',
  sse: 'text/event-stream; charset=utf-8',
  raw: 'text/plain; charset=utf-8',
};

/** Open streams, and the devices that use topics. */
export interface OpenStreams {
  readonly subscribers: Subscribers;
  readonly liveFeed: LiveFeed;
  readonly devices: TopicDevices;
}

export interface SubscribeDependencies {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'random'>;
  /** Current limits. */
  readonly settings: Readonly<Pick<Settings, 'maxTopics' | 'maxSubscribers'>>;
  readonly reserved: ReadonlySet<string>;
  readonly delivery: Pick<Delivery, 'messages' | 'delayedStore'>;
  readonly visitors: Visitors;
  readonly streams: OpenStreams;
  /** Counts streams that were closed because the client did not read. */
  readonly cut: Counter;
  /** Returns the rewrite of file addresses for clients that use another address than the stored one. */
  readonly findFileRewrite: (request: IncomingMessage) => FileAddressRewrite | undefined;
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

interface ParsedSubscription {
  readonly subscription: Subscription;
  readonly polling: boolean;
  /** True when no cached messages are requested. */
  readonly quiet: boolean;
  /** Reads the requested messages up to a position of the cache. */
  readonly history: (upTo: number) => ReturnType<typeof readHistory>;
}

/** Routes that subscribe. `topicList` is the comma-separated list of topics in the path. */
export class SubscribeRoutes {
  readonly #dependencies: SubscribeDependencies;

  constructor(dependencies: SubscribeDependencies) {
    this.#dependencies = dependencies;
  }

  /** Serves GET `/<topics>/json|sse|raw`: a stream, or cached messages only with `poll=1`. */
  async read(exchange: Exchange, topicList: string, format: Exclude<Format, 'ws'>): Promise<void> {
    const { context, streams } = this.#dependencies;
    const { response } = exchange;
    const parsed = this.#parse(exchange, topicList, format);
    const headers = { ...crossOrigin, 'Content-Type': contentTypes[format] };
    if (parsed.polling) {
      this.#recordPoll(exchange, parsed);
      const pages = parsed.history(await streams.liveFeed.top());
      // Does not start the response, so that an empty one has a Content-Length, as in ntfy.
      addHeaders(response, headers);
      await writeHistory(response, pages, parsed.subscription, context.clock);
      response.end();
      return;
    }
    if (hasDisconnected(exchange, response)) return;
    const reservation = this.#reserveStream(exchange);
    response.once('close', () => reservation[Symbol.dispose]());
    markLongLived(response);
    startResponse(response, 200, { ...headers, 'Cache-Control': 'no-cache' });
    await this.#stream(exchange, parsed, createOutlet(response));
  }

  /**
   * Serves GET `/<topics>/ws` with an upgrade. `accept` completes the handshake after all checks. With `poll=1`, the
   * connection ends after the cached messages.
   */
  async readWebSocket(request: RequestContext, topicList: string, accept: () => Promise<Outlet>): Promise<void> {
    const { context, streams } = this.#dependencies;
    const parsed = this.#parse(request, topicList, 'ws');
    if (parsed.polling) {
      this.#recordPoll(request, parsed);
      const outlet = await accept();
      await writeHistory(
        outlet.stream,
        parsed.history(await streams.liveFeed.top()),
        parsed.subscription,
        context.clock,
      );
      outlet.end();
      return;
    }
    const { socket } = request.request;
    if (hasDisconnected(request, socket)) return;
    const reservation = this.#reserveStream(request);
    // Also released when the handshake fails.
    socket.once('close', () => reservation[Symbol.dispose]());
    await this.#stream(request, parsed, await accept());
  }

  /** Serves GET `/<topics>/auth`. */
  check(exchange: Exchange, topicList: string): void {
    this.#requireRead(exchange, topicList);
    answerValue(exchange.response, { success: true });
  }

  /** Refuses GET `/<topics>/ws` without an upgrade. */
  refuseWebSocket(exchange: Exchange, topicList: string): never {
    this.#requireRead(exchange, topicList);
    throw refuse('no_websocket');
  }

  #mayRead(identity: RequestContext['identity'], topics: readonly string[]): boolean {
    const { accounts } = this.#dependencies.context;
    return topics.every((topic) => accounts.may(identity, 'push', 'read', topic));
  }

  #requireRead(request: RequestContext, topicList: string): string[] {
    const { reserved, settings, visitors } = this.#dependencies;
    const topics = [...new Set(topicList.split(','))];
    if (topics.length > settings.maxTopics) throw refuse('invalid', `more than ${String(settings.maxTopics)} topics`);
    for (const topic of topics) requireTopic(topic, reserved);
    if (!this.#mayRead(request.identity, topics)) throw refuse('forbidden');
    visitors.topics.use(request, topics);
    return topics;
  }

  #parse(request: RequestContext, topicList: string, format: Format): ParsedSubscription {
    const { context, delivery, findFileRewrite, visitors } = this.#dependencies;
    const { clock } = context;
    const { read, identity } = request;
    const topics = this.#requireRead(request, topicList);
    const isPoll = parseFlag(read('x-poll', 'poll', 'po'), false);
    const since = parseSince(read('x-since', 'since', 'si'), isPoll, clock.now());
    visitors.subscriberRateLimits.recordSubscriber(request, topics);
    const scheduled = parseFlag(read('x-scheduled', 'scheduled', 'sched'), false);
    const subscription: Subscription = {
      topics,
      topicList,
      format,
      filter: parseFilter(read),
      identity,
      fileRewrite: findFileRewrite(request.request),
    };
    return {
      subscription,
      polling: isPoll,
      quiet: since.from === 'none' && !scheduled,
      history: (upTo) =>
        readHistory(delivery.messages, delivery.delayedStore, {
          topics,
          since,
          scheduled,
          upTo,
          now: Math.floor(clock.now() / 1000),
        }),
    };
  }

  /** Reserves a stream until its connection closes. */
  #reserveStream(request: RequestContext): Disposable {
    const { settings, streams, visitors } = this.#dependencies;
    if (streams.subscribers.size >= settings.maxSubscribers) throw refuse('too_many_subscribers');
    return visitors.limits.subscription(request);
  }

  #recordPoll(request: RequestContext, { subscription }: ParsedSubscription): void {
    const device = findNetworkDevice(request, 'poll');
    if (device !== undefined) this.#dependencies.streams.devices.record(device, subscription.topics);
  }

  #recordStream(request: RequestContext, topics: readonly string[], stream: Writable): void {
    const device = findNetworkDevice(request, 'stream');
    if (device === undefined) return;
    const connection = this.#dependencies.streams.devices.connect(device, topics);
    stream.once('close', () => connection[Symbol.dispose]());
  }

  async #stream(
    request: RequestContext,
    { subscription, quiet: skipsHistory, history }: ParsedSubscription,
    outlet: Outlet,
  ): Promise<void> {
    const { context, cut, streams } = this.#dependencies;
    const subscriber = new Subscriber(subscription, outlet, () => cut.inc());
    // Registered before history is read: messages published in between are queued, and dropped when the history
    // contains them.
    const registration = streams.subscribers.add(subscriber);
    outlet.stream.once('close', () => registration[Symbol.dispose]());
    // The client may have lost its permission or disconnected during the handshake.
    if (!this.#mayRead(subscription.identity, subscription.topics)) subscriber.end();
    if (outlet.stream.closed) registration[Symbol.dispose]();
    else this.#recordStream(request, subscription.topics, outlet.stream);
    subscriber.write(buildStreamEvent('open', subscription.topicList, context));
    if (skipsHistory) return;
    subscriber.startQueue();
    const upTo = await streams.liveFeed.top();
    await subscriber.replay(history(upTo), context.clock);
    subscriber.release(upTo);
  }
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
