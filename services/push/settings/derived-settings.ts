import { parseDuration } from '../domain/duration.ts';
import type { Settings } from '../settings.ts';

/**
 * Values that are derived from the settings. Collections keep their identity, because routes hold references to them;
 * functions always return the current value.
 */
export class DerivedSettings {
  readonly reservedTopics = new Set<string>();
  readonly webPushHosts: string[] = [];
  /** Returns the retention of messages in seconds. */
  readonly cacheSeconds: () => number;
  /** Returns the maximum length of a message in bytes. */
  readonly messageSizeLimit: () => number;
  /** Returns the maximum delay in seconds. */
  readonly maxDelaySeconds: () => number;
  readonly #settings: Readonly<Settings>;

  constructor(settings: Readonly<Settings>) {
    this.#settings = settings;
    this.cacheSeconds = memoizeSeconds(() => settings.cacheDuration);
    this.messageSizeLimit = () => settings.messageSizeLimit;
    this.maxDelaySeconds = () => toSeconds(settings.messageDelayLimit);
    this.update();
  }

  /** Applies changed settings to the collections. */
  update(): void {
    this.reservedTopics.clear();
    for (const topic of this.#settings.reservedTopics) this.reservedTopics.add(topic);
    this.webPushHosts.splice(0, this.webPushHosts.length, ...this.#settings.webPushHosts);
  }
}

/** Reads a duration of the settings and caches it until the setting changes, because it is used for each message. */
function memoizeSeconds(read: () => string): () => number {
  let [text, value] = ['', 0];
  return () => {
    const current = read();
    if (current !== text) [text, value] = [current, toSeconds(current)];
    return value;
  };
}

/** Converts a validated duration to seconds. */
export function toSeconds(duration: string): number {
  return Math.floor((parseDuration(duration) ?? 0) / 1000);
}
