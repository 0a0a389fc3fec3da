import { Problem } from '../../contracts/problem.ts';
import type { Order } from '../domain/order.ts';
import type { SubscriptionStore } from './store.ts';

/** What has another address by now, and what was looked at there. */
export interface Move extends Pick<Order, 'login' | 'secrets'> {
  readonly url: string;
  /** Keys of the videos that are there. */
  readonly there: readonly string[];
  readonly picture: string | null;
}

export const alreadySubscribed = new Problem('downloads.subscribed', 409, 'This URL is already subscribed');

/**
 * Makes ready what is remembered of a subscription for its new address. Where some of its videos are known, it is the same
 * channel, and what came meanwhile is still to come; where none is, what is there counts as seen, as with a new one.
 * @throws Problem `downloads.subscribed` (409)
 */
export async function settle(store: SubscriptionStore, id: string, { url, there }: Move): Promise<void> {
  // It may be its own, with another password.
  const other = await store.findByUrl(url);
  if (other !== undefined && other.id !== id) throw alreadySubscribed;
  if (!(await store.hasSeen(id, there))) await store.markSeen(id, there);
}
