import { LruMap } from '../domain/lru-map.ts';
import { ofAddon, type ReadStreams } from '../domain/read-stream.ts';
import type { StreamAddon } from '../domain/stream.ts';

/** Maximum number of views of one response. */
const mostViews = 8;

/**
 * Caches responses per configured addon. A response is shared by all configurations that use the same address, while
 * the name, position and permissions of its streams depend on the configuration.
 */
export class AddonViews {
  readonly #views = new WeakMap<ReadStreams, LruMap<string, ReadStreams>>();

  /** Returns the same object for the same addon, so that values derived from it stay cached. */
  of(read: ReadStreams, addon: StreamAddon): ReadStreams {
    const key = JSON.stringify(addon);
    const views = this.#views.get(read) ?? new LruMap<string, ReadStreams>(mostViews);
    this.#views.set(read, views);
    const known = views.get(key);
    if (known !== undefined) return known;
    const made = ofAddon(read, addon);
    views.set(key, made);
    return made;
  }
}
