import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { Addresses } from '../store/addresses.ts';
import { keptText, type Item } from '../domain/item.ts';
import type { PlaylistPlace } from '../domain/order.ts';
import type { Driver, Target } from '../engine/driver.ts';
import { pictureOf, type Entry, type List, type Probe } from '../engine/probe-result.ts';
import type { Folders } from '../run/folders.ts';
import type { Live } from '../queue/live-updates.ts';
import type { DownloadMetrics } from '../run/metrics.ts';
import type { Notices } from '../run/download-notifier.ts';
import { DownloadStore } from '../store/store.ts';

/** Probes at once; one takes about two seconds of a core. */
const atOnce = 3;

/** Long enough for a channel of ten thousand videos. */
const patienceMs = 5 * 60_000;
/** A stream may be announced for some day that nobody lives to see; it is looked at again before. */
const longestWaitMs = 366 * 24 * 60 * 60_000;
/** With the extractor's own notes in it, in characters. */
const longestAddress = 64 * 1024;
const tooSlow = new Problem('downloads.engine_failed', 502, 'The site did not say within five minutes what is there.');

interface Parts {
  readonly context: Context;
  readonly driver: Driver;
  readonly folders: Folders;
  readonly live: Live;
  readonly metrics: DownloadMetrics;
  readonly notices: Notices;
}

/** Asks the extractor what is behind an address and stores the answer. */
export class Prober {
  readonly #parts: Parts;
  readonly #waiting: PromiseWithResolvers<void>[] = [];
  #running = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns the item with its title, or the items a playlist has become; they are stored then. An empty list: it was
   * removed meanwhile. The state of a single video is left as it is. @throws Problem `downloads.engine_failed`,
   * `downloads.engine_missing`, and the signal's reason.
   */
  async probe(item: Item, signal: AbortSignal): Promise<readonly Item[]> {
    const { context, folders, live, metrics } = this.#parts;
    return await this.#inTurn(signal, async () => {
      const folder = await folders.make(item.uid);
      const probe = await this.#look(item, folder, signal);
      if (probe.kind === 'video') {
        const title = item.playlist?.entryTitle ?? keptText(probe.title);
        const { liveStatus, thumbnail } = probe;
        const startsAt = probe.startsAt === null ? null : Math.min(probe.startsAt, context.clock.now() + longestWaitMs);
        // What has not begun is looked at again when it has.
        const change = {
          probed: startsAt === null,
          startsAt,
          title,
          videoId: keptText(probe.id),
          liveStatus,
          thumbnail: thumbnail ?? item.thumbnail,
        };
        const changed = await context.commit(async (db) => await new DownloadStore(db).change(item.uid, change));
        if (changed !== undefined) live.changed(changed);
        return changed === undefined ? [] : [changed];
      }
      const made = probe.entries.map((entry, index) => this.entry(item, probe, entry, index));
      const entries = await context.commit(async (db) => {
        const stored = await new DownloadStore(db).replace(item.uid, made);
        // A list inside of a list may be empty, and the last one that was waited for.
        await this.#parts.notices.left(db, [item]);
        return stored;
      });
      live.removed([item]);
      for (const entry of entries) live.changed(entry);
      metrics.added(entries.length);
      await folders.remove(item.uid);
      return entries;
    });
  }

  /** What is behind an address, entries unopened; nothing is stored. @throws as {@link Prober.probe} */
  async look(target: Target, signal: AbortSignal): Promise<Probe> {
    return await this.#inTurn(signal, async () => await this.#look(target, undefined, signal));
  }

  async #inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place goes on to the next one at once, or a newcomer would take it as well.
      if (next === undefined) this.#running -= 1;
      else next.resolve();
    }
  }

  /** Waits for a place; whoever is stopped meanwhile takes none. */
  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < atOnce) {
      this.#running += 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn);
    const leave = (): void => {
      const place = this.#waiting.indexOf(turn);
      if (place < 0) return;
      this.#waiting.splice(place, 1);
      turn.reject(signal.reason);
    };
    signal.addEventListener('abort', leave);
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** A site that sends a byte now and then would hold up everybody else's downloads. */
  async #look(item: Target, folder: string | undefined, signal: AbortSignal): Promise<Probe> {
    const late = new AbortController();
    using _timer = this.#parts.context.clock.after(patienceMs, () => late.abort(tooSlow));
    return await this.#parts.driver.probe(item, folder, AbortSignal.any([signal, late.signal]));
  }

  /** The download that an entry of a list becomes. */
  entry(item: Item, list: Omit<List, 'kind'>, entry: Entry, index: number): Item {
    const { random, vault } = this.#parts.context;
    // Some extractors give a bare id; only their own playlist can open it.
    const address =
      /^https?:/.test(entry.url ?? '') && (entry.url ?? '').length <= longestAddress ? (entry.url ?? null) : null;
    // The extractor hides notes to itself behind a fragment: it gets them back, nobody else sees them.
    const plain = address?.replace(/#__youtubedl_smuggle=.*$/, '') ?? null;
    const addresses = new Addresses(vault);
    const kept = plain === null ? undefined : addresses.split(plain);
    const shown = kept?.shown ?? null;
    // The login of a page is not for the sites it links to.
    const { login, secrets } = kept ?? item.order;
    const title = keptText(entry.title ?? null);
    const playlist: PlaylistPlace = {
      id: keptText(list.id),
      title: keptText(list.title),
      index: index + 1,
      count: list.entries.length,
      entryTitle: entry._type === 'url_transparent' ? title : null,
      entryAddress: address === null || address === plain || !kept ? null : addresses.keepEntry(address, kept),
      byIndex: address === null,
      ...(list.channel === undefined ? {} : { channel: { name: keptText(list.channel.name), id: list.channel.id } }),
    };
    return {
      ...item,
      uid: random.text(16),
      url: shown ?? item.url,
      order: { ...item.order, login, secrets },
      state: item.order.autoStart ? 'waiting' : 'pending',
      title: title ?? shown ?? item.title,
      videoId: keptText(entry.id ?? shown ?? item.url),
      playlist,
      thumbnail: pictureOf(entry),
      liveStatus: entry.live_status ?? null,
      // A tab of a channel is a list again; when a stream begins, its own page says.
      probed: !isList(entry) && entry.live_status !== 'is_upcoming',
      // A stream takes its own time; nobody waits for it to hear of the rest.
      batch: /^is_(live|upcoming)$/.test(entry.live_status ?? '') ? null : (item.batch ?? item.uid),
      attempts: 0,
      addedNs: String(BigInt(item.addedNs) + BigInt(index)),
    };
  }
}

/** Whether an entry is no video but a list of them; what is known of a video gives it away. */
export function isList(entry: Entry): boolean {
  if (entry._type === 'playlist' || entry._type === 'multi_video') return true;
  const hints = [entry.duration, entry.timestamp, entry.view_count, entry.live_status, entry.availability];
  return /playlist|channel|tab/i.test(entry.ie_key ?? '') && hints.every((hint) => hint === undefined || hint === null);
}
