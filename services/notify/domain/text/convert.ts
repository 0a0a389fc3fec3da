import { Marked } from 'marked';
import type { TextFormat } from '../../../contracts/notify/notification.ts';
import { htmlToText } from '../../../kit/plain-text.ts';
import { renderHtml } from './dialect.ts';
import { googleChat, markdown, slack, telegram } from './dialects.ts';

/** What a destination can show: a format of ours, or the dialect of one program. */
export type OutputFormat = TextFormat | 'slack' | 'telegram' | 'googleChat';

/** Longer markdown is shown as it was written: to read it as markup would hold up everything else. */
const maxMarkdownLength = 50_000;

/** Longer HTML loses its marks in other dialects, for the same reason; its text is read in one go. */
const maxHtmlLength = 100_000;

/** Raw HTML within markdown is text: whoever wrote markdown did not mean tags of others. */
const marked = new Marked({
  breaks: true,
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
  },
});

/** Text as it looks in HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The same words in what the destination shows. Markdown is readable as it is, so it passes as text. */
export function convertText(body: string, from: TextFormat, to: OutputFormat): string {
  if (from === to) return body;
  if (from === 'html' && to !== 'text' && body.length > maxHtmlLength) return convertText(htmlToText(body), 'text', to);
  switch (to) {
    case 'text':
      return from === 'html' ? htmlToText(body) : body;
    case 'markdown':
      return from === 'html' ? renderHtml(body, markdown) : body;
    case 'html':
      return from === 'text' ? escapeHtml(body).replace(/\r\n|\n|\r/g, '<br/>') : toHtml(body, from);
    case 'slack':
      return from === 'text' ? escapeHtml(body) : renderHtml(toHtml(body, from), slack);
    case 'googleChat':
      return from === 'text' ? body : renderHtml(toHtml(body, from), googleChat);
    case 'telegram':
      return from === 'text' ? escapeHtml(body) : renderHtml(toHtml(body, from), telegram);
  }
}

function toHtml(body: string, from: TextFormat): string {
  if (from === 'html') return body;
  const preformatted = `<pre>${escapeHtml(body)}</pre>`;
  if (body.length > maxMarkdownLength) return preformatted;
  try {
    return marked.parse(body, { async: false }).trim();
  } catch (error) {
    // Quotes within quotes without end exhaust the stack of the parser.
    if (error instanceof RangeError) return preformatted;
    throw error;
  }
}
