import type { StoredFile, Message } from '../domain/message.ts';
import { parseCommaList } from '../domain/parameters.ts';
import { isTopic } from '../domain/topics.ts';
import { sanitizeFileName } from '../domain/attachment-name.ts';
import { toText } from './rows.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/** Row of ntfy's message table, of any release. */
export type Row = Readonly<Record<string, unknown>>;

/** Returns the attachment of a message as it will be recorded; undefined without one or when it has expired. */
export function findFile(row: Row, now: number): StoredFile | undefined {
  const [size, expires] = [Number(row['attachment_size'] ?? 0), Number(row['attachment_expires'] ?? 0)];
  const id = toText(row['mid']);
  if (!isMessageId(id) || !(size > 0) || !(expires > now) || Number(row['attachment_deleted'] ?? 0) !== 0)
    return undefined;
  const name = sanitizeFileName(toText(row['attachment_name'])) || 'attachment';
  const type = toText(row['attachment_type']) || 'application/octet-stream';
  return { id, name, type, size, expires, sender: 'import' };
}

/** Converts a row that is unexpired or still to be published. `hasFile` is true when its file was imported. */
export function toMessage(row: Row, now: number, hasFile: boolean): Message | undefined {
  const text = (name: string): string => toText(row[name]);
  const [id, topic] = [text('mid'), text('topic')];
  const [time, expires] = [Number(row['time']), Number(row['expires'] ?? 0)];
  const event = text('event') || 'message';
  const isSupported = event === 'message' || event === 'message_delete' || event === 'message_clear';
  if (!isMessageId(id) || !isTopic(topic) || !isSupported || !Number.isSafeInteger(time) || expires <= now)
    return undefined;
  const sequence = text('sequence_id');
  const [priority, tags] = [Number(row['priority'] ?? 0), parseCommaList(text('tags'))];
  const actions = parseActions(text('actions'));
  return {
    id,
    ...(sequence === '' || sequence === id ? {} : { sequence_id: sequence }),
    time,
    expires,
    event,
    topic,
    ...optionalField('title', text('title')),
    ...optionalField('message', text('message')),
    ...(priority >= 1 && priority <= 5 ? { priority } : {}),
    ...(tags.length === 0 ? {} : { tags }),
    ...optionalField('click', text('click')),
    ...optionalField('icon', text('icon')),
    ...(actions === undefined ? {} : { actions }),
    ...toAttachment(row, now, hasFile),
    ...optionalField('content_type', text('content_type')),
    ...optionalField('encoding', text('encoding')),
  };
}

/** Attachments with a size were stored by ntfy and are omitted when the file is missing; external URLs have no size. */
function toAttachment(row: Row, now: number, hasFile: boolean): Pick<Message, 'attachment'> {
  const [name, url] = [toText(row['attachment_name']), toText(row['attachment_url'])];
  const size = Number(row['attachment_size'] ?? 0);
  if (url === '') return {};
  if (size === 0) return { attachment: { name, url } };
  const file = hasFile ? findFile(row, now) : undefined;
  if (file === undefined) return {};
  return { attachment: { name: file.name, type: file.type, size, expires: file.expires, url } };
}

function isMessageId(text: string): boolean {
  return /^[A-Za-z0-9]{12}$/.test(text);
}

function optionalField<Name extends string>(name: Name, value: string): { [Key in Name]?: string } {
  return value === '' ? {} : ({ [name]: value } as { [Key in Name]: string });
}

function parseActions(text: string): Message['actions'] {
  // The text is empty without actions.
  const value = parseJson(text);
  return Array.isArray(value) && value.length > 0 ? (value as Message['actions']) : undefined;
}
