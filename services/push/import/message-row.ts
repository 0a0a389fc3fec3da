import type { HeldFile, Message } from '../domain/message.ts';
import { commaList } from '../domain/parameters.ts';
import { isTopic } from '../domain/topics.ts';
import { plainName } from '../domain/attachment-name.ts';
import { textOf } from './rows.ts';

/** A row of the peer's messages, of whatever release. */
export type Row = Readonly<Record<string, unknown>>;

/** The file that the peer keeps for a message, as it will be recorded here; undefined when there is none or no longer. */
export function fileOf(row: Row, now: number): HeldFile | undefined {
  const [size, expires] = [Number(row['attachment_size'] ?? 0), Number(row['attachment_expires'] ?? 0)];
  const id = textOf(row['mid']);
  if (!isMessageId(id) || !(size > 0) || !(expires > now) || Number(row['attachment_deleted'] ?? 0) !== 0)
    return undefined;
  const name = plainName(textOf(row['attachment_name'])) || 'attachment';
  const type = textOf(row['attachment_type']) || 'application/octet-stream';
  return { id, name, type, size, expires, sender: 'import' };
}

/** What can still be read, or is still to be sent; `held`: its file was taken over. */
export function messageOf(row: Row, now: number, held: boolean): Message | undefined {
  const text = (name: string): string => textOf(row[name]);
  const [id, topic] = [text('mid'), text('topic')];
  const [time, expires] = [Number(row['time']), Number(row['expires'] ?? 0)];
  const event = text('event') || 'message';
  const known = event === 'message' || event === 'message_delete' || event === 'message_clear';
  if (!isMessageId(id) || !isTopic(topic) || !known || !Number.isSafeInteger(time) || expires <= now) return undefined;
  const sequence = text('sequence_id');
  const [priority, tags] = [Number(row['priority'] ?? 0), commaList(text('tags'))];
  const actions = actionsOf(text('actions'));
  return {
    id,
    ...(sequence === '' || sequence === id ? {} : { sequence_id: sequence }),
    time,
    expires,
    event,
    topic,
    ...given('title', text('title')),
    ...given('message', text('message')),
    ...(priority >= 1 && priority <= 5 ? { priority } : {}),
    ...(tags.length === 0 ? {} : { tags }),
    ...given('click', text('click')),
    ...given('icon', text('icon')),
    ...(actions === undefined ? {} : { actions }),
    ...attachmentOf(row, now, held),
    ...given('content_type', text('content_type')),
    ...given('encoding', text('encoding')),
  };
}

/** A file on the peer's own disk has a size, and is left out when it is not here; an address elsewhere has none. */
function attachmentOf(row: Row, now: number, held: boolean): Pick<Message, 'attachment'> {
  const [name, url] = [textOf(row['attachment_name']), textOf(row['attachment_url'])];
  const size = Number(row['attachment_size'] ?? 0);
  if (url === '') return {};
  if (size === 0) return { attachment: { name, url } };
  const file = held ? fileOf(row, now) : undefined;
  if (file === undefined) return {};
  return { attachment: { name: file.name, type: file.type, size, expires: file.expires, url } };
}

function isMessageId(text: string): boolean {
  return /^[A-Za-z0-9]{12}$/.test(text);
}

function given<Name extends string>(name: Name, value: string): { [Key in Name]?: string } {
  return value === '' ? {} : ({ [name]: value } as { [Key in Name]: string });
}

function actionsOf(text: string): Message['actions'] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.length > 0 ? (value as Message['actions']) : undefined;
  } catch {
    // Empty where there are none.
    return undefined;
  }
}
