import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { accountsChanged } from '../contracts/control/accounts.ts';
import { Problem } from '../contracts/problem.ts';
import { pushOffered, pushPublished, pushStored, pushTakenBack } from '../contracts/push/topics.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { openAccess } from './access/access.ts';
import { removeExpiredMessages } from './retention/remove-expired.ts';
import { openDelivery, seconds } from './publish/delivery.ts';
import { parseDuration } from './domain/duration.ts';
import { openEmails } from './publish/emails.ts';
import { isTopic } from './domain/topics.ts';
import { healthOf } from './metrics/health.ts';
import { manifest } from './manifest.ts';
import { ActiveTopics } from './topics/active-topics.ts';
import { Limits } from './access/limits.ts';
import type { Envelope } from './subscribe/envelope.ts';
import { outsideOf, type Outside } from './subscribe/file-addresses.ts';
import { Subscribers } from './subscribe/subscribers.ts';
import { createPushMetrics } from './metrics/metrics.ts';
import { receiveOffers } from './publish/receive-offers.ts';
import { measureAsPeer } from './metrics/ntfy-metrics.ts';
import { createPortable } from './import/portable.ts';
import { aboutRoutes } from './ntfy-api/server-info.ts';
import { pushHandlers } from './app-api/api.ts';
import { openQuiet } from './quiet/quiet-hours.ts';
import { openRecurring } from './recurring/recurring.ts';
import { problemOf, pushListener, readRequest } from './ntfy-api/listener.ts';
import { otherRoutes } from './ntfy-api/non-topic-routes.ts';
import { leadBrowsers } from './ntfy-api/browser-redirect.ts';
import { delayedHandlers } from './app-api/delayed.ts';
import { publishRoutes } from './ntfy-api/publish.ts';
import { retentionHandlers } from './app-api/retention.ts';
import { searchHandlers } from './app-api/search.ts';
import { sign, subscribeRoutes } from './ntfy-api/subscribe.ts';
import { longestSilence, webSocketListener } from './ntfy-api/web-socket.ts';
import { RateVisitors } from './access/subscriber-rate-limits.ts';
import { Search } from './search/search.ts';
import { Activity } from '../kit/activity.ts';
import { liveSettings } from '../kit/live-settings.ts';
import type { Settings } from './settings.ts';
import { Statistics } from './metrics/statistics.ts';
import { StoredTotal } from './metrics/stored-total.ts';
import { createPushAccountData } from './store/account-data.ts';
import { MessageStore } from './store/messages.ts';
import { SyncTopics, withSyncTopics } from './access/sync-topics.ts';
import { takeOverNtfy } from './import/ntfy.ts';
import { findTemplate } from './publish/templates.ts';
import { TopicCounts } from './topics/topic-counts.ts';
import { openWebPush } from './web-push/web-push.ts';

/** The push server: publish to a topic, and everyone who listens to it gets the message. Answers like ntfy. */
export const push = defineService({
  ...manifest,
  create,
});

const minute = 60_000;
const hour = 60 * minute;

