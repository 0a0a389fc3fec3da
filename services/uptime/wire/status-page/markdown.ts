import { Marked } from 'marked';
import { escapeHtml } from '../../../kit/escape-html.ts';

const reader = new Marked({
  async: false,
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ text }) => escapeHtml(text),
    link({ href, tokens }) {
      const message = this.parser.parseInline(tokens);
      return /^(https?:|mailto:)/i.test(href)
        ? `<a href="${escapeHtml(href)}" rel="noreferrer">${message}</a>`
        : message;
    },
  },
});

/** Renders Markdown without HTML and images; links lead to web and mail addresses only. */
export function markdown(text: string): string {
  return reader.parse(text, { async: false });
}
