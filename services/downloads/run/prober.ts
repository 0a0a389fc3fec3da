import type { Context } from '../../contracts/service.ts';
import { Addresses } from '../store/addresses.ts';
import { createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import { truncateText, type Item } from '../domain/item.ts';
import type { PlaylistEntry } from '../domain/order.ts';
import type { Driver, ProbeTarget } from '../engine/driver.ts';
import { findPicture, type PlaylistEntryInfo, type PlaylistProbe, type Probe } from '../engine/probe-result.ts';
import { findMediaDetails } from '../engine/media-details.ts';
import type { Folders } from '../files/folders.ts';
import { DownloadStore } from '../store/store.ts';
import type { Reporting } from '../reporting/reporting.ts';

/** Maximum number of parallel probes; each takes about two seconds of a core. */
const maxParallel = 3;

/** Time limit of a probe, long enough for a channel of ten thousand videos. */
const timeoutMs = 5 * 60_000;
/**
 * Longest wait for an announced stream, which may be scheduled for a date in the far future; it is probed again after
 * this time.
 */
const maxStartDelayMs = 366 * 24 * 60 * 60_000;
/** Maximum length of an address with the internal data of the extractor, in characters. */
const maxAddressLength = 64 * 1024;

interface Dependencies {
  readonly context: Context;
  readonly driver: Driver;
  readonly folders: Folders;
  readonly reporting: Reporting;
}

/** Probes an address with the extractor and stores the result. */
export class Prober {
  readonly #deps: Dependencies;
  readonly #waiting: PromiseWithResolvers<void>[] = [];
  #running = 0;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /**
   * Probes an item. Returns the item with its title, or the stored items of a playlist; an empty list when it was
   * removed. The state of a single video does not change.
   * @throws Problem `downloads.engine_failed`, `downloads.engine_missing`, and the reason of the signal
   */
  async probe(item: Item, signal: AbortSignal): Promise<readonly Item[]> {
    const { context, folders } = this.#deps;
    const { live, metrics } = this.#deps.reporting;
    return await this.#withSlot(signal, async () => {
      const folder = await folders.create(item.uid);
      const probe = await this.#probeWithTimeout(item, folder, signal);
      if (probe.kind === 'video') {
        const title = item.playlist?.entryTitle ?? truncateText(probe.title);
        const { liveStatus, thumbnail, media } = probe;
        const startsAt =
          probe.startsAt === null ? null : Math.min(probe.startsAt, context.clock.now() + maxStartDelayMs);
        // An upcoming stream is probed again after it began.
        const change = {
          probed: startsAt === null,
          startsAt,
          title,
          videoId: truncateText(probe.id),
          liveStatus,
          thumbnail: thumbnail ?? item.thumbnail,
          media: { ...item.media, ...media },
        };
        const changed = await context.commit(async (db) => await new DownloadStore(db).change(item.uid, change));
        if (changed !== undefined) live.changed(changed);
        return changed === undefined ? [] : [changed];
      }
      const drafts = probe.entries.map((entry, index) => this.createEntry(item, probe, entry, index));
      const entries = await context.commit(async (db) => {
        const stored = await new DownloadStore(db).replace(item.uid, drafts);
        // A nested list may be empty and may be the last open item of its batch.
        await this.#deps.reporting.notifier.removedFromQueue(db, [item]);
        return stored;
      });
      live.removed([item]);
      for (const entry of entries) live.changed(entry);
      metrics.added(entries.length);
      await folders.remove(item.uid);
      return entries;
    });
  }

  /**
   * Probes an address without opening entries; nothing is stored.
   * @throws as {@link Prober.probe}
   */
  async preview(target: ProbeTarget, signal: AbortSignal): Promise<Probe> {
    return await this.#withSlot(signal, async () => await this.#probeWithTimeout(target, undefined, signal));
  }

  async #withSlot<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#acquireSlot(signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The slot is passed directly to the next waiting call; otherwise a new call could take it as well.
      if (next === undefined) this.#running -= 1;
      else next.resolve();
    }
  }

  /** Waits for a slot; an aborted call takes none. */
  async #acquireSlot(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < maxParallel) {
      this.#running += 1;
      return;
    }
    const slot = Promise.withResolvers<void>();
    this.#waiting.push(slot);
    const cancel = (): void => {
      const index = this.#waiting.indexOf(slot);
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      slot.reject(signal.reason);
    };
    signal.addEventListener('abort', cancel);
    try {
      await slot.promise;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Limits the time of a probe: a slow site would block all other downloads. */
  async #probeWithTimeout(item: ProbeTarget, folder: string | undefined, signal: AbortSignal): Promise<Probe> {
    const timeout = new AbortController();
    using _timer = this.#deps.context.clock.after(timeoutMs, () => timeout.abort(createTimeoutProblem()));
    return await this.#deps.driver.probe(item, folder, AbortSignal.any([signal, timeout.signal]));
  }

  /** Creates the download for an entry of a list. */
  createEntry(item: Item, list: Omit<PlaylistProbe, 'kind'>, entry: PlaylistEntryInfo, index: number): Item {
    const { random, vault } = this.#deps.context;
    // Some extractors return only an id, which can be opened only through the playlist.
    const address =
      /^https?:/.test(entry.url ?? '') && (entry.url ?? '').length <= maxAddressLength ? (entry.url ?? null) : null;
    // The extractor stores internal data in the fragment: it is returned to the extractor and not shown.
    const publicAddress = address?.replace(/#__youtubedl_smuggle=.*$/, '') ?? null;
    const addresses = new Addresses(vault);
    const sealedAddress = publicAddress === null ? undefined : addresses.split(publicAddress);
    const displayUrl = sealedAddress?.displayUrl ?? null;
    // The login of a page is not sent to the sites that it links to.
    const { login, secrets } = sealedAddress ?? item.order;
    const title = truncateText(entry.title ?? null);
    const playlist: PlaylistEntry = {
      id: truncateText(list.id),
      title: truncateText(list.title),
      index: index + 1,
      count: list.entries.length,
      entryTitle: entry._type === 'url_transparent' ? title : null,
      entryAddress:
        address === null || address === publicAddress || !sealedAddress
          ? null
          : addresses.sealEntry(address, sealedAddress),
      byIndex: address === null,
      ...(list.channel === undefined
        ? {}
        : { channel: { name: truncateText(list.channel.name), id: list.channel.id } }),
    };
    return {
      ...item,
      uid: random.text(16),
      url: displayUrl ?? item.url,
      order: { ...item.order, login, secrets },
      state: item.order.autoStart ? 'waiting' : 'pending',
      title: title ?? displayUrl ?? item.title,
      videoId: truncateText(entry.id ?? displayUrl ?? item.url),
      playlist,
      thumbnail: findPicture(entry),
      media: findMediaDetails(entry),
      liveStatus: entry.live_status ?? null,
      // A tab of a channel is a list; the start time of a stream is on its own page.
      probed: !isList(entry) && entry.live_status !== 'is_upcoming',
      // A live stream may take hours; notifications about the rest of the batch do not wait for it.
      batch: /^is_(live|upcoming)$/.test(entry.live_status ?? '') ? null : (item.batch ?? item.uid),
      attempts: 0,
      addedNs: String(BigInt(item.addedNs) + BigInt(index)),
    };
  }
}

function createTimeoutProblem(): DownloadProblem {
  const failure = createServiceFailure('unreachable', 'site', { event: 'timeout' });
  return new DownloadProblem('downloads.engine_failed', 502, failure);
}

/** Returns whether an entry is a list instead of a video: fields that only a video has are missing. */
export function isList(entry: PlaylistEntryInfo): boolean {
  if (entry._type === 'playlist' || entry._type === 'multi_video') return true;
  const hints = [entry.duration, entry.timestamp, entry.view_count, entry.live_status, entry.availability];
  return (
    /playlist|channel|tab/i.test(entry.ie_key ?? '') && hints.every((value) => value === undefined || value === null)
  );
}