function create(context: Context, given: Settings): Service {
  const live = liveSettings(given, () => {
    limits.reconfigure();
    // Whoever was given these reads them at each request.
    reserved.clear();
    for (const topic of settings.reservedTopics) reserved.add(topic);
    webPushHosts.splice(0, webPushHosts.length, ...settings.webPushHosts);
    rearmKeepAlive();
  });
  const settings = live.current;
  const { clock, log, random } = context;
  const syncTopics = new SyncTopics();
  const accounts = withSyncTopics(context.accounts, syncTopics);
  const limits = new Limits(clock, settings);
  const rates = new RateVisitors(
    clock,
    () => settings.subscriberRateLimiting,
    (identity, topic) => (settings.unifiedPush ? true : accounts.may(identity, 'push', 'write', topic)),
  );
  const topics = new ActiveTopics(clock, limits, () => settings.totalTopicLimit);
  const open = new DisposableStack();
  const store = new MessageStore(context.db);
  const subscribers = new Subscribers(accounts, log);
  const statistics = new Statistics(clock);
  const total = new StoredTotal(context, store, statistics);
  const counts = new TopicCounts(context);
  const metrics = createPushMetrics(context.metrics, store, subscribers);
  const reserved = new Set(settings.reservedTopics);
  const webPushHosts = [...settings.webPushHosts];
  const { appPages: pages } = context;
  const spread = (envelopes: readonly Envelope[]): Promise<void> => {
    statistics.add(envelopes.length);
    total.counted(envelopes);
    counts.add(envelopes);
    metrics.published.inc({}, envelopes.length);
    for (const envelope of envelopes) {
      subscribers.deliver(envelope);
    }
    return subscribers.room();
  };
  const quiet = openQuiet({ ...context, accounts });
  const webPush = openWebPush({
    context: { ...context, accounts },
    enabled: settings.webPush,
    contact: () => settings.webPushContact,
    allowed: webPushHosts,
    reserved,
    keptSeconds: () => delivery.cacheSeconds(),
    quiet,
    told: (topic, done) => counts.countDelivery(topic, done),
  });
  const search = new Search(context);
  const emails = openEmails({ context, settings, baseUrl: () => settings.baseUrl || context.address('push') });
  const sendsMail = emails.enabled;
  const also = [webPush.store, search.store, emails.store];
  const delivery = openDelivery({
    context,
    settings,
    messages: store,
    also,
    forget: (...gone) => search.remove(...gone),
    onPublished: spread,
  });
  const { publisher, record, attachments, baseUrl, cacheSeconds } = delivery;

  const about = aboutRoutes({
    statistics,
    reservedTopics: () => settings.reservedTopics,
    signUp: () => settings.enableSignup,
    sendsMail,
    webPushKey: webPush.publicKey,
    healthy: () => publisher.healthy,
    pages,
  });
  const messageSizeLimit = (): number => settings.messageSizeLimit;
  const longestDelay = (): number => seconds(settings.messageDelayLimit);
  const recurring = openRecurring({
    ...{ context, messages: store, publisher, record, reserved, messageSizeLimit, changed: delivery.plansChanged },
  });
  // A base address that the owner chose is right for everybody.
  const outside = (request: IncomingMessage): Outside | undefined =>
    settings.baseUrl === '' ? outsideOf(baseUrl(), context.publicUrl(request)) : undefined;
  const publish = publishRoutes({
    outside,
    publisher,
    attachments,
    sendsMail,
    findTemplate: (asked) => findTemplate(join(context.files, 'templates'), asked),
    accounts,
    random,
    reserved,
    messageSizeLimit,
    longestDelay,
    unifiedPush: () => settings.unifiedPush,
    took: metrics.took,
    clock,
    limits,
    topics,
    rates,
  });
  const others = otherRoutes({ publish, attachments, baseUrl, messageSizeLimit, limits, rates });
  const subscribe = subscribeRoutes({
    outside,
    context: { accounts, clock, random },
    store,
    schedule: delivery.waiting,
    subscribers,
    reserved,
    bounds: settings,
    cut: metrics.cut,
    limits,
    topics,
    rates,
  });
  const peerMetrics = measureAsPeer(context, { store, subscribers, limits, topics, published: () => statistics.total });
  const access = openAccess({
    context: { ...context, accounts },
    limits,
    syncTopics,
    publish: (draft) => publisher.publish(draft),
    signUp: () => settings.enableSignup,
    reserved,
    cacheSeconds,
    sendsMail,
    attachments,
  });
  const listening = {
    context,
    api: { ...access.routes, ...webPush.routes },
    limits,
    rates,
    behindProxy: () => settings.behindProxy,
    refused: metrics.refused,
  };

  const saveTotal = async (): Promise<void> => {
    if (await total.save({ anyway: !publisher.healthy })) publisher.recovered();
  };
  const eachMinute = async (): Promise<void> => {
    statistics.sample();
    // First: what is removed can no longer be counted.
    await saveTotal();
    await counts.save();
    await delivery.retention.upkeep();
    await removeExpiredMessages(context, store, search, delivery.taken);
    await delivery.eachMinute();
    await recurring.eachMinute();
    await webPush.upkeep();
    await quiet.upkeep();
    limits.forget();
    topics.removeIdle((topic) => subscribers.listening(topic));
  };
  const complain = (error: unknown): void => log.error('upkeep failed', { error });
  const keepAlive = (): void => {
    // A token that expires is no change of an account.
    subscribers.recheck();
    void subscribers.keepAlive(({ subscription }) => sign('keepalive', subscription.asked, context)).catch(complain);
    clock.after(longestSilence, () => subscribers.checkLife());
  };
  let keepAliveTimer: Disposable | undefined;
  let keepAliveInterval = '';
  const rearmKeepAlive = (): void => {
    if (keepAliveTimer === undefined || keepAliveInterval === settings.keepaliveInterval) return;
    startKeepAlive();
  };
  const startKeepAlive = (): void => {
    keepAliveTimer?.[Symbol.dispose]();
    keepAliveInterval = settings.keepaliveInterval;
    keepAliveTimer = clock.every(parseDuration(keepAliveInterval) ?? 45_000, keepAlive);
  };

  return {
    http: leadBrowsers(
      pushListener({ ...listening, publish, subscribe, about, others, pages, reserved, served: peerMetrics.served }),
      {
        pages,
        isPage: (path) => path === '/' || (!about.has(path) && isTopic(path.slice(1)) && !reserved.has(path.slice(1))),
      },
    ),
    upgrade: webSocketListener({
      subscribe,
      async asks(request) {
        const read = await readRequest(listening, request);
        limits.request(read.asked);
        return read;
      },
      fail: (error) => problemOf(listening, error),
      clock,
    }),
    accountData: createPushAccountData(context),
    api: [
      ...pushHandlers({
        context,
        publisher,
        attachments,
        limits,
        reserved,
        messageSizeLimit,
        longestDelay,
        statistics,
        subscribers,
        counts,
      }),
      ...delayedHandlers({ planned: delivery.planned, clock, longestDelay }),
      ...recurring.handlers,
      ...searchHandlers(search),
      ...retentionHandlers({ context, retention: delivery.retention, otherwise: cacheSeconds }),
      ...webPush.handlers,
      ...quiet.handlers,
    ],
    portable: createPortable(context),
    takeOver(program, folder) {
      if (program === 'ntfy')
        return takeOverNtfy({ context, messages: store, keepInInbox: settings.keepInInbox }, folder);
      throw new Problem('push.unknown_program', 404, `Push takes over from ntfy only, not from ${program}.`);
    },

    async start() {
      await counts.resume();
      await total.resume(await counts.today());
      topics.resume(await store.topics());
      open.use(await access.start());
      open.use(await webPush.start());
      open.use(await quiet.start());
      open.use(
        context.handovers.receive(
          pushOffered,
          receiveOffers({ context, publisher, attachments, reserved, messageSizeLimit }),
        ),
      );
      open.use(await delivery.start());
      open.use(emails.start());
      open.use(await recurring.start());
      const activity = open.use(new Activity(context, pushStored));
      open.use(context.bus.subscribe(pushPublished, activity.touch));
      open.use(context.bus.subscribe(pushTakenBack, activity.touch));
      open.use(context.bus.subscribe(accountsChanged, ({ account }) => subscribers.recheck(account)));
      startKeepAlive();
      open.defer(() => keepAliveTimer?.[Symbol.dispose]());
      open.use(clock.every(minute, () => void eachMinute().catch(complain)));
      open.use(clock.every(hour, () => void delivery.eachHour().catch(complain)));
    },

    health(): Promise<Health> {
      return Promise.resolve(healthOf(publisher.healthy, statistics, subscribers.size));
    },

    reconfigure: live.take,

    async [Symbol.asyncDispose]() {
      open.dispose();
      await recurring[Symbol.asyncDispose]();
      await delivery[Symbol.asyncDispose]();
      await quiet[Symbol.asyncDispose]();
      subscribers.endAll();
      await saveTotal();
      await counts.save();
    },
  };
}
