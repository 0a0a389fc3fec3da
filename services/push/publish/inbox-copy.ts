import { z } from 'zod';
import type { InboxOffer } from '../../contracts/inbox/api.ts';
import { pushApi } from '../../contracts/push/api.ts';
import { pictureTypes } from '../domain/picture-types.ts';
import { defaultPriority } from '../domain/priority.ts';
import type { Draft, Message } from '../domain/message.ts';

/** Inbox fields of a message that the message itself does not contain. */
const InboxCopy = z.object({
  /** Key of the notification when it may arrive in several ways. */
  key: z.string().optional(),
  source: z.string(),
  /** Text, when the inbox gets another text than clients. */
  body: z.string().optional(),
});
type InboxCopy = z.infer<typeof InboxCopy>;

/** Returns the stored form; undefined for messages without inbox entry. */
export function buildInboxCopy(
  draft: Pick<Draft, 'inbox'>,
  { message = '' }: Pick<Message, 'message'>,
): string | undefined {
  if (draft.inbox === undefined) return undefined;
  const { key, source, body } = draft.inbox;
  const copy: InboxCopy = { source, ...(key !== undefined && { key }), ...(body !== message && { body }) };
  return JSON.stringify(copy);
}

/** Returns the key of the message in the inbox. */
export function getInboxKey({ id }: Pick<Message, 'id'>, stored: string | undefined): string {
  return (stored === undefined ? undefined : InboxCopy.parse(JSON.parse(stored)).key) ?? `push:${id}`;
}

/** Returns the path of the message's picture, if this host stores it and browsers can show its type. */
function toPicture({ attachment, id, topic }: Message): Pick<InboxOffer, 'picture'> {
  const isStored = attachment?.size !== undefined && attachment.expires !== undefined;
  if (!isStored || !pictureTypes.has(attachment.type ?? '')) return {};
  return { picture: pushApi.file.path.replace(':topic', topic).replace(':id', encodeURIComponent(id)) };
}

/** Returns the inbox entry of a stored message and its key. */
export function buildInboxEntry(
  message: Message,
  stored: string,
): { readonly key: string; readonly payload: InboxOffer } {
  const { source, body = message.message ?? '' } = InboxCopy.parse(JSON.parse(stored));
  return {
    key: getInboxKey(message, stored),
    payload: {
      title: message.title ?? '',
      body,
      format: message.content_type === 'text/markdown' ? 'markdown' : 'text',
      priority: message.priority ?? defaultPriority,
      tags: [...(message.tags ?? [])],
      source,
      topic: message.topic,
      ...(message.click !== undefined && { link: message.click }),
      ...toPicture(message),
      time: message.time * 1000,
    },
  };
}
