import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Identity } from '../../contracts/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { TopicName } from '../../contracts/push.ts';
import { pushApi, type PushMessage } from '../../contracts/push-api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import { defaultPriority } from '../domain/priority.ts';
import type { Publisher } from '../publisher.ts';
import type { Statistics } from '../statistics.ts';
import { Browse } from '../store/browse.ts';
import { dueOf, unfit } from './fields.ts';

interface ApiParts {
  readonly context: Context;
  readonly publisher: Publisher;
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
/** Messages that one request with a filter looks through. */
const searched = 2000;
/** Characters of a topic's newest message. */
const lineLength = 120;

/** The service's part of our own API; the same grants count as on its own port. */
export function pushHandlers(parts: ApiParts): readonly ApiHandler[] {
  const { context, publisher, reserved, messageSizeLimit, longestDelay, statistics, subscribers } = parts;
  const { accounts, clock, db } = context;
  const browse = new Browse(db);
  const seconds = (): number => Math.floor(clock.now() / 1000);
  const may = (identity: Identity | undefined, permission: 'read' | 'write', topic: string): boolean =>
    accounts.may(identity, 'push', permission, topic);

  return [
    implement(pushApi.topics, async ({ identity }) => {
      const all = await browse.topics(seconds(), mostTopics);
      const readable = all.filter(({ name }) => may(identity, 'read', name));
      const lines = await browse.lines(
        readable.map(({ name }) => name),
        seconds(),
      );
      const topics = readable.map((topic) => ({
        ...topic,
        latest: topic.latest * 1000,
        line: lineOf(lines.get(topic.name)),
        mayPublish: may(identity, 'write', topic.name),
      }));
      return { topics };
    }),

    implement(pushApi.messages, async ({ identity, params, query }) => {
      const { before, limit } = query;
      const topic = known(params['topic'], reserved);
      if (!may(identity, 'read', topic)) throw forbidden('read', topic);
      const narrow = query.words.trim() !== '' || query.priority > 1 || query.tag !== '';
      const most = narrow ? searched : limit;
      const rows = await browse.newest(topic, { before, now: seconds(), limit: most });
      const messages: PushMessage[] = [];
      let last: number | null = null;
      for (const { seq, text } of rows) {
        if (messages.length === limit) break;
        last = seq;
        const message = JSON.parse(text) as Message;
        if (message.event !== 'message') continue;
        const view = shown(message, seq);
        if (!narrow || fits(view, query)) messages.push(view);
      }
      const whole = rows.length < most && last === (rows.at(-1)?.seq ?? null);
      return {
        messages,
        next: whole ? null : last,
        mayPublish: may(identity, 'write', topic),
        anyone: { reads: may(undefined, 'read', topic), publishes: may(undefined, 'write', topic) },
      };
    }),

    implement(pushApi.publish, async ({ identity, body }) => {
      const { title, priority, tags, click, markdown } = body;
      const topic = known(body.topic, reserved);
      if (!may(identity, 'write', topic)) throw forbidden('publish to', topic);
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

function known(text: string | undefined, reserved: ReadonlySet<string>): string {
  const topic = TopicName.safeParse(text);
  if (!topic.success) throw unfit('topic', 'Use letters, digits, - and _ only, 64 at most.');
  if (reserved.has(topic.data)) throw unfit('topic', `The name ${topic.data} is reserved. Choose another one.`);
  return topic.data;
}

function forbidden(what: string, topic: string): Problem {
  const detail = `You may not ${what} ${topic}. An administrator can grant it.`;
  return new Problem('push.forbidden', 403, detail);
}

/** Every word somewhere in it, the priority or more, and the tag. */
function fits(
  { title, message, tags, priority }: PushMessage,
  filter: { readonly words: string; readonly priority: number; readonly tag: string },
): boolean {
  if (priority < filter.priority || (filter.tag !== '' && !tags.includes(filter.tag))) return false;
  const whole = [title, message, ...tags].join('\n').toLowerCase();
  return filter.words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => whole.includes(word));
}

function lineOf(text: string | undefined): string {
  if (text === undefined) return '';
  const { title, message = '', content_type } = JSON.parse(text) as Message;
  if (title !== undefined) return title.slice(0, lineLength);
  // Marks of Markdown say nothing on one line.
  return (content_type === 'text/markdown' ? message.replaceAll(/[*_`#]+/g, '') : message).slice(0, lineLength);
}

function shown(entry: Message, seq: number): PushMessage {
  const { id, topic, title, message, priority, tags, click, content_type, time, actions, attachment } = entry;
  return {
    ...{ id, seq, topic, title: title ?? '', message: message ?? '', markdown: content_type === 'text/markdown' },
    ...{ priority: priority ?? defaultPriority, tags: [...(tags ?? [])], click: click ?? null, time: time * 1000 },
    actions: (actions ?? []).flatMap(({ action, label, url }) =>
      action === 'view' && url !== undefined ? [{ label, url }] : [],
    ),
    attachment: attachment ? { name: attachment.name, url: attachment.url } : null,
  };
}
