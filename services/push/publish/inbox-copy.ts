import { z } from 'zod';
import type { InboxOffer } from '../../contracts/inbox/api.ts';
import { defaultPriority } from '../domain/priority.ts';
import type { Draft, Message } from '../domain/message.ts';

/** What the inbox shows of a message beyond what the message says itself. */
const InboxCopy = z.object({
  /** The notice's identity, where it may come several ways. */
  key: z.string().optional(),
  source: z.string(),
  /** The text, where the inbox gets another one than clients. */
  body: z.string().optional(),
});
type InboxCopy = z.infer<typeof InboxCopy>;

/** As it is stored beside a message; undefined for what is not meant for a person's eyes. */
export function inboxCopy(draft: Pick<Draft, 'inbox'>, { message = '' }: Pick<Message, 'message'>): string | undefined {
  if (draft.inbox === undefined) return undefined;
  const { key, source, body } = draft.inbox;
  const copy: InboxCopy = { source, ...(key !== undefined && { key }), ...(body !== message && { body }) };
  return JSON.stringify(copy);
}

/** The key that the inbox knows a message by. */
export function inboxKey({ id }: Pick<Message, 'id'>, stored: string | undefined): string {
  return (stored === undefined ? undefined : InboxCopy.parse(JSON.parse(stored)).key) ?? `push:${id}`;
}

/** What the inbox is offered of a stored message, and under which key. */
export function inboxEntry(message: Message, stored: string): { readonly key: string; readonly payload: InboxOffer } {
  const { source, body = message.message ?? '' } = InboxCopy.parse(JSON.parse(stored));
  return {
    key: inboxKey(message, stored),
    payload: {
      title: message.title ?? '',
      body,
      format: message.content_type === 'text/markdown' ? 'markdown' : 'text',
      priority: message.priority ?? defaultPriority,
      tags: [...(message.tags ?? [])],
      source,
      topic: message.topic,
      ...(message.click !== undefined && { link: message.click }),
      time: message.time * 1000,
    },
  };
}
