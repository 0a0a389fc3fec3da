import type { Context, Counter } from '../../contracts/service.ts';
import { parseFilter } from '../domain/filter.ts';
import type { Event } from '../domain/message.ts';
import { flag } from '../domain/parameters.ts';
import { refuse } from '../domain/refusals.ts';
import { parseSince, type Since } from '../domain/since.ts';
import { requireTopic } from '../domain/topics.ts';
import { readHistory } from '../history.ts';
import type { KnownTopics } from '../known-topics.ts';
import type { Limits } from '../limits.ts';
import { seal, type Envelope, type Format } from '../live/envelope.ts';
import { Subscriber, writeHistory, type Subscription } from '../live/subscriber.ts';
import type { Subscribers } from '../live/subscribers.ts';
import type { MessageStore } from '../store/messages.ts';
import { answerValue, crossOrigin, type Exchange } from './exchange.ts';

const contentTypes: Readonly<Record<Format, string>> = {
  json: 'application/x-ndjson; charset=utf-8',
  sse: 'text/event-stream; charset=utf-8',
  raw: 'text/plain; charset=utf-8',
};

export interface SubscribeParts {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'random'>;
  readonly store: MessageStore;
  readonly subscribers: Subscribers;
  readonly reserved: ReadonlySet<string>;
  readonly maxTopics: number;
  readonly maxSubscribers: number;
  /** Counts streams that were cut off because they were not read. */
  readonly cut: Counter;
  readonly limits: Pick<Limits, 'subscription'>;
  readonly topics: Pick<KnownTopics, 'use'>;
}

/** The routes that read. `asked` is the path's comma list of topics. */
export interface SubscribeRoutes {
  /** GET `/<topics>/json|sse|raw`, a stream or with `poll=1` what is cached. */
  read(exchange: Exchange, asked: string, format: Format): Promise<void>;
  /** GET `/<topics>/auth`. */
  check(exchange: Exchange, asked: string): void;
  /** GET `/<topics>/ws` without an upgrade. */
  refuseWebSocket(exchange: Exchange, asked: string): never;
}

/** An event that is about the stream itself. */
export function sign(event: Event, asked: string, { clock, random }: Pick<Context, 'clock' | 'random'>): Envelope {
  return seal({ id: random.text(12), time: Math.floor(clock.now() / 1000), event, topic: asked });
}

export function subscribeRoutes(parts: SubscribeParts): SubscribeRoutes {
  const { context, store, subscribers, reserved } = parts;
  const { accounts, clock } = context;

  const allow = (exchange: Exchange, asked: string): string[] => {
    const { identity } = exchange;
    const topics = [...new Set(asked.split(','))];
    if (topics.length > parts.maxTopics) throw refuse('invalid', `more than ${String(parts.maxTopics)} topics`);
    for (const topic of topics) requireTopic(topic, reserved);
    if (!topics.every((topic) => accounts.may(identity, 'push', 'read', topic))) throw refuse('forbidden');
    parts.topics.use(exchange, topics);
    return topics;
  };

  const history = (topics: readonly string[], since: Since, upTo: number) =>
    readHistory(store, { topics, since, upTo, now: Math.floor(clock.now() / 1000) });

  const poll = async ({ response }: Exchange, subscription: Subscription, since: Since): Promise<void> => {
    const pages = history(subscription.topics, since, await store.top());
    // Not writeHead: an empty answer then says so in its length, as the peer's does.
    response.setHeaders(new Map(Object.entries(headersOf(subscription.format))));
    await writeHistory(response, pages, subscription);
    response.end();
  };

  const stream = async (exchange: Exchange, subscription: Subscription, since: Since): Promise<void> => {
    const { response } = exchange;
    if (subscribers.size >= parts.maxSubscribers) throw refuse('too_many_subscribers');
    const place = parts.limits.subscription(exchange);
    response.once('close', () => place[Symbol.dispose]());
    const subscriber = new Subscriber(subscription, response, () => parts.cut.inc());
    // Before history is read: what is published in between is held, and dropped again where history has it.
    const registration = subscribers.add(subscriber);
    response.once('close', () => registration[Symbol.dispose]());
    response.writeHead(200, { ...headersOf(subscription.format), 'Cache-Control': 'no-cache' });
    subscriber.tell(sign('open', subscription.asked, context));
    if (since.from === 'none') return;
    subscriber.hold();
    const upTo = await store.top();
    await subscriber.replay(history(subscription.topics, since, upTo));
    subscriber.release(upTo);
  };

  return {
    async read(exchange, asked, format) {
      const { read, identity } = exchange;
      const topics = allow(exchange, asked);
      const polling = flag(read('x-poll', 'poll', 'po'), false);
      const since = parseSince(read('x-since', 'since', 'si'), polling, clock.now());
      const subscription = { topics, asked, format, filter: parseFilter(read), identity };
      await (polling ? poll : stream)(exchange, subscription, since);
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

function headersOf(format: Format): Record<string, string> {
  return { ...crossOrigin, 'Content-Type': contentTypes[format] };
}
