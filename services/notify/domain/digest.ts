import { htmlToText } from '../../contracts/plain-text.ts';
import type { Message } from './message.ts';

/** Notices that are written out, characters of each. */
const mostNotices = 50;
const longestLine = 300;

const loudness = ['info', 'success', 'warning', 'failure'] as const;

function lineOf({ title, body, format }: Message): string {
  const text = (format === 'html' ? htmlToText(body) : body).replace(/\s+/g, ' ').trim();
  const line = [title.trim(), text].filter((part) => part !== '').join(': ');
  return `• ${line.length > longestLine ? `${line.slice(0, longestLine)}…` : line}`;
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
