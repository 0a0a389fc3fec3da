import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushApi } from '../../contracts/push/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Subscribers } from '../subscribe/subscribers.ts';
import { hourlyCountHandlers } from './hourly-counts.ts';
import { topicStatisticsHandlers } from './topic-statistics.ts';
import type { Limits } from '../access/limits.ts';
import type { Delivery } from '../publish/delivery.ts';
import type { Traffic } from '../metrics/traffic.ts';
import type { DerivedSettings } from '../settings/derived-settings.ts';
import { MessageHistoryStore } from '../store/message-history.ts';
import { composeHandlers } from './compose.ts';
import { formatPreview } from './page-message.ts';
import { topicMessageHandlers } from './topic-messages.ts';
import { createTopicPermissions } from './topic-permissions.ts';

interface ApiDependencies {
  readonly context: Context;
  readonly derivedSettings: DerivedSettings;
  readonly delivery: Pick<Delivery, 'publisher' | 'attachments'>;
  readonly limits: Limits;
  readonly traffic: Pick<Traffic, 'statistics' | 'counts'>;
  /** Open streams. */
  readonly subscribers: Pick<Subscribers, 'size' | 'count'>;
}

/** Maximum number of topics returned to a page. */
const maxTopics = 500;

/** Returns the handlers of the service's app API. The same grants apply as on its own listener. */
export function pushHandlers(dependencies: ApiDependencies): readonly ApiHandler[] {
  const { context, delivery, derivedSettings, limits, subscribers, traffic } = dependencies;
  const { publisher, attachments } = delivery;
  const { messageSizeLimit, maxDelaySeconds } = derivedSettings;
  const { counts, statistics } = traffic;
  const { accounts, clock, reads } = context;
  const history = new MessageHistoryStore(reads);
  const nowSeconds = (): number => Math.floor(clock.now() / 1000);
  const permissions = createTopicPermissions(accounts, derivedSettings.reservedTopics);

  return [
    implement(pushApi.topics, async ({ identity }) => {
      const stored = await history.topics(nowSeconds(), maxTopics);
      const readable = stored.filter(({ name }) => permissions.may(identity, 'read', name));
      const latestTexts = await history.latestTexts(
        readable.map(({ name }) => name),
        nowSeconds(),
      );
      const topics = readable.map((topic) => ({
        ...topic,
        latest: topic.latest * 1000,
        line: formatPreview(latestTexts.get(topic.name)),
        mayPublish: permissions.may(identity, 'write', topic.name),
      }));
      return { topics };
    }),

    ...topicMessageHandlers({ context, publisher, attachments, permissions }),

    ...composeHandlers({
      context,
      publisher,
      attachments,
      permissions,
      limits,
      messageSizeLimit,
      maxDelaySeconds,
    }),

    ...topicStatisticsHandlers({
      counts,
      permissions,
      countStreams: (topic) => subscribers.count(topic),
    }),

    ...hourlyCountHandlers({ clock: context.clock, counts, permissions }),

    implement(pushApi.statistics, () => {
      const { total, today, rate } = statistics;
      return { total, today, rate, listening: subscribers.size };
    }),
  ];
}
