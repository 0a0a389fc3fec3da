import type { Destination } from '../destinations/destination.ts';
import type { Message } from '../domain/message.ts';

/** A delivery whose first attempt is still to come, as its acceptance knew it. */
export interface RecentDelivery {
  readonly message: Message;
  /** How many files go with it. */
  readonly files: number;
  readonly destination: Destination;
}

/** Notices that are remembered; those behind a destination that is away are read from the database when their time comes. */
const maxNotifications = 10_000;
/** Characters of all their bodies. */
const maxTextLength = 4 * 1024 * 1024;
/** Characters of a body that is worth remembering. */
const maxBodyLength = 32_768;

interface CachedNotification {
  readonly message: Message;
  readonly files: number;
  readonly destinations: Map<string, Destination>;
}

/** What was accepted a moment ago, so that its first attempts need not read and unseal what this process has just written. */
export class RecentCache {
  readonly #notifications = new Map<string, CachedNotification>();
  #textLength = 0;

  /** Call before the commit, so that no fast delivery misses it. `destinations` by their ids. */
  add(message: Message, files: number, destinations: Map<string, Destination>): void {
    if (message.body.length > maxBodyLength || destinations.size === 0) return;
    this.#notifications.set(message.id, { message, files, destinations });
    this.#textLength += message.body.length;
    for (const oldest of this.#notifications.keys()) {
      if (this.#notifications.size <= maxNotifications && this.#textLength <= maxTextLength) return;
      this.delete(oldest);
    }
  }

  delete(notificationId: string): void {
    const notification = this.#notifications.get(notificationId);
    if (notification === undefined) return;
    this.#notifications.delete(notificationId);
    this.#textLength -= notification.message.body.length;
  }

  /** The delivery, once. */
  take(notificationId: string, destinationId: string): RecentDelivery | undefined {
    const notification = this.#notifications.get(notificationId);
    const destination = notification?.destinations.get(destinationId);
    if (notification === undefined || destination === undefined) return undefined;
    notification.destinations.delete(destinationId);
    if (notification.destinations.size === 0) this.delete(notificationId);
    return { message: notification.message, files: notification.files, destination };
  }
}
