import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushApi } from '../../contracts/push/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import type { TopicCounts } from '../topics/topic-counts.ts';
import { hourHandlers } from './hourly-counts.ts';
import { topicStatisticsHandlers } from './topic-statistics.ts';
import type { Limits } from '../access/limits.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { Statistics } from '../metrics/statistics.ts';
import { MessageHistoryStore } from '../store/message-history.ts';
import { composeHandlers } from './compose.ts';
import { lineOf } from './page-message.ts';
import { topicMessageHandlers } from './topic-messages.ts';
import { topicRights } from './topic-permissions.ts';

interface ApiParts {
  readonly context: Context;
  readonly publisher: Publisher;
  readonly attachments: Attachments;
  readonly limits: Limits;
  readonly reserved: ReadonlySet<string>;
  /** Bytes. */
  readonly messageSizeLimit: () => number;
  /** Seconds that a message may be put off. */
  readonly longestDelay: () => number;
  readonly statistics: Pick<Statistics, 'total' | 'today' | 'rate'>;
  /** Streams that are open. */
  readonly subscribers: Pick<Subscribers, 'size' | 'countOf'>;
  readonly counts: TopicCounts;
}

/** Topics a page lists. */
const mostTopics = 500;

/** The service's part of our own API; the same grants count as on its own port. */
export function pushHandlers(parts: ApiParts): readonly ApiHandler[] {
  const { context, publisher, attachments, limits, reserved, messageSizeLimit, longestDelay, statistics, subscribers } =
    parts;
  const { accounts, clock, reads } = context;
  const browse = new MessageHistoryStore(reads);
  const seconds = (): number => Math.floor(clock.now() / 1000);
  const rights = topicRights(accounts, reserved);

  return [
    implement(pushApi.topics, async ({ identity }) => {
      const all = await browse.topics(seconds(), mostTopics);
      const readable = all.filter(({ name }) => rights.may(identity, 'read', name));
      const lines = await browse.latestTexts(
        readable.map(({ name }) => name),
        seconds(),
      );
      const topics = readable.map((topic) => ({
        ...topic,
        latest: topic.latest * 1000,
        line: lineOf(lines.get(topic.name)),
        mayPublish: rights.may(identity, 'write', topic.name),
      }));
      return { topics };
    }),

    ...topicMessageHandlers({ context, publisher, attachments, rights }),

    ...composeHandlers({ context, publisher, attachments, rights, limits, messageSizeLimit, longestDelay }),

    ...topicStatisticsHandlers({
      counts: parts.counts,
      rights,
      listening: (topic) => subscribers.countOf(topic),
    }),

    ...hourHandlers({ clock: context.clock, counts: parts.counts, rights }),

    implement(pushApi.statistics, () => {
      const { total, today, rate } = statistics;
      return { total, today, rate, listening: subscribers.size };
    }),
  ];
}
