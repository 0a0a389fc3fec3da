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
const mostNotices = 10_000;
/** Characters of all their bodies. */
const mostText = 4 * 1024 * 1024;
/** Characters of a body that is worth remembering. */
const longestBody = 32_768;

interface FreshNotice {
  readonly message: Message;
  readonly files: number;
  readonly destinations: Map<string, Destination>;
}

/** What was accepted a moment ago, so that its first attempts need not read and unseal what this process has just written. */
export class RecentCache {
  readonly #notices = new Map<string, FreshNotice>();
  #text = 0;

  /** Call before the commit, so that no fast delivery misses it. `destinations` by their ids. */
  keep(message: Message, files: number, destinations: Map<string, Destination>): void {
    if (message.body.length > longestBody || destinations.size === 0) return;
    this.#notices.set(message.id, { message, files, destinations });
    this.#text += message.body.length;
    for (const oldest of this.#notices.keys()) {
      if (this.#notices.size <= mostNotices && this.#text <= mostText) return;
      this.forget(oldest);
    }
  }

  forget(noticeId: string): void {
    const notice = this.#notices.get(noticeId);
    if (notice === undefined) return;
    this.#notices.delete(noticeId);
    this.#text -= notice.message.body.length;
  }

  /** The delivery, once. */
  take(noticeId: string, destinationId: string): RecentDelivery | undefined {
    const notice = this.#notices.get(noticeId);
    const destination = notice?.destinations.get(destinationId);
    if (notice === undefined || destination === undefined) return undefined;
    notice.destinations.delete(destinationId);
    if (notice.destinations.size === 0) this.forget(noticeId);
    return { message: notice.message, files: notice.files, destination };
  }
}
