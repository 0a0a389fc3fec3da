import type { RequestListener } from 'node:http';
import type { ApiHandler } from '../contracts/api.ts';
import type { AccountData } from '../contracts/control/account-data.ts';
import { accountsChanged, type Accounts } from '../contracts/control/accounts.ts';
import type { UpgradeListener } from '../contracts/listeners.ts';
import { Problem } from '../contracts/problem.ts';
import { pushOffered, pushPublished, pushStored, pushRetracted } from '../contracts/push/topics.ts';
import { defineService, type Context, type ImportResult, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { openAccess, type Access } from './ntfy-api/access.ts';
import { webPushRoutes } from './ntfy-api/web-push.ts';
import { removeExpiredMessages } from './retention/remove-expired.ts';
import { Delivery, seconds } from './publish/delivery.ts';
import { openEmails, type Emails } from './publish/emails.ts';
import { getHealth } from './metrics/health.ts';
import { manifest } from './manifest.ts';
import { ActiveTopics } from './topics/active-topics.ts';
import { Limits } from './access/limits.ts';
import type { Envelope } from './messages/envelope.ts';
import { KeepAlive } from './subscribe/keep-alive.ts';
import { Subscribers } from './subscribe/subscribers.ts';
import { createPushMetrics, type PushMetrics } from './metrics/metrics.ts';
import { receiveOffers } from './publish/receive-offers.ts';
import { createPortable } from './import/portable.ts';
import { pushHandlers } from './app-api/api.ts';
import { QuietHours } from './quiet/quiet-hours.ts';
import { openRecurring, type Recurring } from './recurring/recurring.ts';
import { NtfyApi } from './ntfy-api/ntfy-api.ts';
import { delayedHandlers } from './app-api/delayed.ts';
import { retentionHandlers } from './app-api/retention.ts';
import { searchHandlers } from './app-api/search.ts';
import { scheduleHandlers } from './app-api/schedules.ts';
import { quietHandlers } from './app-api/quiet.ts';
import { webPushHandlers } from './app-api/web-push.ts';
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
    this.#access = this.#createAccess(syncTopics);
    const ntfyApi = this.#createNtfyApi();
    this.http = ntfyApi.http;
    this.upgrade = ntfyApi.upgrade;
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
      onChanged: notifyDelayedChanged,
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

  #createNtfyApi(): NtfyApi {
    const webPush = webPushRoutes({
      subscriptions: this.#webPush.subscriptions,
      enabled: () => this.#settings.webPush,
      publicUrl: this.#context.publicUrl,
    });
    return new NtfyApi({
      context: this.#context,
      accounts: this.#accounts,
      settings: this.#settings,
      api: { ...this.#access.routes, ...webPush },
      limits: this.#limits,
      subscriberRateLimits: this.#subscriberRateLimits,
      topics: this.#topics,
      store: this.#store,
      subscribers: this.#subscribers,
      statistics: this.#statistics,
      metrics: this.#metrics,
      reserved: this.#reserved,
      delivery: this.#delivery,
      sendsMail: this.#emails.enabled,
      webPushKey: this.#webPush.publicKey,
    });
  }

  #createHandlers(): readonly ApiHandler[] {
    const context = this.#context;
    const { attachments, cacheSeconds, delayedMessages, publisher, retention } = this.#delivery;
    const reserved = this.#reserved;
    const messageSizeLimit = (): number => this.#settings.messageSizeLimit;
    const maxDelaySeconds = (): number => seconds(this.#settings.messageDelayLimit);
    return [
      ...pushHandlers({
        context,
        publisher,
        attachments,
        limits: this.#limits,
        reserved,
        messageSizeLimit,
        maxDelaySeconds,
        statistics: this.#statistics,
        subscribers: this.#subscribers,
        counts: this.#counts,
      }),
      ...delayedHandlers({ delayedMessages, clock: context.clock, maxDelaySeconds }),
      ...scheduleHandlers({ schedules: this.#recurring.schedules, clock: context.clock, reserved, messageSizeLimit }),
      ...searchHandlers(this.#search),
      ...retentionHandlers({ context, retention, defaultSeconds: cacheSeconds }),
      ...webPushHandlers(this.#webPush),
      ...quietHandlers({
        context: { ...context, accounts: this.#accounts },
        store: this.#quietHours.store,
        accountRules: this.#quietHours.accountRules,
        onChanged: () => this.#quietHours.upkeep(),
      }),
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
