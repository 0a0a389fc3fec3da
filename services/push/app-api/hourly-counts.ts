import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushApi } from '../../contracts/push/api.ts';
import type { Clock } from '../../contracts/service.ts';
import { getLastHours } from '../../kit/local-days.ts';
import type { TopicCounts } from '../topics/topic-counts.ts';
import type { TopicPermissions } from './topic-permissions.ts';

const dayMs = 24 * 3_600_000;

export interface HourlyCountDependencies {
  readonly clock: Clock;
  readonly counts: Pick<TopicCounts, 'readHours'>;
  readonly permissions: Pick<TopicPermissions, 'may'>;
}

/** Handler for the message counts of the last hours, including messages that are no longer cached. */
export function hourlyCountHandlers({ clock, counts, permissions }: HourlyCountDependencies): readonly ApiHandler[] {
  return [
    implement(pushApi.hours, async ({ identity }) => {
      const hours = getLastHours(clock.now()).map((start) => ({ at: start, low: 0, normal: 0, high: 0, urgent: 0 }));
      const previous = hours.map(() => 0);
      for (const { topic, hour, priority, published } of await counts.readHours()) {
        if (!permissions.may(identity, 'read', topic)) continue;
        const entry = hours.find(({ at }) => at === hour * 1000);
        if (entry !== undefined) entry[toPriorityClass(priority)] += published;
        const earlier = hours.findIndex(({ at }) => at - dayMs === hour * 1000);
        if (earlier !== -1) previous[earlier] = (previous[earlier] ?? 0) + published;
      }
      return { hours, previous };
    }),
  ];
}

function toPriorityClass(priority: number): 'low' | 'normal' | 'high' | 'urgent' {
  return priority < 3 ? 'low' : priority === 3 ? 'normal' : priority === 4 ? 'high' : 'urgent';
}
