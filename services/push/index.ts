import type { IncomingMessage, RequestListener } from 'node:http';
import { join } from 'node:path';
import type { ApiHandler } from '../contracts/api.ts';
import type { AccountData } from '../contracts/control/account-data.ts';
import { accountsChanged, type Accounts } from '../contracts/control/accounts.ts';
import type { UpgradeListener } from '../contracts/listeners.ts';
import { Problem } from '../contracts/problem.ts';
import { pushOffered, pushPublished, pushStored, pushRetracted } from '../contracts/push/topics.ts';
import { defineService, type Context, type ImportResult, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { openAccess, type Access } from './access/access.ts';
import { removeExpiredMessages } from './retention/remove-expired.ts';
import { Delivery, seconds } from './publish/delivery.ts';
import { openEmails, type Emails } from './publish/emails.ts';
import { isTopic } from './domain/topics.ts';
import { getHealth } from './metrics/health.ts';
import { manifest } from './manifest.ts';
import { ActiveTopics } from './topics/active-topics.ts';
import { Limits } from './access/limits.ts';
import type { Envelope } from './subscribe/envelope.ts';
import { createFileAddressRewrite, type FileAddressRewrite } from './subscribe/file-addresses.ts';
import { KeepAlive } from './subscribe/keep-alive.ts';
import { Subscribers } from './subscribe/subscribers.ts';
import { createPushMetrics, type PushMetrics } from './metrics/metrics.ts';
import { receiveOffers } from './publish/receive-offers.ts';
import { registerNtfyMetrics } from './metrics/ntfy-metrics.ts';
import { createPortable } from './import/portable.ts';
import { serverInfoRoutes } from './ntfy-api/server-info.ts';
import { pushHandlers } from './app-api/api.ts';
import { QuietHours } from './quiet/quiet-hours.ts';
import { openRecurring, type Recurring } from './recurring/recurring.ts';
import { toProblem, pushListener, readRequest, type ListenerDependencies } from './ntfy-api/listener.ts';
import { createNonTopicRoutes } from './ntfy-api/non-topic-routes.ts';
import { redirectBrowsers } from './ntfy-api/browser-redirect.ts';
import { delayedHandlers } from './app-api/delayed.ts';
import { PublishRoutes } from './ntfy-api/publish.ts';
import { retentionHandlers } from './app-api/retention.ts';
import { searchHandlers } from './app-api/search.ts';
import { SubscribeRoutes } from './ntfy-api/subscribe.ts';
import { webSocketListener } from './ntfy-api/web-socket.ts';
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
import { WebPush } from './web-push/web-push.ts';
import { createReceiverAddresses, type ReceiverAddresses } from './web-push/receiver-addresses.ts';

/** Push service: delivers published messages to subscribers of a topic, compatible with ntfy. */
export const push = defineService({
  ...manifest,
  create: (context, settings) => new PushService(context, settings),
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Dependencies that requests and upgrades of the ntfy listener share. */
type RequestDependencies = Pick<
  ListenerDependencies,
  'context' | 'api' | 'limits' | 'subscriberRateLimits' | 'behindProxy' | 'refused'
>;

class PushService implements Service {
  readonly http: RequestListener;
  readonly upgrade: UpgradeListener;
  readonly api: readonly ApiHandler[];
  readonly accountData: AccountData;
  readonly portable: NonNullable<Service['portable']>;
  readonly importData: NonNullable<Service['importData']>;
  readonly reconfigure: (settings: unknown) => Promise<void>;
  readonly #context: Context;
  readonly #accounts: Accounts;
  readonly #settings: Readonly<Settings>;
  readonly #resources = new DisposableStack();
  readonly #limits: Limits;
  readonly #subscriberRateLimits: SubscriberRateLimits;
  readonly #topics: ActiveTopics;
  readonly #store: MessageStore;
  readonly #subscribers: Subscribers;
  readonly #statistics: Statistics;
  readonly #storedTotal: StoredTotal;
  readonly #counts: TopicCounts;
  readonly #metrics: PushMetrics;
  readonly #reserved: Set<string>;
  readonly #webPushHosts: string[];
  readonly #quietHours: QuietHours;
  readonly #webPush: WebPush;
  readonly #search: Search;
  readonly #emails: Emails;
  readonly #delivery: Delivery;
  readonly #recurring: Recurring;
  readonly #keepAlive: KeepAlive;
  readonly #access: Access;

  constructor(context: Context, initialSettings: Settings) {
    const { clock, log } = context;
    const live = createLiveSettings(initialSettings, () => this.#applySettings());
    const settings = live.current;
    const syncTopics = new SyncTopics();
    this.#context = context;
    this.#accounts = withSyncTopics(context.accounts, syncTopics);
    this.#settings = settings;
    this.#limits = new Limits(clock, settings);
    this.#subscriberRateLimits = this.#createSubscriberRateLimits();
    this.#topics = new ActiveTopics(clock, this.#limits, () => settings.totalTopicLimit);
    this.#store = new MessageStore(context.db);
    this.#subscribers = new Subscribers(this.#accounts, log);
    this.#statistics = new Statistics(clock);
    this.#storedTotal = new StoredTotal(context, this.#store, this.#statistics);
    this.#counts = new TopicCounts(context);
    this.#metrics = createPushMetrics(context.metrics, this.#store, this.#subscribers);
    this.#reserved = new Set(settings.reservedTopics);
    this.#webPushHosts = [...settings.webPushHosts];
    const receiverAddresses = this.#createReceiverAddresses();
    this.#quietHours = new QuietHours({ ...context, accounts: this.#accounts }, receiverAddresses);
    this.#webPush = this.#createWebPush(receiverAddresses);
    this.#search = new Search(context);
    this.#emails = openEmails({
      context,
      settings,
      baseUrl: () => settings.baseUrl || context.appPages.serviceForMessages('push'),
    });
    this.#delivery = this.#createDelivery();
    this.#recurring = this.#createRecurring();
    this.#keepAlive = new KeepAlive(context, this.#subscribers, () => settings.keepaliveInterval);
    const publish = this.#createPublishRoutes();
    const subscribe = this.#createSubscribeRoutes();
    this.#access = this.#createAccess(syncTopics);
    const requestDependencies = this.#getRequestDependencies();
    this.http = this.#createListener(requestDependencies, publish, subscribe);
    this.upgrade = this.#createUpgradeListener(requestDependencies, subscribe);
    this.api = this.#createHandlers();
    this.accountData = createPushAccountData(context);
    this.portable = createPortable(context);
    this.importData = (program, folder) => this.#import(program, folder);
    this.reconfigure = live.update;
  }

  async start(): Promise<void> {
    const { bus, clock, handovers } = this.#context;
    await this.#counts.resume();
    await this.#storedTotal.resume(await this.#counts.today());
    this.#topics.resume(await this.#store.topics());
    await this.#access.start();
    this.#resources.use(await this.#webPush.start());
    this.#resources.use(await this.#quietHours.start());
    this.#resources.use(handovers.receive(pushOffered, this.#createOfferReceiver()));
    this.#resources.use(await this.#delivery.start());
    this.#resources.use(this.#emails.start());
    this.#resources.use(await this.#recurring.start());
    const activity = this.#resources.use(new Activity(this.#context, pushStored));
    this.#resources.use(bus.subscribe(pushPublished, activity.touch));
    this.#resources.use(bus.subscribe(pushRetracted, activity.touch));
    this.#resources.use(bus.subscribe(accountsChanged, ({ account }) => this.#subscribers.recheck(account)));
    this.#keepAlive.start();
    this.#resources.use(this.#keepAlive);
    this.#resources.use(clock.every(minuteMs, () => this.#logFailure(this.#runMinutely())));
    this.#resources.use(clock.every(hourMs, () => this.#logFailure(this.#delivery.runHourly())));
  }

  health(): Promise<Health> {
    return Promise.resolve(getHealth(this.#delivery.publisher.healthy, this.#statistics, this.#subscribers.size));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#resources.dispose();
    await this.#recurring[Symbol.asyncDispose]();
    await this.#delivery[Symbol.asyncDispose]();
    await this.#quietHours[Symbol.asyncDispose]();
    this.#subscribers.endAll();
    await this.#saveTotal();
    await this.#counts.save();
  }

  #applySettings(): Promise<void> {
    this.#limits.reconfigure();
    // Updated in place, because routes hold references to these collections.
    this.#reserved.clear();
    for (const topic of this.#settings.reservedTopics) this.#reserved.add(topic);
    this.#webPushHosts.splice(0, this.#webPushHosts.length, ...this.#settings.webPushHosts);
    this.#keepAlive.reconfigure();
    return this.#webPush.reconfigure();
  }

  async #runMinutely(): Promise<void> {
    this.#statistics.sample();
    // Saved first, because deleted messages can no longer be counted.
    await this.#saveTotal();
    await this.#counts.save();
    await this.#delivery.retention.upkeep();
    await removeExpiredMessages(this.#context, this.#store, this.#search, this.#delivery.inboxCursor);
    await this.#delivery.runMinutely();
    await this.#recurring.runMinutely();
    await this.#webPush.upkeep();
    await this.#quietHours.upkeep();
    this.#limits.removeInactive();
    this.#topics.removeIdle((topic) => this.#subscribers.hasSubscribers(topic));
  }

  async #saveTotal(): Promise<void> {
    const { publisher } = this.#delivery;
    if (await this.#storedTotal.save({ force: !publisher.healthy })) publisher.markHealthy();
  }

  #logFailure(work: Promise<void>): void {
    work.catch((error: unknown) => this.#context.log.error('push maintenance failed', { error }));
  }

  #import(program: string, folder: string): Promise<ImportResult> {
    if (program !== 'ntfy')
      throw new Problem('push.unknown_program', 404, `Push takes over from ntfy only, not from ${program}.`);
    const { keepInInbox } = this.#settings;
    return importNtfy({ context: this.#context, messages: this.#store, keepInInbox }, folder);
  }

  /** Counts published messages and sends them to subscribers. */
  #fanOut(envelopes: readonly Envelope[]): Promise<void> {
    this.#statistics.add(envelopes.length);
    this.#storedTotal.advance(envelopes);
    this.#counts.add(envelopes);
    this.#metrics.published.inc({}, envelopes.length);
    for (const envelope of envelopes) {
      this.#subscribers.deliver(envelope);
    }
    return this.#subscribers.waitForCapacity();
  }

  /** Returns the rewrite of file addresses. A configured base address applies to all clients. */
  #findFileRewrite(request: IncomingMessage): FileAddressRewrite | undefined {
    if (this.#settings.baseUrl !== '') return undefined;
    return createFileAddressRewrite(this.#delivery.baseUrl(), this.#context.publicUrl(request));
  }

  #createSubscriberRateLimits(): SubscriberRateLimits {
    const settings = this.#settings;
    return new SubscriberRateLimits(
      this.#context.clock,
      () => settings.subscriberRateLimiting,
      (identity, topic) => (settings.unifiedPush ? true : this.#accounts.may(identity, 'push', 'write', topic)),
    );
  }

  /** A configured base address applies to all clients. */
  #createReceiverAddresses(): ReceiverAddresses {
    const { address, appPages } = this.#context;
    return createReceiverAddresses({
      storedBase: () => (this.#settings.baseUrl === '' ? address('push') : undefined),
      sharedBase: () => appPages.serviceForMessages('push'),
    });
  }

  #createWebPush(receiverAddresses: ReceiverAddresses): WebPush {
    return new WebPush({
      context: { ...this.#context, accounts: this.#accounts },
      enabled: () => this.#settings.webPush,
      contact: () => this.#settings.webPushContact,
      receiverAddresses,
      allowedHosts: this.#webPushHosts,
      reserved: this.#reserved,
      keptSeconds: () => this.#delivery.cacheSeconds(),
      quiet: this.#quietHours,
      onDelivered: (topic, successful) => this.#counts.countDelivery(topic, successful),
    });
  }

  #createDelivery(): Delivery {
    return new Delivery({
      context: this.#context,
      settings: this.#settings,
      messages: this.#store,
      writeHooks: [this.#webPush.store, this.#search.store, this.#emails.store],
      removeFromSearch: (transaction, seqs) => this.#search.remove(transaction, seqs),
      onPublished: (envelopes) => this.#fanOut(envelopes),
    });
  }

  #createRecurring(): Recurring {
    const { publisher, writeMessages, notifyDelayedChanged } = this.#delivery;
    return openRecurring({
      context: this.#context,
      messages: this.#store,
      publisher,
      writeMessages,
      reserved: this.#reserved,
      messageSizeLimit: () => this.#settings.messageSizeLimit,
      onChanged: notifyDelayedChanged,
    });
  }

  #createPublishRoutes(): PublishRoutes {
    const { attachments, publisher } = this.#delivery;
    const { clock, files, random } = this.#context;
    const settings = this.#settings;
    return new PublishRoutes({
      findFileRewrite: (request) => this.#findFileRewrite(request),
      publisher,
      attachments,
      sendsMail: this.#emails.enabled,
      findTemplate: (name) => findTemplate(join(files, 'templates'), name),
      accounts: this.#accounts,
      random,
      reserved: this.#reserved,
      messageSizeLimit: () => settings.messageSizeLimit,
      maxDelaySeconds: () => seconds(settings.messageDelayLimit),
      unifiedPush: () => settings.unifiedPush,
      commitSeconds: this.#metrics.commitSeconds,
      clock,
      limits: this.#limits,
      topics: this.#topics,
      subscriberRateLimits: this.#subscriberRateLimits,
    });
  }

  #createSubscribeRoutes(): SubscribeRoutes {
    const { clock, random } = this.#context;
    return new SubscribeRoutes({
      findFileRewrite: (request) => this.#findFileRewrite(request),
      context: { accounts: this.#accounts, clock, random },
      store: this.#store,
      delayedMessages: this.#delivery.delayedStore,
      subscribers: this.#subscribers,
      reserved: this.#reserved,
      bounds: this.#settings,
      cut: this.#metrics.cut,
      limits: this.#limits,
      topics: this.#topics,
      subscriberRateLimits: this.#subscriberRateLimits,
    });
  }

  #createAccess(syncTopics: SyncTopics): Access {
    const { attachments, cacheSeconds, publisher } = this.#delivery;
    return openAccess({
      context: { ...this.#context, accounts: this.#accounts },
      limits: this.#limits,
      syncTopics,
      publish: (draft) => publisher.publish(draft),
      signUp: () => this.#settings.enableSignup,
      reserved: this.#reserved,
      cacheSeconds,
      sendsMail: this.#emails.enabled,
      attachments,
    });
  }

  #getRequestDependencies(): RequestDependencies {
    return {
      context: this.#context,
      api: { ...this.#access.routes, ...this.#webPush.routes },
      limits: this.#limits,
      subscriberRateLimits: this.#subscriberRateLimits,
      behindProxy: () => this.#settings.behindProxy,
      refused: this.#metrics.refused,
    };
  }

  #createListener(
    requestDependencies: RequestDependencies,
    publish: PublishRoutes,
    subscribe: SubscribeRoutes,
  ): RequestListener {
    const { appPages: pages } = this.#context;
    const reserved = this.#reserved;
    const serverInfo = this.#createServerInfo();
    const ntfyMetrics = this.#createNtfyMetrics();
    const listener = pushListener({
      ...requestDependencies,
      publish,
      subscribe,
      serverInfo,
      findNonTopicRoute: this.#createNonTopicRoutes(publish),
      pages,
      reserved,
      onServed: ntfyMetrics.countRequest,
    });
    return redirectBrowsers(listener, {
      pages,
      isPage: (path) =>
        path === '/' || (!serverInfo.has(path) && isTopic(path.slice(1)) && !reserved.has(path.slice(1))),
    });
  }

  #createServerInfo(): ReturnType<typeof serverInfoRoutes> {
    return serverInfoRoutes({
      statistics: this.#statistics,
      reservedTopics: () => this.#settings.reservedTopics,
      signUp: () => this.#settings.enableSignup,
      sendsMail: this.#emails.enabled,
      webPushKey: this.#webPush.publicKey,
      healthy: () => this.#delivery.publisher.healthy,
      pages: this.#context.appPages,
    });
  }

  #createNtfyMetrics(): ReturnType<typeof registerNtfyMetrics> {
    return registerNtfyMetrics(this.#context, {
      store: this.#store,
      subscribers: this.#subscribers,
      limits: this.#limits,
      topics: this.#topics,
      published: () => this.#statistics.total,
    });
  }

  #createNonTopicRoutes(publish: PublishRoutes): ReturnType<typeof createNonTopicRoutes> {
    const { attachments, baseUrl } = this.#delivery;
    return createNonTopicRoutes({
      publish,
      attachments,
      baseUrl,
      messageSizeLimit: () => this.#settings.messageSizeLimit,
      limits: this.#limits,
      subscriberRateLimits: this.#subscriberRateLimits,
    });
  }

  #createUpgradeListener(requestDependencies: RequestDependencies, subscribe: SubscribeRoutes): UpgradeListener {
    const { accounts, clock } = this.#context;
    return webSocketListener({
      subscribe,
      readRequest: async (request) => {
        const read = await readRequest(requestDependencies, request);
        this.#limits.request(read.requestContext);
        return read;
      },
      toProblem: (error) => toProblem(requestDependencies, error),
      clock,
      onRateLimited: () => accounts.record({ event: 'rate_limited', detail: 'WebSocket' }),
    });
  }

  #createHandlers(): readonly ApiHandler[] {
    const context = this.#context;
    const { attachments, cacheSeconds, delayedMessages, publisher, retention } = this.#delivery;
    const maxDelaySeconds = (): number => seconds(this.#settings.messageDelayLimit);
    return [
      ...pushHandlers({
        context,
        publisher,
        attachments,
        limits: this.#limits,
        reserved: this.#reserved,
        messageSizeLimit: () => this.#settings.messageSizeLimit,
        maxDelaySeconds,
        statistics: this.#statistics,
        subscribers: this.#subscribers,
        counts: this.#counts,
      }),
      ...delayedHandlers({ delayedMessages, clock: context.clock, maxDelaySeconds }),
      ...this.#recurring.handlers,
      ...searchHandlers(this.#search),
      ...retentionHandlers({ context, retention, defaultSeconds: cacheSeconds }),
      ...this.#webPush.handlers,
      ...this.#quietHours.handlers,
    ];
  }

  #createOfferReceiver(): ReturnType<typeof receiveOffers> {
    const { attachments, publisher } = this.#delivery;
    return receiveOffers({
      context: this.#context,
      publisher,
      attachments,
      reserved: this.#reserved,
      messageSizeLimit: () => this.#settings.messageSizeLimit,
    });
  }
}
