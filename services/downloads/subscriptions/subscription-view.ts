import type { Subscription } from '../../contracts/downloads/subscriptions.ts';
import type { StoredSubscription } from '../domain/subscription.ts';

/** Converts a subscription for the app API. `checking` is true during a check. */
export function toSubscription(subscription: StoredSubscription, checking: boolean): Subscription {
  const { order, failure, failureParameters } = subscription;
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
    ...(failure === null ? {} : { failure }),
    ...(failure === null || !failureParameters ? {} : { failureParameters }),
    failures: subscription.failures,
  };
}
