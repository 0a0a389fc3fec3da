import type { Context } from '../contracts/service.ts';
import type { Item } from './domain/item.ts';
import type { PlaylistPlace } from './domain/order.ts';
import type { Driver, Entry } from './engine/driver.ts';
import type { Folders } from './folders.ts';
import type { Live } from './live.ts';
import type { Meters } from './meters.ts';
import { DownloadStore } from './store/store.ts';

/** Probes at once; one takes about two seconds of a core. */
const atOnce = 3;

interface Parts {
  readonly context: Context;
  readonly driver: Driver;
  readonly folders: Folders;
  readonly live: Live;
  readonly meters: Meters;
}

/** Asks the extractor what is behind an address and stores the answer. */
export class Prober {
  readonly #parts: Parts;
  readonly #waiting: (() => void)[] = [];
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
    const { context, driver, folders, live, meters } = this.#parts;
    if (this.#running >= atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      signal.throwIfAborted();
      const folder = await folders.make(item.uid);
      const probe = await driver.probe(item, folder, signal);
      if (probe.kind === 'video') {
        const title = item.playlist?.entryTitle ?? probe.title;
        const change = { probed: true, title, videoId: probe.id, liveStatus: probe.liveStatus };
        const changed = await context.commit(async (db) => await new DownloadStore(db).change(item.uid, change));
        if (changed !== undefined) live.changed(changed);
        return changed === undefined ? [] : [changed];
      }
      const entries = probe.entries.map((entry, index) => this.#entry(item, probe, entry, index));
      await context.commit(async (db) => await new DownloadStore(db).replace(item.uid, entries));
      live.removed([item.uid]);
      for (const entry of entries) live.changed(entry);
      meters.added(entries.length);
      await folders.remove(item.uid);
      return entries;
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  #entry(
    item: Item,
    list: { id: string; title: string; entries: readonly Entry[] },
    entry: Entry,
    index: number,
  ): Item {
    const { random } = this.#parts.context;
    // Some extractors give a bare id; only their own playlist can open it.
    const address = /^https?:/.test(entry.url ?? '') ? (entry.url ?? null) : null;
    // The extractor hides notes to itself behind a fragment: it gets them back, nobody else sees them.
    const shown = address?.replace(/#__youtubedl_smuggle=.*$/, '') ?? null;
    const playlist: PlaylistPlace = {
      id: list.id,
      title: list.title,
      index: index + 1,
      count: list.entries.length,
      entryTitle: entry._type === 'url_transparent' ? (entry.title ?? null) : null,
      entryAddress: address === shown ? null : address,
      byIndex: address === null,
    };
    return {
      ...item,
      uid: random.text(16),
      url: shown ?? item.url,
      state: item.order.autoStart ? 'waiting' : 'pending',
      title: entry.title ?? shown ?? item.title,
      videoId: entry.id ?? shown ?? item.url,
      playlist,
      probed: true,
      attempts: 0,
      addedNs: String(BigInt(item.addedNs) + BigInt(index)),
    };
  }
}
