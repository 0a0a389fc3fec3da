import * as m from '#messages/push-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushApi, type PushMessage } from '../../contracts/push/api.ts';
import type { Context } from '../../contracts/service.ts';
import { getAttachmentKey, type Attachments } from '../attachments/attachments.ts';
import { buildBlobReply } from '../../kit/http/blob-reply.ts';
import type { Event, Message } from '../domain/message.ts';
import { pictureTypes } from '../domain/picture-types.ts';
import { Sequences } from '../domain/sequences.ts';
import { isTopic } from '../domain/topics.ts';
import type { Publisher } from '../publish/publisher.ts';
import { MessageHistoryStore } from '../store/message-history.ts';
import type { TopicPermissions } from './topic-permissions.ts';
import { invalidField } from '../domain/invalid-field.ts';
import { toPageMessage } from './page-message.ts';

export interface TopicMessageDependencies {
  readonly context: Pick<Context, 'clock' | 'reads'>;
  readonly publisher: Publisher;
  readonly attachments: Attachments;
  readonly permissions: TopicPermissions;
}

/** Maximum number of messages that one filtered request reads. */
const maxFilteredMessages = 2000;
/** Seconds that a browser may cache a file. */
const fileMaxAgeSeconds = 3600;

/** Handlers for the messages of one topic: list, files, clear and delete. */
export function topicMessageHandlers(dependencies: TopicMessageDependencies): readonly ApiHandler[] {
  const { context, publisher, permissions } = dependencies;
  const history = new MessageHistoryStore(context.reads);
  const publishEvent = async (
    event: Event,
    identity: Identity | undefined,
    params: Readonly<Record<string, string>>,
  ) => {
    const topic = permissions.require(identity, 'write', params['topic']);
    const sequenceId = params['sequence'];
    if (sequenceId === undefined || !isTopic(sequenceId)) throw invalidField('sequence', m.messageUnknown());
    await publisher.publish({ event, topic, sequenceId, cached: true });
    return { ok: true } as const;
  };

  return [
    createListHandler(dependencies, history),
    createFileHandler(dependencies, history),
    implement(pushApi.clear, ({ identity, params }) => publishEvent('message_clear', identity, params)),
    implement(pushApi.remove, ({ identity, params }) => publishEvent('message_delete', identity, params)),
  ];
}

/** Lists the messages of a topic, newest first. */
function createListHandler(
  { context, permissions }: TopicMessageDependencies,
  history: MessageHistoryStore,
): ApiHandler {
  return implement(pushApi.messages, async ({ identity, params, query }) => {
    const { before, limit } = query;
    const topic = permissions.require(identity, 'read', params['topic']);
    const isFiltered = query.words.trim() !== '' || query.priority > 1 || query.tag !== '';
    const maxRows = isFiltered ? maxFilteredMessages : limit;
    const sequences = new Sequences();
    // Later messages determine which messages of this page are still visible.
    const later = before === undefined ? [] : await history.sequenced(topic, before, toSeconds(context.clock.now()));
    for (const text of later) sequences.add(JSON.parse(text) as Message);
    const rows = await history.newest(topic, { before, now: toSeconds(context.clock.now()), limit: maxRows });
    const messages: PushMessage[] = [];
    let last: number | null = null;
    for (const { seq, text } of rows) {
      if (messages.length === limit) break;
      last = seq;
      const message = JSON.parse(text) as Message;
      const state = sequences.add(message);
      if (state === undefined) continue;
      const view = toPageMessage(message, seq, state === 'cleared');
      if (!isFiltered || matchesFilter(view, query)) messages.push(view);
    }
    const isLastPage = rows.length < maxRows && last === (rows.at(-1)?.seq ?? null);
    return {
      messages,
      cleared: sequences.withoutMessage('cleared'),
      deleted: sequences.withoutMessage('deleted'),
      next: isLastPage ? null : last,
      mayPublish: permissions.may(identity, 'write', topic),
      anyone: {
        reads: permissions.may(undefined, 'read', topic),
        publishes: permissions.may(undefined, 'write', topic),
      },
    };
  });
}

/** Returns the file of a message. */
function createFileHandler(
  { context, attachments, permissions }: TopicMessageDependencies,
  history: MessageHistoryStore,
): ApiHandler {
  return implement(pushApi.file, async ({ identity, params, query }) => {
    const topic = permissions.require(identity, 'read', params['topic']);
    const id = params['id'] ?? '';
    const message = await history.find(topic, id, toSeconds(context.clock.now()));
    const attachment = message === undefined ? undefined : await attachments.find(id);
    if (attachment === undefined) throw new Problem('push.no_file', 404, m.fileGone());
    const isDownload = query.save || !pictureTypes.has(attachment.type);
    return buildBlobReply(attachments.blobs, getAttachmentKey(id), {
      type: attachment.type,
      maxAge: fileMaxAgeSeconds,
      ...(isDownload ? { saveAs: attachment.name } : {}),
    });
  });
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Requires every word somewhere in the message, the minimum priority and the tag. */
function matchesFilter(
  { title, message, tags, priority }: PushMessage,
  filter: { readonly words: string; readonly priority: number; readonly tag: string },
): boolean {
  if (priority < filter.priority || (filter.tag !== '' && !tags.includes(filter.tag))) return false;
  const searchable = [title, message, ...tags].join('\n').toLowerCase();
  return filter.words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searchable.includes(word));
}
