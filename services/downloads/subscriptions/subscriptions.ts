import * as m from '#messages/downloads-problems';
import { randomUUID } from 'node:crypto';
import { Problem } from '../../contracts/problem.ts';
import { createRefusedProblem } from '../domain/failure.ts';
import {
  subscriptionChanged,
  subscriptionRemoved,
  type Subscription,
  type SubscriptionPreview,
} from '../../contracts/downloads/subscriptions.ts';
import { Addresses, type SealedAddress } from '../store/addresses.ts';
import type { Order } from '../domain/order.ts';
import type { NewSubscription, StoredSubscription, SubscriptionChange } from '../domain/subscription.ts';
import { splitFolder } from '../domain/template.ts';
import type { Picture } from '../files/thumbnails.ts';
import { Checker, getPictureId, type CheckerDependencies } from './checker.ts';
import { getReadLimit, getEntryKey, findFeedPicture, isPublished, readFeed, type Feed } from './feed.ts';
import { alreadySubscribedProblem, prepareAddressChange, type AddressChange } from './address-change.ts';
import { getNextCheck } from './schedule.ts';
import { toSubscription } from './subscription-view.ts';
import { SubscriptionStore } from './store.ts';
import { matchTitles } from '../filters/title-filter.ts';
import { LruMap } from '../../kit/lru-map.ts';
import { RepeatingTask } from '../../kit/repeating-task.ts';

/** Interval of the search for due checks and expired removals. */
const checkDueIntervalMs = 15_000;
/** The same if other hosts add subscriptions. */
const sharedCheckDueIntervalMs = 5000;
/** Time after which another process repeats a check that did not end. */
const claimTimeoutMs = 10 * 60_000;
const restoreTimeMs = 10 * 60_000;
/** Lifetime of a cached preview, on which users try filters. */
const previewLifetimeMs = 5 * 60_000;
const maxPreviews = 8;
const maxPreviewEntries = 200;

/** Receives every change of a subscription, as for MeTube's live clients. */
export interface SubscriptionSubscriber {
  added(subscription: StoredSubscription): void;
  updated(subscription: StoredSubscription): void;
  removed(id: string): void;
}

type Dependencies = Omit<CheckerDependencies, 'publish'>;

