import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Item } from '../domain/item.ts';
import type { Entry } from '../engine/probe-result.ts';
import type { EngineWatch } from '../engine/engine-monitor.ts';
import type { UrlPolicy } from '../add/url-policy.ts';
import type { Intake } from '../add/intake.ts';
import type { Live } from '../queue/live-updates.ts';
import type { DownloadMetrics } from '../run/metrics.ts';
import type { Notices } from '../run/download-notifier.ts';
import type { Thumbnails } from '../run/thumbnails.ts';
import type { Prober } from '../add/prober.ts';
import type { Queue } from '../queue/queue.ts';
import { DownloadStore } from '../store/store.ts';
import { depthOf, entryKey, faceOf, isThere, readFeed, type Feed } from './feed.ts';
import { nextCheckAt } from './schedule.ts';
import { SubscriptionStore, type StoredSubscription } from './store.ts';
import { matchTitles } from './title-filter.ts';

/** Feeds that are looked at together: people's own downloads are to find a free place as well. */
const atOnce = 2;
/** A person is told once a feed has failed this often in a row. */
const tellAfter = 3;

export interface CheckerParts {
  readonly context: Context;
  readonly gate: UrlPolicy;
  readonly prober: Prober;
  readonly intake: Intake;
  readonly queue: Queue;
  readonly live: Live;
  readonly metrics: DownloadMetrics;
  readonly notices: Notices;
  readonly engine: EngineWatch;
  readonly thumbnails: Thumbnails;
  /** How far into a feed a check looks. */
  readonly scan: () => number;
  /** Called with a subscription whose row, or whose being checked, has changed. */
  readonly tell: (subscription: StoredSubscription) => void;
}

/** What the picture of a subscription is kept under, beside those of downloads. */
export function pictureId(id: string): string {
  return `subscription-${id}`;
}

/** Looks at feeds and queues what is new in them. */
export class Checker {
  readonly #parts: CheckerParts;
  readonly #running = new Map<string, Promise<number>>();

  constructor(parts: CheckerParts) {
    this.#parts = parts;
  }

  isChecking(id: string): boolean {
    return this.#running.has(id);
  }

  /** Returns how many videos were queued. A feed's own failure is in its row. */
  async checkAll(ids: readonly string[], signal: AbortSignal): Promise<number> {
    const waiting = [...new Set(ids)];
    let queued = 0;
    const work = async (): Promise<void> => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) queued += await this.#check(id, signal);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return queued;
  }

  /** A second call for the same feed gets the outcome of the first. */
  async #check(id: string, signal: AbortSignal): Promise<number> {
    const running = this.#running.get(id);
    if (running !== undefined) return await running;
    if (signal.aborted) return 0;
    const check = this.#run(id, signal);
    this.#running.set(id, check);
    try {
      return await check;
    } finally {
      this.#running.delete(id);
      // Told once more: it is no longer being looked at.
      const after = await new SubscriptionStore(this.#parts.context.db).find(id);
      if (after !== undefined) this.#parts.tell(after);
    }
  }

  async #run(id: string, signal: AbortSignal): Promise<number> {
    const { context, scan } = this.#parts;
    const subscription = await new SubscriptionStore(context.db).find(id);
    if (subscription === undefined) return 0;
    this.#parts.tell(subscription);
    try {
      const { url, order } = subscription;
      // An imported one was never looked at.
      const first = subscription.lastChecked === null;
      const most = depthOf(order, scan(), first);
      const feed = await readFeed(this.#parts, { url, order, most }, signal);
      if (first) return await this.#take(id, feed, feed.entries.filter(isThere), new Set());
      const open = feed.entries.filter(
        ({ availability }) => !subscription.skipMembersOnly || availability !== 'subscriber_only',
      );
      const titles = open.map((entry) => entry.title ?? '');
      const wanted = await matchTitles(subscription.titleRegex, titles);
      return await this.#take(id, feed, open, new Set(open.filter((_, index) => wanted[index] === true)));
    } catch (error) {
      if (!signal.aborted) await this.#fail(id, error);
      return 0;
    }
  }

  /** Marks and rows are one transaction: whatever happens, a video is queued once. */
  async #take(id: string, feed: Feed, entries: readonly Entry[], wanted: ReadonlySet<Entry>): Promise<number> {
    const { context, prober, intake, live, metrics, queue, thumbnails } = this.#parts;
    const now = context.clock.now();
    let isRepainted = false;
    const items = await context.commit(async (db): Promise<readonly Item[]> => {
      const store = new SubscriptionStore(db);
      const current = await store.find(id);
      if (current === undefined) return [];
      // What the filter leaves out counts as seen as well: another filter is for what comes later.
      const fresh = await store.markSeen(id, entries.map(entryKey));
      const chosen = entries.filter((entry) => wanted.has(entry) && fresh.has(entryKey(entry)));
      const draft = intake.draft(current.url, current.name, current.order);
      const made = chosen.map((entry, index) => ({
        ...prober.entry(draft, { ...feed, title: current.name }, entry, feed.entries.indexOf(entry)),
        addedNs: String(BigInt(draft.addedNs) + BigInt(index)),
        // What a person starts one by one is told of one by one.
        ...(current.order.autoStart ? {} : { batch: null }),
      }));
      await new DownloadStore(db).append(made);
      // A feed without a picture of its own keeps that of one of its videos.
      const picture = feed.picture ?? current.picture ?? faceOf(feed);
      isRepainted = picture !== current.picture;
      await store.change(id, {
        lastChecked: now,
        nextCheck: nextCheckAt(now, current.intervalMinutes, 0),
        error: null,
        failures: 0,
        picture,
        ...(made.length > 0 ? { lastFound: now, found: current.found + made.length } : {}),
      });
      return made;
    });
    if (isRepainted) await thumbnails.forget(pictureId(id));
    for (const item of items) live.changed(item);
    metrics.added(items.length);
    if (items.length > 0) queue.wake();
    return items.length;
  }

  async #fail(id: string, error: unknown): Promise<void> {
    const { context, engine, notices } = this.#parts;
    const known = error instanceof Problem;
    if (!known) context.log.error('a subscription could not be looked at', { id, error });
    const reason = known ? error.detail : 'It could not be looked at for a reason of our own; see the log.';
    // No fault of the feed's.
    const counts = !(known && error.code === 'downloads.engine_missing');
    if (!counts) engine.look();
    const now = context.clock.now();
    await context.commit(async (db) => {
      const store = new SubscriptionStore(db);
      const current = await store.find(id);
      if (current === undefined) return;
      const failures = current.failures + (counts ? 1 : 0);
      const nextCheck = nextCheckAt(now, current.intervalMinutes, failures);
      await store.change(id, { lastChecked: now, nextCheck, error: reason, failures });
      if (counts && failures === tellAfter) {
        await notices.failing(db, { id, name: current.name, reason, at: now });
      }
    });
  }
}
