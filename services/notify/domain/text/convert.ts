import { Marked } from 'marked';
import type { TextFormat } from '../../../contracts/notify/notification.ts';
import { htmlToText } from '../../../kit/plain-text.ts';
import { renderHtml } from './dialect.ts';
import { googleChat, markdown, slack, telegram } from './dialects.ts';
import { escapeMarkup } from '../../../kit/escape-html.ts';

/** Output format of a destination: a common format or the dialect of one program. */
export type OutputFormat = TextFormat | 'slack' | 'telegram' | 'googleChat';

/** Longer Markdown is shown unformatted, because parsing it would block the event loop. */
const maxMarkdownLength = 50_000;

/** Longer HTML is converted to text for other dialects, for the same reason. */
const maxHtmlLength = 100_000;

/** Raw HTML in Markdown is shown as text. */
const marked = new Marked({
  breaks: true,
  gfm: true,
  renderer: {
    html: ({ text }) => escapeMarkup(text),
  },
});

/** Converts text to the format of a destination. Markdown is readable as text and is not changed. */
export function convertText(body: string, from: TextFormat, to: OutputFormat): string {
  if (from === to) return body;
  if (from === 'html' && to !== 'text' && body.length > maxHtmlLength) return convertText(htmlToText(body), 'text', to);
  switch (to) {
    case 'text':
      return from === 'html' ? htmlToText(body) : body;
    case 'markdown':
      return from === 'html' ? renderHtml(body, markdown) : body;
    case 'html':
      return from === 'text' ? escapeMarkup(body).replace(/\r\n|\n|\r/g, '<br/>') : toHtml(body, from);
    case 'slack':
      return from === 'text' ? escapeMarkup(body) : renderHtml(toHtml(body, from), slack);
    case 'googleChat':
      return from === 'text' ? body : renderHtml(toHtml(body, from), googleChat);
    case 'telegram':
      return from === 'text' ? escapeMarkup(body) : renderHtml(toHtml(body, from), telegram);
  }
}

function toHtml(body: string, from: TextFormat): string {
  if (from === 'html') return body;
  const preformatted = `<pre>${escapeMarkup(body)}</pre>`;
  if (body.length > maxMarkdownLength) return preformatted;
  try {
    return marked.parse(body, { async: false }).trim();
  } catch (error) {
    // Endlessly nested quotes exhaust the parser's stack.
    if (error instanceof RangeError) return preformatted;
    throw error;
  }
}
