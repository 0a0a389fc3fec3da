import { randomUUID } from 'node:crypto';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import {
  subscriptionChanged,
  subscriptionRemoved,
  type Subscription,
  type SubscriptionPreview,
} from '../../contracts/downloads/subscriptions.ts';
import { Addresses, type KeptAddress } from '../store/addresses.ts';
import type { Order } from '../domain/order.ts';
import { folderParts } from '../domain/template.ts';
import type { UrlPolicy } from '../add/url-policy.ts';
import type { Prober } from '../add/prober.ts';
import type { Picture } from '../run/thumbnails.ts';
import { Checker, pictureId, type CheckerParts } from './checker.ts';
import { depthOf, entryKey, faceOf, isThere, readFeed, type Feed } from './feed.ts';
import { alreadySubscribed, settle, type Move } from './address-change.ts';
import { nextCheckAt } from './schedule.ts';
import { toSubscription } from './subscription-view.ts';
import { SubscriptionStore, type StoredSubscription, type SubscriptionChange } from './store.ts';
import { matchTitles } from './title-filter.ts';

/** Looking for what is due, and for what was removed long enough ago. */
const tickMs = 15_000;
/** Whoever took a check and died: somebody else takes it after this. */
const checkWithinMs = 10 * 60_000;
const restorableMs = 10 * 60_000;
/** A listing that a person tries filters on is kept this long. */
const previewMs = 5 * 60_000;
const mostPreviews = 8;
const shownEntries = 200;

export interface NewSubscription {
  readonly url: string;
  readonly order: Order;
  readonly intervalMinutes: number;
  readonly titleRegex: string;
  readonly skipMembersOnly: boolean;
}

/** Who hears of every change, such as the peer's live clients. */
export interface SubscriptionFollower {
  added(subscription: StoredSubscription): void;
  updated(subscription: StoredSubscription): void;
  removed(id: string): void;
}

type Parts = Omit<CheckerParts, 'tell' | 'scan'> & {
  readonly context: Context;
  readonly gate: UrlPolicy;
  readonly prober: Prober;
  readonly scan: () => number;
};

