import type { InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { plain } from './plain-text.ts';

/** Where a paragraph or an item of a list ends without a stop: their words would run into each other. */
const betweenParts = /(?<=[^\s.,:;!?…])[ \t]*\n(?:\s*\n\s*(?:[-*+][ \t]+)?|[ \t]*[-*+][ \t]+|(?=[ \t]*\d+[.)][ \t]))/g;

/** One line of a message's body for the list: tags of HTML and marks of Markdown left out, as plain words. */
export function firstLine({ body, format }: Pick<InboxItem, 'body' | 'format'>): string {
  // Enough of a megabyte to fill a line.
  let text = body.slice(0, 2000).replaceAll('\r\n', '\n');
  if (format === 'html') {
    text = text
      .replace(/<(style|script|head|title)\b[^]*?(<\/\1>|$)/gi, ' ')
      .replace(/<[^>]*(>|$)/g, ' ')
      .replace(/&(nbsp|#160);/g, ' ')
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&quot;/g, '"')
      .replace(/&#39;/g, "'")
      .replace(/&amp;/g, '&');
  }
  if (format === 'markdown') text = text.replace(/^[\s|:*_-]+$/gm, '');
  if (format !== 'html') text = text.trim().replace(betweenParts, ' · ');
  if (format === 'markdown') {
    text = text
      .replace(/\|/g, ' ')
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/(^|\s)(#{1,6}|[-*+>])\s+|[*`~]{1,3}/g, '$1');
  }
  return plain(text).replace(/\s+/g, ' ').trim().slice(0, 240);
}
