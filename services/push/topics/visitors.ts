import type { Accounts } from '../../contracts/control/accounts.ts';
import type { Clock } from '../../contracts/service.ts';
import { Limits } from '../access/limits.ts';
import { SubscriberRateLimits } from '../access/subscriber-rate-limits.ts';
import type { Settings } from '../settings.ts';
import { ActiveTopics } from './active-topics.ts';

/** Limits of the visitors and accounts that publish and subscribe. */
export interface Visitors {
  readonly limits: Limits;
  readonly subscriberRateLimits: SubscriberRateLimits;
  readonly topics: ActiveTopics;
}

export function createVisitors(clock: Clock, accounts: Accounts, settings: Readonly<Settings>): Visitors {
  const limits = new Limits(clock, settings);
  return {
    limits,
    subscriberRateLimits: new SubscriberRateLimits(
      clock,
      () => settings.subscriberRateLimiting,
      (identity, topic) => (settings.unifiedPush ? true : accounts.may(identity, 'push', 'write', topic)),
    ),
    topics: new ActiveTopics(clock, limits, () => settings.totalTopicLimit),
  };
}