/** Channels, playlists and feeds whose new videos are downloaded as they come. */
export class Subscriptions implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #store: SubscriptionStore;
  readonly #checker: Checker;
  readonly #stop = new AbortController();
  readonly #open = new DisposableStack();
  readonly #followers = new Set<SubscriptionFollower>();
  readonly #previews = new Map<string, { readonly at: number; readonly feed: Feed }>();
  #ticking: Promise<void> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = new SubscriptionStore(parts.context.db);
    this.#checker = new Checker({ ...parts, tell: (subscription) => this.#updated(subscription) });
  }

  start(): void {
    this.#open.use(this.#parts.context.clock.every(tickMs, () => this.#tick()));
    this.#tick();
  }

  follow(follower: SubscriptionFollower): Disposable {
    this.#followers.add(follower);
    return { [Symbol.dispose]: () => void this.#followers.delete(follower) };
  }

  async list(): Promise<readonly StoredSubscription[]> {
    return await this.#store.list();
  }

  /** As our own pages see it. */
  shown(subscription: StoredSubscription): Subscription {
    return toSubscription(subscription, this.#checker.isChecking(subscription.id));
  }

  /**
   * Subscribes; what is there by now counts as seen. @throws Problem in the peer's words: `downloads.subscribed` (409),
   * `downloads.single_video` (422), `downloads.refused` (403), `downloads.bad_filter` (400), and what the site said.
   */
  async add(given: NewSubscription): Promise<StoredSubscription> {
    const { context, scan } = this.#parts;
    const { shown: url, ...secrets } = await this.#kept(given.url);
    await matchTitles(given.titleRegex, ['']);
    requireInside(given.order.folder);
    if ((await this.#store.findByUrl(url)) !== undefined) throw alreadySubscribed;
    const order = { ...given.order, ...secrets };
    const most = depthOf(order, scan(), true);
    const feed = await readFeed(this.#parts, { url, order, most }, this.#stop.signal);
    const now = context.clock.now();
    const stored = {
      id: randomUUID(),
      url,
      name: feed.title || url,
      order,
      enabled: true,
      intervalMinutes: given.intervalMinutes,
      titleRegex: given.titleRegex,
      skipMembersOnly: given.skipMembersOnly,
      createdAt: now,
      lastChecked: now,
      nextCheck: nextCheckAt(now, given.intervalMinutes, 0),
      lastFound: null,
      found: 0,
      error: null,
      failures: 0,
      picture: faceOf(feed),
    };
    const there = feed.entries.filter(isThere).map(entryKey);
    const made = await context.commit(async (db) => {
      const store = new SubscriptionStore(db);
      if ((await store.findByUrl(url)) !== undefined) return undefined;
      await store.insert(stored);
      await store.markSeen(stored.id, there);
      return await store.find(stored.id);
    });
    if (made === undefined) throw alreadySubscribed;
    context.bus.publish(subscriptionChanged, this.shown(made));
    for (const follower of this.#followers) follower.added(made);
    return made;
  }

  /**
   * Another address is looked at first. @throws Problem `downloads.no_subscription` (404), `downloads.bad_filter` (400),
   * `downloads.bad_folder` (422), and as {@link Subscriptions.add}
   */
  async update(
    id: string,
    change: Pick<SubscriptionChange, 'name' | 'enabled' | 'intervalMinutes' | 'titleRegex' | 'skipMembersOnly'> & {
      readonly folder?: string;
      readonly url?: string;
    },
  ): Promise<StoredSubscription> {
    const { context } = this.#parts;
    const { folder, url, ...rest } = change;
    if (rest.titleRegex !== undefined) await matchTitles(rest.titleRegex, ['']);
    requireInside(folder ?? null);
    const move = url === undefined ? undefined : await this.#lookAt(id, url);
    const changed = await context.commit(async (db) => {
      const store = new SubscriptionStore(db);
      const before = await store.find(id);
      if (before === undefined) return undefined;
      if (move !== undefined) await settle(store, id, move);
      const order = {
        ...before.order,
        ...(folder === undefined ? {} : { folder: folder || null }),
        ...(move === undefined ? {} : { login: move.login, secrets: move.secrets }),
      };
      const interval = rest.intervalMinutes ?? before.intervalMinutes;
      const resumed = rest.enabled === true && !before.enabled;
      const from = resumed || before.lastChecked === null ? context.clock.now() : before.lastChecked;
      // Another interval counts from the last look; who resumes it wants to see what came meanwhile.
      const nextCheck = resumed ? from : nextCheckAt(from, interval, before.failures);
      if (move === undefined) return await store.change(id, { ...rest, order, nextCheck });
      const anew = { url: move.url, picture: move.picture, error: null, failures: 0, nextCheck: context.clock.now() };
      return await store.change(id, { ...rest, order, ...anew });
    });
    if (changed === undefined) throw unknownSubscription;
    if (move !== undefined) await this.#parts.thumbnails.forget(pictureId(id));
    this.#updated(changed);
    if (changed.enabled && changed.nextCheck <= context.clock.now()) this.#tick();
    return changed;
  }

  async remove(ids: readonly string[]): Promise<readonly string[]> {
    const { context } = this.#parts;
    const at = context.clock.now();
    const removed = await context.commit(async (db) => await new SubscriptionStore(db).remove(ids, at));
    for (const id of removed) {
      context.bus.publish(subscriptionRemoved, { id });
      for (const follower of this.#followers) follower.removed(id);
    }
    return removed;
  }

  /** Takes removals back; whatever was seen before is still seen. */
  async restore(ids: readonly string[]): Promise<readonly string[]> {
    const { context } = this.#parts;
    const restored = await context.commit(async (db) => await new SubscriptionStore(db).restore(ids));
    for (const id of restored) {
      const subscription = await this.#store.find(id);
      if (subscription === undefined) continue;
      context.bus.publish(subscriptionChanged, this.shown(subscription));
      for (const follower of this.#followers) follower.added(subscription);
    }
    return restored;
  }

  /** Looks now at these, or at all that are not paused. Returns how many videos were queued. */
  async check(ids?: readonly string[]): Promise<number> {
    const chosen = ids ?? (await this.list()).filter(({ enabled }) => enabled).map(({ id }) => id);
    return await this.#checker.checkAll(chosen, this.#stop.signal);
  }

  /** What is behind an address now, and what a filter would let through. @throws Problem as {@link Subscriptions.add} */
  async preview(address: string, order: Order, titleRegex: string): Promise<SubscriptionPreview> {
    const { context, gate, scan } = this.#parts;
    const allowed = await gate(address);
    if ('msg' in allowed) throw new Problem('downloads.refused', 403, allowed.msg);
    const known = this.#previews.get(allowed.href);
    const now = context.clock.now();
    let feed = known !== undefined && now - known.at < previewMs ? known.feed : undefined;
    if (feed === undefined) {
      const { shown: url, ...secrets } = new Addresses(context.vault).split(allowed.href);
      feed = await readFeed(this.#parts, { url, order: { ...order, ...secrets }, most: scan() }, this.#stop.signal);
      this.#previews.delete(allowed.href);
      this.#previews.set(allowed.href, { at: now, feed });
      for (const oldest of [...this.#previews.keys()].slice(0, -mostPreviews)) this.#previews.delete(oldest);
    }
    const titles = feed.entries.map((entry) => entry.title ?? entryKey(entry));
    const wanted = await matchTitles(titleRegex, titles);
    const entries = titles.map((title, index) => ({ title, wanted: wanted[index] === true }));
    return {
      name: feed.title || address,
      entries: entries.slice(0, shownEntries),
      total: entries.length,
      wanted: entries.filter((entry) => entry.wanted).length,
    };
  }

  /** Undefined when there is none, or it cannot be had now. */
  async picture(id: string): Promise<Picture | undefined> {
    const thumbnail = (await this.#store.find(id))?.picture ?? null;
    return await this.#parts.thumbnails.of({ uid: pictureId(id), thumbnail });
  }

  /** What is at an address that a subscription is to have; undefined where it has it already. */
  async #lookAt(id: string, address: string): Promise<Move | undefined> {
    const before = await this.#store.find(id);
    if (before === undefined) throw unknownSubscription;
    if (address === before.url) return undefined;
    const { shown: url, ...secrets } = await this.#kept(address);
    const order = { ...before.order, ...secrets };
    const most = depthOf(order, this.#parts.scan(), true);
    const feed = await readFeed(this.#parts, { url, order, most }, this.#stop.signal);
    return { url, ...secrets, there: feed.entries.filter(isThere).map(entryKey), picture: faceOf(feed) };
  }

  /** @throws Problem `downloads.refused` (403) */
  async #kept(address: string): Promise<KeptAddress> {
    const allowed = await this.#parts.gate(address);
    if ('msg' in allowed) throw new Problem('downloads.refused', 403, allowed.msg);
    return new Addresses(this.#parts.context.vault).split(allowed.href);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#open.dispose();
    this.#stop.abort();
    await this.#ticking;
  }

  #tick(): void {
    if (this.#stop.signal.aborted) return;
    this.#ticking ??= this.#checkDue()
      .catch((error: unknown) => this.#parts.context.log.error('subscriptions could not be looked at', { error }))
      .finally(() => {
        this.#ticking = undefined;
      });
  }

  async #checkDue(): Promise<void> {
    const { context, engine, thumbnails } = this.#parts;
    const now = context.clock.now();
    let gone: readonly string[] = [];
    const due = await context.commit(async (db) => {
      const store = new SubscriptionStore(db);
      gone = await store.sweep(now - restorableMs);
      return engine.missing === undefined ? await store.takeDue(now, now + checkWithinMs) : [];
    });
    for (const id of gone) await thumbnails.forget(pictureId(id));
    if (due.length > 0) await this.#checker.checkAll(due, this.#stop.signal);
  }

  #updated(subscription: StoredSubscription): void {
    this.#parts.context.bus.publish(subscriptionChanged, this.shown(subscription));
    for (const follower of this.#followers) follower.updated(subscription);
  }
}

function requireInside(folder: string | null): void {
  if (folder === null || folderParts(folder) !== undefined) return;
  throw new Problem('downloads.bad_folder', 422, `Folder "${folder}" is not inside the download folder.`);
}

const unknownSubscription = new Problem('downloads.no_subscription', 404, 'Subscription not found');
