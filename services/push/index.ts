import { join } from 'node:path';
import { accountsChanged } from '../contracts/accounts.ts';
import { pushOffered, type PushOffer } from '../contracts/push.ts';
import { defineService, type Context, type Health, type Service } from '../contracts/service.ts';
import { removeExpiredMessages } from './cleaning.ts';
import { openDelivery, seconds } from './delivery.ts';
import { parseDuration } from './domain/duration.ts';
import { draftOf } from './domain/offer.ts';
import { requireTopic } from './domain/topics.ts';
import type { Envelope } from './live/envelope.ts';
import { Subscribers } from './live/subscribers.ts';
import { measure } from './measure.ts';
import { aboutRoutes } from './routes/about.ts';
import { problemOf, pushListener, readRequest } from './routes/listener.ts';
import { otherRoutes } from './routes/others.ts';
import { publishRoutes } from './routes/publish.ts';
import { sign, subscribeRoutes } from './routes/subscribe.ts';
import { longestSilence, webSocketListener } from './routes/web-socket.ts';
import { environment, Settings } from './settings.ts';
import { midnight, Statistics } from './statistics.ts';
import { MessageStore } from './store/messages.ts';
import { migrations } from './store/migrations.ts';
import { findTemplate } from './templates.ts';

/** The push server: publish to a topic, and everyone who listens to it gets the message. Answers like ntfy. */
export const push = defineService({
  id: 'push',
  title: 'Push',
  summary: 'Sends messages to phones, browsers and scripts that listen to a topic. Works with ntfy clients.',
  port: 2586,
  protocol: 'http',
  crossOrigin: 'credentialed',
  settings: Settings,
  environment,
  migrations,
  create,
});

const minute = 60_000;
const hour = 60 * minute;

function create(context: Context, settings: Settings): Service {
  const { clock, accounts, log, random } = context;
  const open = new DisposableStack();
  const store = new MessageStore(context.db);
  const subscribers = new Subscribers(accounts, log);
  const statistics = new Statistics(clock);
  const metrics = measure(context.metrics, store, subscribers);
  const reserved = new Set(settings.reservedTopics);
  const app = (): string | undefined => context.address('control');
  /** The newest message that the total counts. */
  let newest = 0;

  const spread = (envelopes: readonly Envelope[]): Promise<void> => {
    statistics.add(envelopes.length);
    metrics.published.inc({}, envelopes.length);
    for (const envelope of envelopes) {
      newest = envelope.seq ?? newest;
      subscribers.deliver(envelope);
    }
    return subscribers.room();
  };
  const delivery = openDelivery({ context, settings, messages: store, also: [], onPublished: spread });
  const { publisher, attachments, baseUrl } = delivery;

  const about = aboutRoutes({
    statistics,
    reservedTopics: settings.reservedTopics,
    healthy: () => publisher.healthy,
    app,
  });
  const { messageSizeLimit, maxTopics, maxSubscribers } = settings;
  const publish = publishRoutes({
    publisher,
    attachments,
    findTemplate: (asked) => findTemplate(join(context.files, 'templates'), asked),
    accounts,
    random,
    reserved,
    messageSizeLimit,
    longestDelay: seconds(settings.messageDelayLimit),
    unifiedPush: settings.unifiedPush,
    quota: ({ identity, request }) => ({
      sender: identity === undefined ? (request.socket.remoteAddress ?? '') : `account ${identity.account}`,
      bytes: Infinity,
    }),
    bandwidth: () => undefined,
    took: metrics.took,
    clock,
  });
  const others = otherRoutes({ publish, attachments, baseUrl, messageSizeLimit, bandwidth: () => undefined });
  const subscribe = subscribeRoutes({
    context,
    store,
    schedule: delivery.waiting,
    subscribers,
    reserved,
    maxTopics,
    maxSubscribers,
    cut: metrics.cut,
  });

  const receive = async (offer: PushOffer, key: string): Promise<void> => {
    requireTopic(offer.topic, reserved);
    await publisher.publish(draftOf(offer, messageSizeLimit), key);
  };
  /** The total is known; before that there is none to save. */
  let counted = false;
  let saved: number | undefined;
  const saveTotal = async (): Promise<void> => {
    if (!counted || (statistics.total === saved && publisher.healthy)) return;
    const { total } = statistics;
    const seq = newest;
    await context.commit((transaction) => store.saveTotal(transaction, total, seq));
    saved = total;
    publisher.recovered();
  };
  const eachMinute = async (): Promise<void> => {
    statistics.sample();
    // First: what is removed can no longer be counted.
    await saveTotal();
    await removeExpiredMessages(context, store);
    await delivery.eachMinute();
  };
  const complain = (error: unknown): void => log.error('upkeep failed', { error });

  return {
    http: pushListener({ context, publish, subscribe, about, others, app, reserved, refused: metrics.refused }),
    upgrade: webSocketListener({
      subscribe,
      asks: (request) => readRequest(context, request),
      fail: (error) => problemOf({ context, refused: metrics.refused }, error),
      clock,
    }),

    async start() {
      newest = await store.top();
      statistics.resume(await store.total(), await store.count(Math.floor(midnight(clock.now()) / 1000)));
      counted = true;
      open.use(context.handovers.receive(pushOffered, receive));
      open.use(await delivery.start());
      open.use(context.bus.subscribe(accountsChanged, ({ account }) => subscribers.recheck(account)));
      const keepAlive = (): void => {
        // A token that expires is no change of an account.
        subscribers.recheck();
        void subscribers
          .keepAlive(({ subscription }) => sign('keepalive', subscription.asked, context))
          .catch(complain);
        clock.after(longestSilence, () => subscribers.checkLife());
      };
      open.use(clock.every(parseDuration(settings.keepaliveInterval) ?? 45_000, keepAlive));
      open.use(clock.every(minute, () => void eachMinute().catch(complain)));
      open.use(clock.every(hour, () => void delivery.eachHour().catch(complain)));
    },

    health(): Promise<Health> {
      if (!publisher.healthy)
        return Promise.resolve({ state: 'degraded', detail: 'Messages cannot be stored; see the log.' });
      const { today } = statistics;
      const detail = `${String(today)} ${today === 1 ? 'message' : 'messages'} today, ${String(subscribers.size)} listening`;
      return Promise.resolve({ state: 'up', detail });
    },

    async [Symbol.asyncDispose]() {
      open.dispose();
      await delivery[Symbol.asyncDispose]();
      subscribers.endAll();
      await saveTotal();
    },
  };
}
