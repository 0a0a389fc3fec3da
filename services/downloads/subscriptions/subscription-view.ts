import type { Subscription } from '../../contracts/downloads/subscriptions.ts';
import type { StoredSubscription } from './store.ts';

/** A subscription as our own pages see it; `checking`: it is being looked at just now. */
export function toSubscription(subscription: StoredSubscription, checking: boolean): Subscription {
  const { order } = subscription;
  return {
    id: subscription.id,
    url: subscription.url,
    name: subscription.name,
    enabled: subscription.enabled,
    intervalMinutes: subscription.intervalMinutes,
    titleRegex: subscription.titleRegex,
    skipMembersOnly: subscription.skipMembersOnly,
    folder: order.folder ?? '',
    kind: order.type,
    quality: order.quality,
    format: order.format,
    picture: subscription.picture !== null,
    seen: subscription.seen,
    checking,
    lastChecked: subscription.lastChecked,
    nextCheck: subscription.enabled ? subscription.nextCheck : null,
    lastFound: subscription.lastFound,
    found: subscription.found,
    error: subscription.error,
    failures: subscription.failures,
  };
}
