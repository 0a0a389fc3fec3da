import type { Notice, TextFormat } from '../../contracts/notice.ts';
import { htmlToText } from '../../contracts/plain-text.ts';

/** A notice as one destination is to show it. */
export interface Message {
  /** Identity of the notice on its whole way; what a destination can use to tell a repetition. */
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly type: Notice['type'];
  readonly format: TextFormat;
  readonly tags: readonly string[];
  readonly link: string | undefined;
  readonly source: string;
  /** When the notice was accepted, in ms since the epoch. */
  readonly time: number;
}

/** What a destination can show. */
export interface Shape {
  /** Undefined: takes any format and is told which. */
  readonly format: TextFormat | undefined;
  /** 0: has no title, so it goes before the body. Undefined: no limit. */
  readonly titleLimit: number | undefined;
  /** Characters; a longer body is cut with a mark. Undefined: no limit. */
  readonly bodyLimit: number | undefined;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Markdown is readable as it is, so it passes as text; the other conversions follow the peer. */
function convert(body: string, from: TextFormat, to: TextFormat): string {
  if (from === to) return body;
  if (from === 'html') return htmlToText(body);
  return to === 'html' ? escapeHtml(body).replace(/\r\n|\n|\r/g, '<br/>') : body;
}

/** Cuts on code points, so that no character is torn. */
function cut(text: string, limit: number | undefined): string {
  if (limit === undefined || text.length <= limit) return text;
  const points = [...text];
  return points.length <= limit ? text : `${points.slice(0, Math.max(0, limit - 1)).join('')}…`;
}

/** Fits a notice to what a destination can show; a title that has no place there goes before the body. */
export function shapeMessage(message: Message, shape: Shape): Message {
  const format = shape.format ?? message.format;
  const converted = convert(message.body, message.format, format);
  const tooLong = shape.titleLimit !== undefined && message.title.length > shape.titleLimit;
  const folded = tooLong && message.title !== '';
  const body = folded ? [message.title, converted].filter((part) => part !== '').join('\r\n') : converted;
  return { ...message, format, title: folded ? '' : message.title, body: cut(body, shape.bodyLimit) };
}
