import { LruMap } from '../domain/lru-map.ts';
import { ofAddon, type ReadStreams } from '../domain/read-stream.ts';
import type { StreamAddon } from '../domain/stream.ts';

/** Of one answer. */
const mostViews = 8;

/**
 * Answers as each configuration's addon has them. One is remembered for all who ask the same address; under which name,
 * at which place and with which rights its streams are listed is each configuration's own affair, and may change.
 */
export class AddonViews {
  readonly #views = new WeakMap<ReadStreams, LruMap<string, ReadStreams>>();

  /** The same for the same addon, so that what was made of it is known again. */
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