/** Subscriptions to channels, playlists and feeds whose new videos are downloaded. */
export class Subscriptions implements Disposable {
  readonly #deps: Dependencies;
  readonly #store: SubscriptionStore;
  readonly #checker: Checker;
  readonly #abort = new AbortController();
  readonly #resources = new DisposableStack();
  readonly #subscribers = new Set<SubscriptionSubscriber>();
  readonly #previews = new LruMap<string, { readonly loadedAt: number; readonly feed: Feed }>(maxPreviews);
  #dueChecks: RepeatingTask | undefined;

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#store = new SubscriptionStore(deps.context.db);
    this.#checker = new Checker({ ...deps, publish: (subscription) => this.#publishChange(subscription) });
  }

  /** Begins to check due subscriptions. The disposal ends the checks in progress. */
  async start(): Promise<AsyncDisposable> {
    const { clock, commit, log, singleHost } = this.#deps.context;
    // Checks that the former owner has claimed and not finished are due again.
    if (!singleHost) await commit((db) => new SubscriptionStore(db).releaseClaims());
    const stopping = new AbortController();
    const signal = AbortSignal.any([stopping.signal, this.#abort.signal]);
    const onError = (error: unknown): void => log.error('subscription checks failed', { error });
    const intervalMs = singleHost ? checkDueIntervalMs : sharedCheckDueIntervalMs;
    const dueChecks = new RepeatingTask(() => this.#checkDue(signal), { clock, intervalMs, onError });
    this.#dueChecks = dueChecks;
    dueChecks.trigger();
    return {
      [Symbol.asyncDispose]: async () => {
        this.#dueChecks = undefined;
        stopping.abort();
        await dueChecks[Symbol.asyncDispose]();
      },
    };
  }

  subscribe(subscriber: SubscriptionSubscriber): Disposable {
    this.#subscribers.add(subscriber);
    return { [Symbol.dispose]: () => void this.#subscribers.delete(subscriber) };
  }

  async list(): Promise<readonly StoredSubscription[]> {
    return await this.#store.list();
  }

  /** Converts a subscription for the app API. */
  toView(subscription: StoredSubscription): Subscription {
    return toSubscription(subscription, this.#checker.isChecking(subscription.id));
  }

  /**
   * Adds a subscription and marks its current videos as seen.
   * @throws Problem with MeTube's message: `downloads.subscribed` (409), `downloads.single_video` (422),
   * `downloads.refused` (403), `downloads.bad_filter` (400), and the failure of the site
   */
  async add(options: NewSubscription): Promise<StoredSubscription> {
    const { context, feeds } = this.#deps;
    const { displayUrl: url, ...secrets } = await this.#sealAddress(options.url);
    await matchTitles(options.titleRegex, ['']);
    requireInsideFolder(options.order.folder);
    if ((await this.#store.findByUrl(url)) !== undefined) throw alreadySubscribedProblem;
    const order = { ...options.order, ...secrets };
    const limit = getReadLimit(order, feeds.scan(), true);
    const feed = await readFeed(this.#deps.feeds, { url, order, limit }, this.#abort.signal);
    const now = context.clock.now();
    const stored = {
      id: randomUUID(),
      url,
      name: feed.title || url,
      order,
      enabled: true,
      intervalMinutes: options.intervalMinutes,
      titleRegex: options.titleRegex,
      skipMembersOnly: options.skipMembersOnly,
      createdAt: now,
      lastChecked: now,
      nextCheck: getNextCheck(now, options.intervalMinutes, 0),
      lastFound: null,
      found: 0,
      error: null,
      failure: null,
      failures: 0,
      picture: findFeedPicture(feed),
    };
    const entryKeys = feed.entries.filter(isPublished).map(getEntryKey);
    const added = await context.commit(async (db) => {
      const store = new SubscriptionStore(db);
      if ((await store.findByUrl(url)) !== undefined) return undefined;
      await store.insert(stored);
      await store.markSeen(stored.id, entryKeys);
      return await store.find(stored.id);
    });
    if (added === undefined) throw alreadySubscribedProblem;
    context.bus.publish(subscriptionChanged, this.toView(added));
    for (const subscriber of this.#subscribers) subscriber.added(added);
    return added;
  }

  /**
   * Changes a subscription. A new address is read first.
   * @throws Problem `downloads.no_subscription` (404), `downloads.bad_filter` (400), `downloads.bad_folder` (422), and
   * as {@link Subscriptions.add}
   */
  async update(
    id: string,
    change: Pick<SubscriptionChange, 'name' | 'enabled' | 'intervalMinutes' | 'titleRegex' | 'skipMembersOnly'> & {
      readonly folder?: string;
      readonly url?: string;
    },
  ): Promise<StoredSubscription> {
    const { context } = this.#deps;
    const { folder, url, ...rest } = change;
    if (rest.titleRegex !== undefined) await matchTitles(rest.titleRegex, ['']);
    requireInsideFolder(folder ?? null);
    const addressChange = url === undefined ? undefined : await this.#readNewAddress(id, url);
    const changed = await context.commit(async (db) => {
      const store = new SubscriptionStore(db);
      const before = await store.find(id);
      if (before === undefined) return undefined;
      if (addressChange !== undefined) await prepareAddressChange(store, id, addressChange);
      const order = {
        ...before.order,
        ...(folder === undefined ? {} : { folder: folder || null }),
        ...(addressChange === undefined ? {} : { login: addressChange.login, secrets: addressChange.secrets }),
      };
      const interval = rest.intervalMinutes ?? before.intervalMinutes;
      const resumed = rest.enabled === true && !before.enabled;
      const from = resumed || before.lastChecked === null ? context.clock.now() : before.lastChecked;
      // A changed interval counts from the last check; a resumed subscription is checked immediately.
      const nextCheck = resumed ? from : getNextCheck(from, interval, before.failures);
      if (addressChange === undefined) return await store.change(id, { ...rest, order, nextCheck });
      const addressFields = {
        url: addressChange.url,
        picture: addressChange.picture,
        error: null,
        failure: null,
        failureParameters: null,
        failures: 0,
        nextCheck: context.clock.now(),
      };
      return await store.change(id, { ...rest, order, ...addressFields });
    });
    if (changed === undefined) throw unknownSubscriptionProblem;
    if (addressChange !== undefined) await this.#deps.thumbnails.remove(getPictureId(id));
    this.#publishChange(changed);
    if (changed.enabled && changed.nextCheck <= context.clock.now()) this.#dueChecks?.trigger();
    return changed;
  }

  async remove(ids: readonly string[]): Promise<readonly string[]> {
    const { context } = this.#deps;
    const timestamp = context.clock.now();
    const removed = await context.commit(async (db) => await new SubscriptionStore(db).remove(ids, timestamp));
    for (const id of removed) {
      context.bus.publish(subscriptionRemoved, { id });
      for (const subscriber of this.#subscribers) subscriber.removed(id);
    }
    return removed;
  }

  /** Restores removed subscriptions with their seen entries. */
  async restore(ids: readonly string[]): Promise<readonly string[]> {
    const { context } = this.#deps;
    const restored = await context.commit(async (db) => await new SubscriptionStore(db).restore(ids));
    for (const id of restored) {
      const subscription = await this.#store.find(id);
      if (subscription === undefined) continue;
      context.bus.publish(subscriptionChanged, this.toView(subscription));
      for (const subscriber of this.#subscribers) subscriber.added(subscription);
    }
    return restored;
  }

  /** Checks the given or all enabled subscriptions now. Returns the number of queued videos. */
  async check(ids?: readonly string[]): Promise<number> {
    const selectedIds = ids ?? (await this.list()).filter(({ enabled }) => enabled).map(({ id }) => id);
    return await this.#checker.checkAll(selectedIds, this.#abort.signal);
  }

  /**
   * Previews the content of an address and the matches of a filter.
   * @throws Problem as {@link Subscriptions.add}
   */
  async preview(address: string, order: Order, titleRegex: string): Promise<SubscriptionPreview> {
    const { context } = this.#deps;
    const { urlPolicy, scan } = this.#deps.feeds;
    const checkedUrl = await urlPolicy(address);
    if ('msg' in checkedUrl) throw createRefusedProblem(403, checkedUrl);
    const cached = this.#previews.get(checkedUrl.href);
    const now = context.clock.now();
    let feed = cached !== undefined && now - cached.loadedAt < previewLifetimeMs ? cached.feed : undefined;
    if (feed === undefined) {
      const { displayUrl: url, ...secrets } = new Addresses(context.vault).split(checkedUrl.href);
      feed = await readFeed(
        this.#deps.feeds,
        { url, order: { ...order, ...secrets }, limit: scan() },
        this.#abort.signal,
      );
      this.#previews.set(checkedUrl.href, { loadedAt: now, feed });
    }
    const titles = feed.entries.map((entry) => entry.title ?? getEntryKey(entry));
    const isMatch = await matchTitles(titleRegex, titles);
    const entries = titles.map((title, index) => ({ title, wanted: isMatch[index] === true }));
    return {
      name: feed.title || address,
      entries: entries.slice(0, maxPreviewEntries),
      total: entries.length,
      wanted: entries.filter((entry) => entry.wanted).length,
    };
  }

  /** Returns the picture of a subscription; undefined when it is not available. */
  async picture(id: string): Promise<Picture | undefined> {
    const thumbnail = (await this.#store.find(id))?.picture ?? null;
    return await this.#deps.thumbnails.get({ uid: getPictureId(id), thumbnail });
  }

  /** Reads the new address of a subscription; undefined when it does not change. */
  async #readNewAddress(id: string, address: string): Promise<AddressChange | undefined> {
    const before = await this.#store.find(id);
    if (before === undefined) throw unknownSubscriptionProblem;
    if (address === before.url) return undefined;
    const { displayUrl: url, ...secrets } = await this.#sealAddress(address);
    const order = { ...before.order, ...secrets };
    const limit = getReadLimit(order, this.#deps.feeds.scan(), true);
    const feed = await readFeed(this.#deps.feeds, { url, order, limit }, this.#abort.signal);
    return {
      url,
      ...secrets,
      entryKeys: feed.entries.filter(isPublished).map(getEntryKey),
      picture: findFeedPicture(feed),
    };
  }

  /** @throws Problem `downloads.refused` (403) */
  async #sealAddress(address: string): Promise<SealedAddress> {
    const checkedUrl = await this.#deps.feeds.urlPolicy(address);
    if ('msg' in checkedUrl) throw createRefusedProblem(403, checkedUrl);
    return new Addresses(this.#deps.context.vault).split(checkedUrl.href);
  }

  [Symbol.dispose](): void {
    this.#resources.dispose();
    this.#abort.abort();
  }

  async #checkDue(signal: AbortSignal): Promise<void> {
    const { context, engine, thumbnails } = this.#deps;
    const now = context.clock.now();
    let expired: readonly string[] = [];
    const due = await context.commit(async (db) => {
      const store = new SubscriptionStore(db);
      expired = await store.deleteRemoved(now - restoreTimeMs);
      return engine.missing === undefined ? await store.claimDue(now, now + claimTimeoutMs) : [];
    });
    for (const id of expired) await thumbnails.remove(getPictureId(id));
    if (due.length > 0) await this.#checker.checkAll(due, signal);
  }

  #publishChange(subscription: StoredSubscription): void {
    this.#deps.context.bus.publish(subscriptionChanged, this.toView(subscription));
    for (const subscriber of this.#subscribers) subscriber.updated(subscription);
  }
}

function requireInsideFolder(folder: string | null): void {
  if (folder === null || splitFolder(folder) !== undefined) return;
  throw new Problem('downloads.bad_folder', 422, () => m.folderNotInside({ folder }));
}

const unknownSubscriptionProblem = new Problem('downloads.no_subscription', 404, m.subscriptionNotFound);
