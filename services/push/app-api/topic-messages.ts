import { FileReply, implement, type ApiHandler } from '../../contracts/api.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushApi, type PushMessage } from '../../contracts/push/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { Event, Message } from '../domain/message.ts';
import { Sequences } from '../domain/sequences.ts';
import { isTopic } from '../domain/topics.ts';
import type { Publisher } from '../publish/publisher.ts';
import { MessageHistoryStore } from '../store/message-history.ts';
import type { TopicRights } from './topic-permissions.ts';
import { invalidField } from '../domain/invalid-field.ts';
import { toPage } from './page-message.ts';

export interface TopicMessageParts {
  readonly context: Pick<Context, 'clock' | 'reads'>;
  readonly publisher: Publisher;
  readonly attachments: Attachments;
  readonly rights: TopicRights;
}

/** Messages that one request with a filter looks through. */
const searched = 2000;
/** Seconds that a browser may keep a picture. */
const keptByBrowsers = 3600;
/** Pictures without anything that runs, which a browser draws by itself. */
const drawn = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp']);

/** The messages of one topic for our own page: reading them with their files, clearing and deleting them. */
export function topicMessageHandlers(parts: TopicMessageParts): readonly ApiHandler[] {
  const { context, publisher, attachments, rights } = parts;
  const browse = new MessageHistoryStore(context.reads);
  const seconds = (): number => Math.floor(context.clock.now() / 1000);

  const takeBack = async (event: Event, identity: Identity | undefined, asked: Readonly<Record<string, string>>) => {
    const topic = rights.require(identity, 'write', asked['topic']);
    const sequenceId = asked['sequence'];
    if (sequenceId === undefined || !isTopic(sequenceId)) throw invalidField('sequence', 'There is no such message.');
    await publisher.publish({ event, topic, sequenceId, cached: true });
    return { ok: true } as const;
  };

  return [
    implement(pushApi.messages, async ({ identity, params, query }) => {
      const { before, limit } = query;
      const topic = rights.require(identity, 'read', params['topic']);
      const narrow = query.words.trim() !== '' || query.priority > 1 || query.tag !== '';
      const most = narrow ? searched : limit;
      const sequences = new Sequences();
      // What came later decides what is still shown of this page.
      const later = before === undefined ? [] : await browse.sequenced(topic, before, seconds());
      for (const text of later) sequences.take(JSON.parse(text) as Message);
      const rows = await browse.newest(topic, { before, now: seconds(), limit: most });
      const messages: PushMessage[] = [];
      let last: number | null = null;
      for (const { seq, text } of rows) {
        if (messages.length === limit) break;
        last = seq;
        const message = JSON.parse(text) as Message;
        const state = sequences.take(message);
        if (state === undefined) continue;
        const view = toPage(message, seq, state === 'cleared');
        if (!narrow || fits(view, query)) messages.push(view);
      }
      const whole = rows.length < most && last === (rows.at(-1)?.seq ?? null);
      return {
        messages,
        cleared: sequences.those('cleared'),
        deleted: sequences.those('deleted'),
        next: whole ? null : last,
        mayPublish: rights.may(identity, 'write', topic),
        anyone: { reads: rights.may(undefined, 'read', topic), publishes: rights.may(undefined, 'write', topic) },
      };
    }),

    implement(pushApi.file, async ({ identity, params, query }) => {
      const topic = rights.require(identity, 'read', params['topic']);
      const id = params['id'] ?? '';
      const message = await browse.find(topic, id, seconds());
      const found = message === undefined ? undefined : await attachments.find(id);
      if (found === undefined) throw new Problem('push.no_file', 404, 'This file is not there any more.');
      const { file, path } = found;
      const saved = query.save || !drawn.has(file.type);
      return new FileReply({ path, type: file.type, maxAge: keptByBrowsers, ...(saved ? { saveAs: file.name } : {}) });
    }),

    implement(pushApi.clear, ({ identity, params }) => takeBack('message_clear', identity, params)),
    implement(pushApi.remove, ({ identity, params }) => takeBack('message_delete', identity, params)),
  ];
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
