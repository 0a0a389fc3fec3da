import type { InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { stripInvisible } from './plain-text.ts';

/** Ends of paragraphs and list items without punctuation, whose words would run together. */
const blockEnds = /(?<=[^\s.,:;!?…])[ \t]*\n(?:\s*\n\s*(?:[-*+][ \t]+)?|[ \t]*[-*+][ \t]+|(?=[ \t]*\d+[.)][ \t]))/g;

/**
 * Decodes character references such as `&uuml;` with the browser's parser, whose table pages need not load. The document
 * is inert: it runs no scripts and loads nothing.
 */
function decodeInBrowser(text: string): string {
  return new DOMParser().parseFromString(text, 'text/html').body.textContent;
}

/**
 * Returns one line of a message's body for the list as plain text, without HTML tags and Markdown marks.
 *
 * @param decode Decodes character references of HTML.
 */
export function firstLine(
  { body, format }: Pick<InboxItem, 'body' | 'format'>,
  decode: (text: string) => string = decodeInBrowser,
): string {
  // 2000 characters are enough to fill a line, even of a megabyte.
  let text = body.slice(0, 2000).replaceAll('\r\n', '\n');
  if (format === 'html') {
    text = decode(text.replace(/<(style|script|head|title)\b[^]*?(<\/\1>|$)/gi, ' ').replace(/<[^>]*(>|$)/g, ' '));
  }
  if (format === 'markdown') text = text.replace(/^[\s|:*_-]+$/gm, '');
  if (format !== 'html') text = text.trim().replace(blockEnds, ' · ');
  if (format === 'markdown') {
    text = text
      .replace(/\|/g, ' ')
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/(^|\s)(#{1,6}|[-*+>])\s+|[*`~]{1,3}/g, '$1');
  }
  return stripInvisible(text).replace(/\s+/g, ' ').trim().slice(0, 240);
}
