import { htmlToText } from '../../kit/plain-text.ts';
import type { Attachment, Message } from './message.ts';

/** Notices that are written out, characters of each. */
const mostNotices = 50;
const longestLine = 300;

const loudness = ['info', 'success', 'warning', 'failure'] as const;

function lineOf({ title, body, format }: Message): string {
  const text = (format === 'html' ? htmlToText(body) : body).replace(/\s+/g, ' ').trim();
  const line = [title.trim(), text].filter((part) => part !== '').join(': ');
  return `• ${line.length > longestLine ? `${line.slice(0, longestLine).replace(/[\uD800-\uDBFF]$/, '')}…` : line}`;
}

/** Several notices as one: a line each, as loud as the loudest. One alone stays as it is. Undefined for none. */
export function joinMessages(messages: readonly Message[], id: string): Message | undefined {
  const [first] = messages;
  const last = messages.at(-1);
  if (first === undefined || last === undefined || messages.length === 1) return first;
  const left = messages.length - mostNotices;
  const lines = messages.slice(0, mostNotices).map(lineOf);
  const type = loudness.findLast((each) => messages.some((message) => message.type === each)) ?? 'info';
  return {
    ...{ id, type, format: 'text', link: undefined, time: last.time },
    title: `${String(messages.length)} notifications`,
    body: [...lines, ...(left > 0 ? [`and ${String(left)} more`] : [])].join('\n'),
    tags: [...new Set(messages.flatMap(({ tags }) => tags))].slice(0, 20),
    source: messages.every(({ source }) => source === first.source) ? first.source : 'notify',
  };
}

/** Files that go with several notices at once. */
const mostFiles = 6;
const mostBytes = 25 * 1024 * 1024;

/** A digest with the files of its notices, as many as there is room for; those left behind are named below its lines. */
export function withFiles(digest: Message, files: readonly Attachment[]): Message {
  const taken: Attachment[] = [];
  const behind: string[] = [];
  let room = mostBytes;
  for (const file of files) {
    if (taken.length < mostFiles && file.size <= room) {
      taken.push(file);
      room -= file.size;
    } else behind.push(file.name);
  }
  if (files.length === 0) return digest;
  const more = behind.length - mostNotices;
  const names = behind.slice(0, mostNotices).join(', ') + (more > 0 ? ` and ${String(more)} more` : '');
  const body = behind.length === 0 ? digest.body : `${digest.body}\nFiles left behind: ${names}`;
  return { ...digest, body, attachments: taken };
}
