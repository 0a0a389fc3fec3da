import { LruMap } from '../../kit/lru-map.ts';
import { withAddon, type ReadStreams } from '../domain/read-stream.ts';
import type { StreamAddon } from '../domain/stream.ts';

/** Maximum number of views of one response. */
const maxViews = 8;

/**
 * Caches responses per configured addon. A response is shared by all configurations that use the same address, while
 * the name, position and permissions of its streams depend on the configuration.
 */
export class AddonViews {
  readonly #views = new WeakMap<ReadStreams, LruMap<string, ReadStreams>>();

  /** Returns the same object for the same addon, so that values derived from it stay cached. */
  getView(parsed: ReadStreams, addon: StreamAddon): ReadStreams {
    const key = JSON.stringify(addon);
    const addonViews = this.#views.get(parsed) ?? new LruMap<string, ReadStreams>(maxViews);
    this.#views.set(parsed, addonViews);
    const cachedView = addonViews.get(key);
    if (cachedView !== undefined) return cachedView;
    const view = withAddon(parsed, addon);
    addonViews.set(key, view);
    return view;
  }
}
