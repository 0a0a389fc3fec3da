import * as m from '#messages/notify-texts';
import { htmlToText } from '../../kit/plain-text.ts';
import type { Attachment, Message } from './message.ts';

/** Maximum number of listed notifications, and characters of each. */
const maxNotifications = 50;
const maxLineLength = 300;

const typesBySeverity = ['info', 'success', 'warning', 'failure'] as const;

function formatLine({ title, body, format }: Message): string {
  const text = (format === 'html' ? htmlToText(body) : body).replace(/\s+/g, ' ').trim();
  const line = [title.trim(), text].filter((part) => part !== '').join(': ');
  return `• ${line.length > maxLineLength ? `${line.slice(0, maxLineLength).replace(/[\uD800-\uDBFF]$/, '')}…` : line}`;
}

/**
 * Combines notifications to one with a line for each and the most severe type. A single one is unchanged; undefined
 * for none.
 */
export function joinMessages(messages: readonly Message[], id: string): Message | undefined {
  const [first] = messages;
  const last = messages.at(-1);
  if (first === undefined || last === undefined || messages.length === 1) return first;
  const remaining = messages.length - maxNotifications;
  const lines = messages.slice(0, maxNotifications).map(formatLine);
  const type = typesBySeverity.findLast((each) => messages.some((message) => message.type === each)) ?? 'info';
  return {
    id,
    type,
    format: 'text',
    link: undefined,
    time: last.time,
    title: m.digestTitle({ count: messages.length }),
    body: [...lines, ...(remaining > 0 ? [m.digestMore({ count: remaining })] : [])].join('\n'),
    tags: [...new Set(messages.flatMap(({ tags }) => tags))].slice(0, 20),
    source: messages.every(({ source }) => source === first.source) ? first.source : 'notify',
  };
}

/** Maximum number of files of a digest. */
const maxFiles = 6;
const maxBytes = 25 * 1024 * 1024;

/** Attaches the files of the notifications that fit; the names of the others are listed in the body. */
export function attachFiles(digest: Message, files: readonly Attachment[]): Message {
  const included: Attachment[] = [];
  const excluded: string[] = [];
  let remainingBytes = maxBytes;
  for (const file of files) {
    if (included.length < maxFiles && file.size <= remainingBytes) {
      included.push(file);
      remainingBytes -= file.size;
    } else excluded.push(file.name);
  }
  if (files.length === 0) return digest;
  const more = excluded.length - maxNotifications;
  const names = excluded.slice(0, maxNotifications).join(', ');
  if (excluded.length === 0) return { ...digest, attachments: included };
  const note = more > 0 ? m.digestFilesOmittedMore({ count: more, names }) : m.digestFilesOmitted({ names });
  return { ...digest, body: `${digest.body}\n${note}`, attachments: included };
}
