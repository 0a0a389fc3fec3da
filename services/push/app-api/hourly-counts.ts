import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushApi } from '../../contracts/push/api.ts';
import type { Clock } from '../../contracts/service.ts';
import { lastHours } from '../../kit/last-days.ts';
import type { TopicCounts } from '../topics/topic-counts.ts';
import type { TopicRights } from './topic-permissions.ts';

export interface HourParts {
  readonly clock: Clock;
  readonly counts: Pick<TopicCounts, 'readHours'>;
  readonly rights: Pick<TopicRights, 'may'>;
}

/** How many messages came lately, for our own page; also of those that are not kept any more. */
export function hourHandlers({ clock, counts, rights }: HourParts): readonly ApiHandler[] {
  return [
    implement(pushApi.hours, async ({ identity }) => {
      const hours = lastHours(clock.now()).map((at) => ({ at, low: 0, normal: 0, high: 0, urgent: 0 }));
      for (const { topic, hour, priority, published } of await counts.readHours()) {
        const shown = hours.find(({ at }) => at === hour * 1000);
        if (shown === undefined || !rights.may(identity, 'read', topic)) continue;
        shown[nameOf(priority)] += published;
      }
      return { hours };
    }),
  ];
}

function nameOf(priority: number): 'low' | 'normal' | 'high' | 'urgent' {
  return priority < 3 ? 'low' : priority === 3 ? 'normal' : priority === 4 ? 'high' : 'urgent';
}
