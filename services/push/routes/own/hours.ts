import { implement, type ApiHandler } from '../../../contracts/api.ts';
import { pushApi } from '../../../contracts/push/api.ts';
import type { Context } from '../../../contracts/service.ts';
import { lastHours } from '../../../kit/last-days.ts';
import { messagesByHour } from '../../store/hours.ts';
import type { TopicRights } from './topic-rights.ts';

type Counts = ReturnType<typeof messagesByHour>;

/** So long a count is good enough, in ms: it looks at every message that is kept. */
const countedForMs = 20_000;

/** How many messages came lately, for our own page. */
export function hourHandlers({ clock, reads }: Context, rights: Pick<TopicRights, 'may'>): readonly ApiHandler[] {
  let last: { readonly at: number; readonly first: number; readonly counts: Counts } | undefined;
  /** Whoever asks meanwhile gets the same. */
  const counted = (now: number, first: number): Counts => {
    if (last?.first !== first || now - last.at >= countedForMs) {
      const counts = messagesByHour(reads, first / 1000, Math.floor(now / 1000));
      last = { at: now, first, counts };
      counts.catch(() => (last = undefined));
    }
    return last.counts;
  };
  return [
    implement(pushApi.hours, async ({ identity }) => {
      const now = clock.now();
      const first = lastHours(now)[0] ?? now;
      const hours = lastHours(now).map((at) => ({ at, low: 0, normal: 0, high: 0, urgent: 0 }));
      for (const { topic, hour, priority, count } of await counted(now, first)) {
        const counts = hours[hour];
        if (counts === undefined || !rights.may(identity, 'read', topic)) continue;
        counts[nameOf(priority)] += count;
      }
      return { hours };
    }),
  ];
}

function nameOf(priority: number): 'low' | 'normal' | 'high' | 'urgent' {
  return priority < 3 ? 'low' : priority === 3 ? 'normal' : priority === 4 ? 'high' : 'urgent';
}
