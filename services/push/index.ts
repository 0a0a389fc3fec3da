import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { accountsChanged } from '../contracts/control/accounts.ts';
import { Problem } from '../contracts/problem.ts';
import { pushOffered, pushPublished, pushStored, pushRetracted } from '../contracts/push/topics.ts';
import { defineService, type Context, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { openAccess } from './access/access.ts';
import { removeExpiredMessages } from './retention/remove-expired.ts';
import { openDelivery, seconds } from './publish/delivery.ts';
import { parseDuration } from './domain/duration.ts';
import { openEmails } from './publish/emails.ts';
import { isTopic } from './domain/topics.ts';
import { getHealth } from './metrics/health.ts';
import { manifest } from './manifest.ts';
import { ActiveTopics } from './topics/active-topics.ts';
import { Limits } from './access/limits.ts';
import type { Envelope } from './subscribe/envelope.ts';
import { createFileAddressRewrite, type FileAddressRewrite } from './subscribe/file-addresses.ts';
import { Subscribers } from './subscribe/subscribers.ts';
import { createPushMetrics } from './metrics/metrics.ts';
import { receiveOffers } from './publish/receive-offers.ts';
import { registerNtfyMetrics } from './metrics/ntfy-metrics.ts';
import { createPortable } from './import/portable.ts';
import { serverInfoRoutes } from './ntfy-api/server-info.ts';
import { pushHandlers } from './app-api/api.ts';
import { openQuietHours } from './quiet/quiet-hours.ts';
import { openRecurring } from './recurring/recurring.ts';
import { toProblem, pushListener, readRequest } from './ntfy-api/listener.ts';
import { createNonTopicRoutes } from './ntfy-api/non-topic-routes.ts';
import { redirectBrowsers } from './ntfy-api/browser-redirect.ts';
import { delayedHandlers } from './app-api/delayed.ts';
import { publishRoutes } from './ntfy-api/publish.ts';
import { retentionHandlers } from './app-api/retention.ts';
import { searchHandlers } from './app-api/search.ts';
import { buildStreamEvent, subscribeRoutes } from './ntfy-api/subscribe.ts';
import { pongTimeoutMs, webSocketListener } from './ntfy-api/web-socket.ts';
import { SubscriberRateLimits } from './access/subscriber-rate-limits.ts';
import { Search } from './search/search.ts';
import { Activity } from '../kit/activity.ts';
import { createLiveSettings } from '../kit/live-settings.ts';
import type { Settings } from './settings.ts';
import { Statistics } from './metrics/statistics.ts';
import { StoredTotal } from './metrics/stored-total.ts';
import { createPushAccountData } from './store/account-data.ts';
import { MessageStore } from './store/messages.ts';
import { SyncTopics, withSyncTopics } from './access/sync-topics.ts';
import { importNtfy } from './import/ntfy.ts';
import { findTemplate } from './publish/templates.ts';
import { TopicCounts } from './topics/topic-counts.ts';
import { openWebPush } from './web-push/web-push.ts';
import { createReceiverAddresses } from './web-push/receiver-addresses.ts';

/** Push service: delivers published messages to subscribers of a topic, compatible with ntfy. */
export const push = defineService({
  ...manifest,
  create,
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

function create(context: Context, initialSettings: Settings): Service {
  const live = createLiveSettings(initialSettings, () => {
    limits.reconfigure();
    // Updated in place, because routes hold references to these collections.
    reserved.clear();
    for (const topic of settings.reservedTopics) reserved.add(topic);
    webPushHosts.splice(0, webPushHosts.length, ...settings.webPushHosts);
    rearmKeepAlive();
    return webPush.reconfigure();
  });
  const settings = live.current;
  const { clock, log, random } = context;
  const syncTopics = new SyncTopics();
  const accounts = withSyncTopics(context.accounts, syncTopics);
  const limits = new Limits(clock, settings);
  const subscriberRateLimits = new SubscriberRateLimits(
    clock,
    () => settings.subscriberRateLimiting,
    (identity, topic) => (settings.unifiedPush ? true : accounts.may(identity, 'push', 'write', topic)),
  );
  const topics = new ActiveTopics(clock, limits, () => settings.totalTopicLimit);
  const resources = new DisposableStack();
  const store = new MessageStore(context.db);
  const subscribers = new Subscribers(accounts, log);
  const statistics = new Statistics(clock);
  const storedTotal = new StoredTotal(context, store, statistics);
  const counts = new TopicCounts(context);
  const metrics = createPushMetrics(context.metrics, store, subscribers);
  const reserved = new Set(settings.reservedTopics);
  const webPushHosts = [...settings.webPushHosts];
  const { appPages: pages } = context;
  const fanOut = (envelopes: readonly Envelope[]): Promise<void> => {
    statistics.add(envelopes.length);
    storedTotal.advance(envelopes);
    counts.add(envelopes);
    metrics.published.inc({}, envelopes.length);
    for (const envelope of envelopes) {
      subscribers.deliver(envelope);
    }
    return subscribers.waitForCapacity();
  };
  // A configured base address applies to all clients.
  const receiverAddresses = createReceiverAddresses({
    storedBase: () => (settings.baseUrl === '' ? context.address('push') : undefined),
    sharedBase: () => pages.serviceForMessages('push'),
  });
  const quietHours = openQuietHours({ ...context, accounts }, receiverAddresses);
  const webPush = openWebPush({
    context: { ...context, accounts },
    enabled: () => settings.webPush,
    contact: () => settings.webPushContact,
    receiverAddresses,
    allowedHosts: webPushHosts,
    reserved,
    keptSeconds: () => delivery.cacheSeconds(),
    quiet: quietHours,
    onDelivered: (topic, successful) => counts.countDelivery(topic, successful),
  });
  const search = new Search(context);
  const emails = openEmails({ context, settings, baseUrl: () => settings.baseUrl || pages.serviceForMessages('push') });
  const sendsMail = emails.enabled;
  const writeHooks = [webPush.store, search.store, emails.store];
  const delivery = openDelivery({
    context,
    settings,
    messages: store,
    writeHooks,
    removeFromSearch: (...args) => search.remove(...args),
    onPublished: fanOut,
  });
  const { publisher, writeMessages, attachments, baseUrl, cacheSeconds } = delivery;

  const serverInfo = serverInfoRoutes({
    statistics,
    reservedTopics: () => settings.reservedTopics,
    signUp: () => settings.enableSignup,
    sendsMail,
    webPushKey: webPush.publicKey,
    healthy: () => publisher.healthy,
    pages,
  });
  const messageSizeLimit = (): number => settings.messageSizeLimit;
  const maxDelaySeconds = (): number => seconds(settings.messageDelayLimit);
  const recurring = openRecurring({
    context,
    messages: store,
    publisher,
    writeMessages,
    reserved,
    messageSizeLimit,
    onChanged: delivery.notifyDelayedChanged,
  });
  // A configured base address applies to all clients.
  const findFileRewrite = (request: IncomingMessage): FileAddressRewrite | undefined =>
    settings.baseUrl === '' ? createFileAddressRewrite(baseUrl(), context.publicUrl(request)) : undefined;
  const publish = publishRoutes({
    findFileRewrite,
    publisher,
    attachments,
    sendsMail,
    findTemplate: (name) => findTemplate(join(context.files, 'templates'), name),
    accounts,
    random,
    reserved,
    messageSizeLimit,
    maxDelaySeconds,
    unifiedPush: () => settings.unifiedPush,
    commitSeconds: metrics.commitSeconds,
    clock,
    limits,
    topics,
    subscriberRateLimits,
  });
  const nonTopicRoutes = createNonTopicRoutes({
    publish,
    attachments,
    baseUrl,
    messageSizeLimit,
    limits,
    subscriberRateLimits,
  });
  const subscribe = subscribeRoutes({
    findFileRewrite,
    context: { accounts, clock, random },
    store,
    delayedMessages: delivery.delayedStore,
    subscribers,
    reserved,
    bounds: settings,
    cut: metrics.cut,
    limits,
    topics,
    subscriberRateLimits,
  });
  const ntfyMetrics = registerNtfyMetrics(context, {
    store,
    subscribers,
    limits,
    topics,
    published: () => statistics.total,
  });
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
  const listenerDependencies = {
    context,
    api: { ...access.routes, ...webPush.routes },
    limits,
    subscriberRateLimits,
    behindProxy: () => settings.behindProxy,
    refused: metrics.refused,
  };

  const saveTotal = async (): Promise<void> => {
    if (await storedTotal.save({ force: !publisher.healthy })) publisher.markHealthy();
  };
  const runMinutely = async (): Promise<void> => {
    statistics.sample();
    // Saved first, because deleted messages can no longer be counted.
    await saveTotal();
    await counts.save();
    await delivery.retention.upkeep();
    await removeExpiredMessages(context, store, search, delivery.inboxCursor);
    await delivery.runMinutely();
    await recurring.runMinutely();
    await webPush.upkeep();
    await quietHours.upkeep();
    limits.removeInactive();
    topics.removeIdle((topic) => subscribers.hasSubscribers(topic));
  };
  const logUpkeepFailure = (error: unknown): void => log.error('upkeep failed', { error });
  const keepAlive = (): void => {
    // The expiry of a token is not announced as an account change.
    subscribers.recheck();
    void subscribers
      .keepAlive(({ subscription }) => buildStreamEvent('keepalive', subscription.topicList, context))
      .catch(logUpkeepFailure);
    clock.after(pongTimeoutMs, () => subscribers.checkPongs());
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
    http: redirectBrowsers(
      pushListener({
        ...listenerDependencies,
        publish,
        subscribe,
        serverInfo,
        findNonTopicRoute: nonTopicRoutes,
        pages,
        reserved,
        onServed: ntfyMetrics.countRequest,
      }),
      {
        pages,
        isPage: (path) =>
          path === '/' || (!serverInfo.has(path) && isTopic(path.slice(1)) && !reserved.has(path.slice(1))),
      },
    ),
    upgrade: webSocketListener({
      subscribe,
      async readRequest(request) {
        const read = await readRequest(listenerDependencies, request);
        limits.request(read.requestContext);
        return read;
      },
      toProblem: (error) => toProblem(listenerDependencies, error),
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
        maxDelaySeconds,
        statistics,
        subscribers,
        counts,
      }),
      ...delayedHandlers({ delayedMessages: delivery.delayedMessages, clock, maxDelaySeconds }),
      ...recurring.handlers,
      ...searchHandlers(search),
      ...retentionHandlers({ context, retention: delivery.retention, defaultSeconds: cacheSeconds }),
      ...webPush.handlers,
      ...quietHours.handlers,
    ],
    portable: createPortable(context),
    importData(program, folder) {
      if (program === 'ntfy')
        return importNtfy({ context, messages: store, keepInInbox: settings.keepInInbox }, folder);
      throw new Problem('push.unknown_program', 404, `Push takes over from ntfy only, not from ${program}.`);
    },

    async start() {
      await counts.resume();
      await storedTotal.resume(await counts.today());
      topics.resume(await store.topics());
      resources.use(await access.start());
      resources.use(await webPush.start());
      resources.use(await quietHours.start());
      resources.use(
        context.handovers.receive(
          pushOffered,
          receiveOffers({ context, publisher, attachments, reserved, messageSizeLimit }),
        ),
      );
      resources.use(await delivery.start());
      resources.use(emails.start());
      resources.use(await recurring.start());
      const activity = resources.use(new Activity(context, pushStored));
      resources.use(context.bus.subscribe(pushPublished, activity.touch));
      resources.use(context.bus.subscribe(pushRetracted, activity.touch));
      resources.use(context.bus.subscribe(accountsChanged, ({ account }) => subscribers.recheck(account)));
      startKeepAlive();
      resources.defer(() => keepAliveTimer?.[Symbol.dispose]());
      resources.use(clock.every(minuteMs, () => void runMinutely().catch(logUpkeepFailure)));
      resources.use(clock.every(hourMs, () => void delivery.runHourly().catch(logUpkeepFailure)));
    },

    health(): Promise<Health> {
      return Promise.resolve(getHealth(publisher.healthy, statistics, subscribers.size));
    },

    reconfigure: live.update,

    async [Symbol.asyncDispose]() {
      resources.dispose();
      await recurring[Symbol.asyncDispose]();
      await delivery[Symbol.asyncDispose]();
      await quietHours[Symbol.asyncDispose]();
      subscribers.endAll();
      await saveTotal();
      await counts.save();
    },
  };
}
