import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Identity } from '../../contracts/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { TopicName } from '../../contracts/push.ts';
import { pushApi, type PushMessage } from '../../contracts/push-api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';
import type { Publisher } from '../publisher.ts';
import { Browse } from '../store/browse.ts';

interface ApiParts {
  readonly context: Context;
  readonly publisher: Publisher;
  readonly reserved: ReadonlySet<string>;
  /** Bytes. */
  readonly messageSizeLimit: number;
}

/** Topics a page lists. */
const mostTopics = 500;

/** The service's part of our own API; the same grants count as on its own port. */
export function pushHandlers({ context, publisher, reserved, messageSizeLimit }: ApiParts): readonly ApiHandler[] {
  const { accounts, clock, db } = context;
  const browse = new Browse(db);
  const seconds = (): number => Math.floor(clock.now() / 1000);
  const may = (identity: Identity | undefined, permission: 'read' | 'write', topic: string): boolean =>
    accounts.may(identity, 'push', permission, topic);

  return [
    implement(pushApi.topics, async ({ identity }) => {
      const all = await browse.topics(seconds(), mostTopics);
      const topics = all
        .filter(({ name }) => may(identity, 'read', name))
        .map((topic) => ({ ...topic, latest: topic.latest * 1000, mayPublish: may(identity, 'write', topic.name) }));
      return { topics };
    }),

    implement(pushApi.messages, async ({ identity, params, query: { before, limit } }) => {
      const topic = known(params['topic'], reserved);
      if (!may(identity, 'read', topic)) throw forbidden('read', topic);
      const rows = await browse.newest(topic, { before, now: seconds(), limit });
      return {
        messages: rows.flatMap(({ seq, text }) => {
          const message = JSON.parse(text) as Message;
          return message.event === 'message' ? [shown(message, seq)] : [];
        }),
        next: rows.length < limit ? null : (rows.at(-1)?.seq ?? null),
        mayPublish: may(identity, 'write', topic),
        anyone: { reads: may(undefined, 'read', topic), publishes: may(undefined, 'write', topic) },
      };
    }),

    implement(pushApi.publish, async ({ identity, body }) => {
      const { title, priority, tags, click, markdown } = body;
      const topic = known(body.topic, reserved);
      if (!may(identity, 'write', topic)) throw forbidden('publish to', topic);
      const message = body.message.trim();
      if (message === '') throw unfit('message', 'Write a message.');
      if (Buffer.byteLength(message) >= messageSizeLimit) {
        throw unfit('message', `The message is too long: ${String(messageSizeLimit)} bytes at most.`);
      }
      const envelope = await publisher.publish({
        event: 'message',
        ...{ topic, title: title.trim(), message, priority, tags, markdown, cached: true },
        ...(click === undefined ? {} : { click }),
        inbox: { source: 'push', body: message },
      });
      // Undefined is for keys, and a page's message has none.
      if (envelope === undefined) throw new Problem('push.not_published', 500, 'The message was not published.');
      return shown(envelope.message, envelope.seq ?? 0);
    }),
  ];
}

function known(text: string | undefined, reserved: ReadonlySet<string>): string {
  const topic = TopicName.safeParse(text);
  if (!topic.success) throw unfit('topic', 'Use letters, digits, - and _ only, 64 at most.');
  if (reserved.has(topic.data)) throw unfit('topic', `The name ${topic.data} is reserved. Choose another one.`);
  return topic.data;
}

function unfit(field: string, message: string): Problem {
  return new Problem('push.invalid', 422, message, { fields: { [field]: message } });
}

function forbidden(what: string, topic: string): Problem {
  const detail = `You may not ${what} ${topic}. An administrator can grant it.`;
  return new Problem('push.forbidden', 403, detail);
}

function shown(
  { id, topic, title, message, priority, tags, click, content_type, time }: Message,
  seq: number,
): PushMessage {
  return {
    ...{ id, seq, topic, title: title ?? '', message: message ?? '', markdown: content_type === 'text/markdown' },
    ...{ priority: priority ?? defaultPriority, tags: [...(tags ?? [])], click: click ?? null, time: time * 1000 },
  };
}
