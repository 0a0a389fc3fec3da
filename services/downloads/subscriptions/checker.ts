import { runInEnglish } from '../../kit/language.ts';
import { isPageMissing } from '../domain/engine-messages.ts';
import { toDownloadFailure } from '../domain/failure.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Item } from '../domain/item.ts';
import type { StoredSubscription } from '../domain/subscription.ts';
import type { PlaylistEntryInfo } from '../engine/probe-result.ts';
import type { EngineMonitor } from '../engine/engine-monitor.ts';
import type { UrlPolicy } from '../engine/url-policy.ts';
import type { Intake } from '../add/intake.ts';
import type { Thumbnails } from '../files/thumbnails.ts';
import type { Prober } from '../run/prober.ts';
import type { Queue } from '../queue/queue.ts';
import { DownloadStore } from '../store/store.ts';
import { getReadLimit, getEntryKey, findFeedPicture, isPublished, readFeed, type Feed } from './feed.ts';
import { getNextCheck } from './schedule.ts';
import { SubscriptionStore } from './store.ts';
import { matchTitles } from '../filters/title-filter.ts';
import type { Reporting } from '../reporting/reporting.ts';

/** Maximum number of parallel checks, so that a slot remains for downloads of users. */
const maxParallel = 2;
/** Number of consecutive failures after which a notification is sent. */
const notifyAfterFailures = 3;

/** Reads feeds. */
export interface FeedAccess {
  readonly urlPolicy: UrlPolicy;
  readonly prober: Prober;
  /** Number of entries that a check reads. */
  readonly scan: () => number;
}

export interface CheckerDependencies {
  readonly context: Context;
  readonly feeds: FeedAccess;
  readonly intake: Intake;
  readonly queue: Queue;
  readonly reporting: Reporting;
  readonly engine: EngineMonitor;
  readonly thumbnails: Thumbnails;
  /** Called after a subscription or its checking state changed. */
  readonly publish: (subscription: StoredSubscription) => void;
}

/** Returns the id of a subscription's picture among those of downloads. */
export function getPictureId(id: string): string {
  return `subscription-${id}`;
}

/** Checks feeds and queues their new entries. */
export class Checker {
  readonly #deps: CheckerDependencies;
  readonly #running = new Map<string, Promise<number>>();

  constructor(deps: CheckerDependencies) {
    this.#deps = deps;
  }

  isChecking(id: string): boolean {
    return this.#running.has(id);
  }

