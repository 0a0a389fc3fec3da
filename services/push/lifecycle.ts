import { accountsChanged } from '../contracts/control/accounts.ts';
import { pushOffered, pushPublished, pushRetracted, pushStored } from '../contracts/push/topics.ts';
import type { LeaseCandidacy } from '../contracts/leases.ts';
import type { Context } from '../contracts/service.ts';
import { Activity } from '../kit/activity.ts';
import { RepeatingTask } from '../kit/repeating-task.ts';
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
/** Interval in which due times that other hosts have stored are read. */
const refreshMs = 2000;
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
  /** Work of one of the hosts that share the tables. */
  #ownedWork: LeaseCandidacy | undefined;

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
    resources.use(recurring.start());
    this.#ownedWork = await context.leases.hold('schedules', () => this.#startOwnedWork());
    this.#subscribe();
    keepAlive.start();
    resources.use(keepAlive);
    this.#startTimers();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { delivery, traffic } = this.#features;
    const { liveFeed, subscribers } = this.#features.clients;
    this.#resources.dispose();
    await this.#ownedWork?.[Symbol.asyncDispose]();
    await delivery[Symbol.asyncDispose]();
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

  /** Begins the work that one host does for all: due messages, digests and reminders. */
  async #startOwnedWork(): Promise<AsyncDisposable> {
    const { clock, singleHost } = this.#context;
    const { delivery, recurring } = this.#features;
    await using work = new AsyncDisposableStack();
    work.use(delivery.startDelayed());
    work.use(recurring.startRuns());
    work.use(this.#features.sending.quietHours.startDigests());
    await this.#refresh();
    const onError = (error: unknown): void => this.#logFailure(error);
    const repeat = (intervalMs: number, task: () => Promise<void>): RepeatingTask =>
      work.use(new RepeatingTask(task, { clock, intervalMs, onError }));
    if (!singleHost) repeat(refreshMs, () => this.#refresh());
    repeat(hourMs, () => delivery.attachments.removeOrphans());
    return work.move();
  }

  /** Reads the times of due messages, which other hosts may have stored. */
  async #refresh(): Promise<void> {
    await this.#features.delivery.refreshDelayed();
    await this.#features.recurring.refresh();
  }

  #startTimers(): void {
    const logFailure = (error: unknown): void => this.#logFailure(error);
    this.#resources.use(this.#context.clock.every(minuteMs, () => void this.#runMinutely().catch(logFailure)));
  }

  #logFailure(error: unknown): void {
    this.#context.log.error('push maintenance failed', { error });
  }

  async #runMinutely(): Promise<void> {
    const { delivery, search, traffic } = this.#features;
    const { quietHours, webPush } = this.#features.sending;
    const { subscribers, visitors } = this.#features.clients;
    traffic.statistics.sample();
    // Saved first, because deleted messages can no longer be counted.
    await traffic.save(delivery.publisher);
    await delivery.retention.upkeep();
    if (this.#ownedWork?.lease !== undefined) {
      await removeExpiredMessages(this.#context, delivery.messages, search, delivery.inboxCursor);
      await delivery.attachments.removeExpired();
      await this.#refresh();
    }
    delivery.notifyInbox();
    await webPush.upkeep();
    await quietHours.upkeep();
    visitors.limits.removeInactive();
    visitors.topics.removeIdle((topic) => subscribers.hasSubscribers(topic));
  }
}
