import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushApi, type TopicStatistics } from '../../contracts/push/api.ts';
import type { TopicCounts } from '../topics/topic-counts.ts';
import type { TopicRights } from './topic-permissions.ts';

export interface TopicStatisticsParts {
  readonly counts: TopicCounts;
  readonly rights: TopicRights;
  /** Streams that are open on a topic. */
  readonly listening: (topic: string) => number;
}

const shownDays = 7;

/** How much is published to topics and reaches their readers, for our own page. */
export function topicStatisticsHandlers({ counts, rights, listening }: TopicStatisticsParts): readonly ApiHandler[] {
  return [
    implement(pushApi.topicStatistics, async ({ identity, query }) => {
      const topic = query.topic === undefined ? undefined : rights.require(identity, 'read', query.topic);
      const days = counts.days(shownDays);
      const byTopic = new Map<string, TopicStatistics>();
      if (topic !== undefined) byTopic.set(topic, nothing(topic, listening(topic)));
      for (const part of await counts.read(days[0] ?? '', topic)) {
        if (!rights.may(identity, 'read', part.topic)) continue;
        const known = byTopic.get(part.topic) ?? nothing(part.topic, listening(part.topic));
        byTopic.set(part.topic, {
          ...known,
          published: known.published.map((count, index) => count + (days[index] === part.day ? part.published : 0)),
          sent: known.sent + part.sent,
          failed: known.failed + part.failed,
          latest: Math.max(known.latest ?? 0, part.latest * 1000) || null,
        });
      }
      const total = ({ published }: TopicStatistics): number => published.reduce((sum, count) => sum + count, 0);
      return { days: [...days], topics: [...byTopic.values()].sort((a, b) => total(b) - total(a)) };
    }),
  ];
}

function nothing(name: string, listening: number): TopicStatistics {
  const published = Array.from({ length: shownDays }, () => 0);
  return { name, published, sent: 0, failed: 0, latest: null, listening };
}