  /** Checks subscriptions and returns the number of queued videos. The failure of a feed is stored in its row. */
  async checkAll(ids: readonly string[], signal: AbortSignal): Promise<number> {
    const waiting = [...new Set(ids)];
    let queued = 0;
    const work = async (): Promise<void> => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) queued += await this.#check(id, signal);
    };
    await Promise.all(Array.from({ length: maxParallel }, work));
    return queued;
  }

  /** Checks a feed; a parallel call for the same feed gets the same result. */
  async #check(id: string, signal: AbortSignal): Promise<number> {
    const running = this.#running.get(id);
    if (running !== undefined) return await running;
    if (signal.aborted) return 0;
    // The failure is stored, and the check may outlive the request that started it.
    const check = runInEnglish(() => this.#run(id, signal));
    this.#running.set(id, check);
    try {
      return await check;
    } finally {
      this.#running.delete(id);
      // Published again, since the check has ended.
      const after = await new SubscriptionStore(this.#deps.context.db).find(id);
      if (after !== undefined) this.#deps.publish(after);
    }
  }

  async #run(id: string, signal: AbortSignal): Promise<number> {
    const { context } = this.#deps;
    const { scan } = this.#deps.feeds;
    const subscription = await new SubscriptionStore(context.db).find(id);
    if (subscription === undefined) return 0;
    this.#deps.publish(subscription);
    try {
      const { url, order } = subscription;
      // An imported subscription was not checked before.
      const isFirst = subscription.lastChecked === null;
      const limit = getReadLimit(order, scan(), isFirst);
      const feed = await readFeed(this.#deps.feeds, { url, order, limit }, signal);
      if (isFirst) return await this.#queueNew(id, feed, feed.entries.filter(isPublished), new Set());
      const accessible = feed.entries.filter(
        ({ availability }) => !subscription.skipMembersOnly || availability !== 'subscriber_only',
      );
      const titles = accessible.map((entry) => entry.title ?? '');
      const isMatch = await matchTitles(subscription.titleRegex, titles);
      return await this.#queueNew(
        id,
        feed,
        accessible,
        new Set(accessible.filter((_, index) => isMatch[index] === true)),
      );
    } catch (error) {
      if (!signal.aborted) await this.#fail(id, error);
      return 0;
    }
  }

  /** Marks entries as seen and queues them in one transaction, so that each video is queued once. */
  async #queueNew(
    id: string,
    feed: Feed,
    entries: readonly PlaylistEntryInfo[],
    matching: ReadonlySet<PlaylistEntryInfo>,
  ): Promise<number> {
    const { context, intake, queue, thumbnails } = this.#deps;
    const { prober } = this.#deps.feeds;
    const { live, metrics } = this.#deps.reporting;
    const now = context.clock.now();
    let isPictureChanged = false;
    const items = await context.commit(async (db): Promise<readonly Item[]> => {
      const store = new SubscriptionStore(db);
      const current = await store.find(id);
      if (current === undefined) return [];
      // Filtered entries are marked as seen as well: a changed filter applies to later entries.
      const newKeys = await store.markSeen(id, entries.map(getEntryKey));
      const newEntries = entries.filter((entry) => matching.has(entry) && newKeys.has(getEntryKey(entry)));
      const draft = intake.draft(current.url, current.name, current.order);
      const newItems = newEntries.map((entry, index) => ({
        ...prober.createEntry(draft, { ...feed, title: current.name }, entry, feed.entries.indexOf(entry)),
        addedNs: String(BigInt(draft.addedNs) + BigInt(index)),
        // Downloads that are started separately are reported separately.
        ...(current.order.autoStart ? {} : { batch: null }),
      }));
      await new DownloadStore(db).append(newItems);
      // A feed without a picture keeps the picture of one of its videos.
      const picture = feed.picture ?? current.picture ?? findFeedPicture(feed);
      isPictureChanged = picture !== current.picture;
      await store.change(id, {
        lastChecked: now,
        nextCheck: getNextCheck(now, current.intervalMinutes, 0),
        error: null,
        failure: null,
        failureParameters: null,
        failures: 0,
        picture,
        ...(newItems.length > 0 ? { lastFound: now, found: current.found + newItems.length } : {}),
      });
      return newItems;
    });
    if (isPictureChanged) await thumbnails.remove(getPictureId(id));
    for (const item of items) live.changed(item);
    metrics.added(items.length);
    if (items.length > 0) queue.wake();
    return items.length;
  }

  async #fail(id: string, error: unknown): Promise<void> {
    const { context, engine } = this.#deps;
    const { notifier } = this.#deps.reporting;
    const isProblem = error instanceof Problem;
    if (!isProblem) context.log.error('subscription check failed', { id, error });
    const { message, failure, failureParameters } = toDownloadFailure(error);
    const isMissing = isProblem && error.code === 'downloads.engine_failed' && isPageMissing(message);
    // A missing engine is not a failure of the feed.
    const isFeedFailure = !(isProblem && error.code === 'downloads.engine_missing');
    if (!isFeedFailure) engine.checkInBackground();
    const now = context.clock.now();
    await context.commit(async (db) => {
      const store = new SubscriptionStore(db);
      const current = await store.find(id);
      if (current === undefined) return;
      const failures = current.failures + (isFeedFailure ? 1 : 0);
      const nextCheck = getNextCheck(now, current.intervalMinutes, failures);
      await store.change(id, {
        lastChecked: now,
        nextCheck,
        error: message,
        failure: isMissing ? 'not_found' : failure,
        failureParameters: isMissing ? null : failureParameters,
        failures,
      });
      if (isFeedFailure && failures === notifyAfterFailures) {
        const reason = { message, failure: (isMissing ? 'not_found' : failure) ?? undefined, failureParameters };
        await notifier.subscriptionFailing(db, { id, name: current.name, reason, failedAt: now });
      }
    });
  }
}
