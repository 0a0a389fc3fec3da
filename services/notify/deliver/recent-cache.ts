import type { Destination } from '../destinations/destination.ts';
import type { Message } from '../domain/message.ts';
import { LruMap } from '../../kit/lru-map.ts';

/** Delivery before its first attempt. */
export interface RecentDelivery {
  readonly message: Message;
  /** Number of attachments. */
  readonly files: number;
  readonly destination: Destination;
}

/**
 * Maximum number of cached notifications. Deliveries to an unavailable destination are read from the database later.
 */
const maxNotifications = 10_000;
/** Maximum length of all cached bodies, in characters. */
const maxTextLength = 4 * 1024 * 1024;
/** Maximum length of a cached body, in characters. */
const maxBodyLength = 32_768;

interface CachedNotification {
  readonly message: Message;
  readonly files: number;
  readonly destinations: Map<string, Destination>;
}

/**
 * Caches notifications that were just accepted, so that their first attempts need not read and decrypt what this
 * process has just written.
 */
export class RecentCache {
  readonly #notifications = new LruMap<string, CachedNotification>(maxNotifications, {
    getWeight: ({ message }) => message.body.length,
    maxWeight: maxTextLength,
  });

  /** Adds a notification with its destinations by ID. Call it before the commit, so that fast deliveries find it. */
  add(message: Message, files: number, destinations: Map<string, Destination>): void {
    if (message.body.length > maxBodyLength || destinations.size === 0) return;
    this.#notifications.set(message.id, { message, files, destinations });
  }

  delete(notificationId: string): void {
    this.#notifications.delete(notificationId);
  }

  /** Removes and returns a delivery. */
  take(notificationId: string, destinationId: string): RecentDelivery | undefined {
    const notification = this.#notifications.get(notificationId);
    const destination = notification?.destinations.get(destinationId);
    if (notification === undefined || destination === undefined) return undefined;
    notification.destinations.delete(destinationId);
    if (notification.destinations.size === 0) this.delete(notificationId);
    return { message: notification.message, files: notification.files, destination };
  }
}
