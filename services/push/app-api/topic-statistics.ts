import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushApi, type TopicStatistics } from '../../contracts/push/api.ts';
import type { TopicCounts } from '../topics/topic-counts.ts';
import type { TopicPermissions } from './topic-permissions.ts';

export interface TopicStatisticsDependencies {
  readonly counts: TopicCounts;
  readonly permissions: TopicPermissions;
  /** Returns the number of open streams of a topic. */
  readonly countStreams: (topic: string) => number;
}

const dayCount = 7;

/** Handlers for the statistics of topics: published messages and deliveries. */
export function topicStatisticsHandlers({
  counts,
  permissions,
  countStreams,
}: TopicStatisticsDependencies): readonly ApiHandler[] {
  return [
    implement(pushApi.topicStatistics, async ({ identity, query }) => {
      const topic = query.topic === undefined ? undefined : permissions.require(identity, 'read', query.topic);
      const allDays = counts.days(2 * dayCount);
      const [earlierDays, days] = [allDays.slice(0, dayCount), allDays.slice(dayCount)];
      const previous = earlierDays.map(() => 0);
      const byTopic = new Map<string, TopicStatistics>();
      if (topic !== undefined) byTopic.set(topic, emptyStatistics(topic, countStreams(topic)));
      for (const row of await counts.read(allDays[0] ?? '', topic)) {
        if (!permissions.may(identity, 'read', row.topic)) continue;
        const earlier = earlierDays.indexOf(row.day);
        if (earlier !== -1) {
          previous[earlier] = (previous[earlier] ?? 0) + row.published;
          continue;
        }
        const entry = byTopic.get(row.topic) ?? emptyStatistics(row.topic, countStreams(row.topic));
        byTopic.set(row.topic, {
          ...entry,
          published: entry.published.map((count, index) => count + (days[index] === row.day ? row.published : 0)),
          sent: entry.sent + row.sent,
          failed: entry.failed + row.failed,
          latest: Math.max(entry.latest ?? 0, row.latest * 1000) || null,
        });
      }
      const sumPublished = ({ published }: TopicStatistics): number => published.reduce((sum, count) => sum + count, 0);
      const topics = [...byTopic.values()].sort((a, b) => sumPublished(b) - sumPublished(a));
      return { days: [...days], topics, previous };
    }),
  ];
}

function emptyStatistics(name: string, listening: number): TopicStatistics {
  const published = Array.from({ length: dayCount }, () => 0);
  return { name, published, sent: 0, failed: 0, latest: null, listening };
}
