import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushApi } from '../../contracts/push-api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { Publisher } from '../publisher.ts';
import type { Statistics } from '../statistics.ts';
import { Browse } from '../store/browse.ts';
import { dueOf, unfit } from './fields.ts';
import { lineOf, shown } from './shown.ts';
import { topicMessageHandlers } from './topic-messages.ts';
import { topicRights } from './topic-rights.ts';

interface ApiParts {
  readonly context: Context;
  readonly publisher: Publisher;
  readonly attachments: Attachments;
  readonly reserved: ReadonlySet<string>;
  /** Bytes. */
  readonly messageSizeLimit: number;
  /** Seconds that a message may be put off. */
  readonly longestDelay: number;
  readonly statistics: Pick<Statistics, 'total' | 'today' | 'rate'>;
  /** Streams that are open. */
  readonly subscribers: { readonly size: number };
}

/** Topics a page lists. */
const mostTopics = 500;

/** The service's part of our own API; the same grants count as on its own port. */
export function pushHandlers(parts: ApiParts): readonly ApiHandler[] {
  const { context, publisher, attachments, reserved, messageSizeLimit, longestDelay, statistics, subscribers } = parts;
  const { accounts, clock, db } = context;
  const browse = new Browse(db);
  const seconds = (): number => Math.floor(clock.now() / 1000);
  const rights = topicRights(accounts, reserved);

  return [
    implement(pushApi.topics, async ({ identity }) => {
      const all = await browse.topics(seconds(), mostTopics);
      const readable = all.filter(({ name }) => rights.may(identity, 'read', name));
      const lines = await browse.lines(
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

    implement(pushApi.publish, async ({ identity, body }) => {
      const { title, priority, tags, click, markdown } = body;
      const topic = rights.require(identity, 'write', body.topic);
      const due = dueOf(body.delay.trim(), clock.now(), longestDelay);
      const message = body.message.trim();
      if (message === '') throw unfit('message', 'Write a message.');
      if (Buffer.byteLength(message) >= messageSizeLimit) {
        throw unfit('message', `The message is too long: ${String(messageSizeLimit)} bytes at most.`);
      }
      const envelope = await publisher.publish({
        event: 'message',
        ...{
          topic,
          title: title.trim(),
          message,
          priority,
          tags,
          markdown,
          cached: true,
          due,
          account: identity?.account,
        },
        ...(click === undefined ? {} : { click }),
        inbox: { source: 'push', body: message },
      });
      // Undefined is for keys, and a page's message has none.
      if (envelope === undefined) throw new Problem('push.not_published', 500, 'The message was not published.');
      return shown(envelope.message, envelope.seq ?? 0);
    }),

    implement(pushApi.statistics, () => {
      const { total, today, rate } = statistics;
      return { total, today, rate, listening: subscribers.size };
    }),
  ];
}
