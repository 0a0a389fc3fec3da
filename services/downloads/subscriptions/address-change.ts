import * as m from '#messages/downloads-problems';
import { Problem } from '../../contracts/problem.ts';
import type { Order } from '../domain/order.ts';
import type { SubscriptionStore } from './store.ts';

/** New address of a subscription, and its content. */
export interface AddressChange extends Pick<Order, 'login' | 'secrets'> {
  readonly url: string;
  /** Keys of the videos at the address. */
  readonly entryKeys: readonly string[];
  readonly picture: string | null;
}

export const alreadySubscribedProblem = new Problem('downloads.subscribed', 409, m.alreadySubscribed);

/**
 * Prepares the seen entries of a subscription for its new address. If some of its videos are known, it is the same
 * channel, and new videos are queued; otherwise its videos are marked as seen, as for a new subscription.
 * @throws Problem `downloads.subscribed` (409)
 */
export async function prepareAddressChange(
  store: SubscriptionStore,
  id: string,
  { url, entryKeys }: AddressChange,
): Promise<void> {
  // It may be the same address with another password.
  const other = await store.findByUrl(url);
  if (other !== undefined && other.id !== id) throw alreadySubscribedProblem;
  if (!(await store.hasSeen(id, entryKeys))) await store.markSeen(id, entryKeys);
}
