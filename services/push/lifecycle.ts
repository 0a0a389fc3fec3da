import { accountsChanged } from '../contracts/control/accounts.ts';
import { pushOffered, pushPublished, pushRetracted, pushStored } from '../contracts/push/topics.ts';
import type { Context } from '../contracts/service.ts';
import { Activity } from '../kit/activity.ts';
import type { Traffic } from './metrics/traffic.ts';
import type { Access } from './ntfy-api/access.ts';
import type { Delivery } from './publish/delivery.ts';
import type { Emails } from './publish/emails.ts';
import { receiveOffers } from './publish/receive-offers.ts';
import type { QuietHours } from './quiet/quiet-hours.ts';
import type { Recurring } from './recurring/recurring.ts';
import { removeExpiredMessages } from './retention/remove-expired.ts';
import type { Search } from './search/search.ts';
import type { DerivedSettings } from './settings/derived-settings.ts';
import type { KeepAlive } from './subscribe/keep-alive.ts';
import type { LiveFeed } from './subscribe/live-feed.ts';
import type { Subscribers } from './subscribe/subscribers.ts';
import type { TopicDevices } from './subscribe/topic-devices.ts';
import type { Visitors } from './topics/visitors.ts';
import type { WebPush } from './web-push/web-push.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Clients of the server: visitors, and subscribers with their open connections. */
export interface ClientFeatures {
  readonly visitors: Visitors;
  readonly access: Access;
  readonly subscribers: Subscribers;
  readonly liveFeed: LiveFeed;
  readonly devices: TopicDevices;
  readonly keepAlive: KeepAlive;
}

/** Ways in which messages leave the server besides subscriptions. */
export interface SendingFeatures {
  readonly webPush: WebPush;
  readonly emails: Emails;
  readonly quietHours: QuietHours;
}

/** Features that start, stop or have regular work. */
interface Features {
  readonly clients: ClientFeatures;
  readonly traffic: Traffic;
  readonly sending: SendingFeatures;
  readonly search: Search;
  readonly delivery: Delivery;
  readonly recurring: Recurring;
  readonly derivedSettings: DerivedSettings;
}

/** Starts and stops the features of the service in order, and runs their regular work. */
export class Lifecycle implements AsyncDisposable {
  readonly #context: Context;
  readonly #features: Features;
  readonly #resources = new DisposableStack();

  constructor(context: Context, features: Features) {
    this.#context = context;
    this.#features = features;
  }

  async start(): Promise<void> {
    const { delivery, derivedSettings, recurring, traffic } = this.#features;
    const { access, keepAlive, liveFeed, visitors } = this.#features.clients;
    const { emails, quietHours, webPush } = this.#features.sending;
    const context = this.#context;
    const resources = this.#resources;
    await traffic.resume();
    visitors.topics.resume(await delivery.messages.topics());
    await liveFeed.start();
    await access.start();
    resources.use(await webPush.start());
    resources.use(await quietHours.start());
    resources.use(context.handovers.receive(pushOffered, receiveOffers({ context, delivery, derivedSettings })));
    resources.use(await delivery.start());
    resources.use(emails.start());
    resources.use(await recurring.start());
    this.#subscribe();
    keepAlive.start();
    resources.use(keepAlive);
    this.#startTimers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { delivery, recurring, traffic } = this.#features;
    const { quietHours } = this.#features.sending;
    const { liveFeed, subscribers } = this.#features.clients;
    this.#resources.dispose();
    await recurring[Symbol.asyncDispose]();
    await delivery[Symbol.asyncDispose]();
    await quietHours[Symbol.asyncDispose]();
    await liveFeed[Symbol.asyncDispose]();
    subscribers.endAll();
    await traffic.save(delivery.publisher);
  }

  #subscribe(): void {
    const { bus } = this.#context;
    const { devices, subscribers } = this.#features.clients;
    this.#resources.use(devices);
    const activity = this.#resources.use(new Activity(this.#context, pushStored));
    this.#resources.use(bus.subscribe(pushPublished, activity.touch));
    this.#resources.use(bus.subscribe(pushRetracted, activity.touch));
    this.#resources.use(bus.subscribe(accountsChanged, ({ account }) => subscribers.recheck(account)));
  }

  #startTimers(): void {
    const { clock, log } = this.#context;
    const { delivery } = this.#features;
    const logFailure = (error: unknown): void => log.error('push maintenance failed', { error });
    this.#resources.use(clock.every(minuteMs, () => void this.#runMinutely().catch(logFailure)));
    this.#resources.use(clock.every(hourMs, () => void delivery.runHourly().catch(logFailure)));
  }

  async #runMinutely(): Promise<void> {
    const { delivery, recurring, search, traffic } = this.#features;
    const { quietHours, webPush } = this.#features.sending;
    const { subscribers, visitors } = this.#features.clients;
    traffic.statistics.sample();
    // Saved first, because deleted messages can no longer be counted.
    await traffic.save(delivery.publisher);
    await delivery.retention.upkeep();
    await removeExpiredMessages(this.#context, delivery.messages, search, delivery.inboxCursor);
    await delivery.runMinutely();
    await recurring.runMinutely();
    await webPush.upkeep();
    await quietHours.upkeep();
    visitors.limits.removeInactive();
    visitors.topics.removeIdle((topic) => subscribers.hasSubscribers(topic));
  }
}
