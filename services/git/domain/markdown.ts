import { marked } from 'marked';
import { escapeMarkup } from '../../kit/escape-html.ts';

/** Renders Markdown to HTML. Markup within the text is shown as text, and links lead only to harmless schemes. */
export function renderMarkdown(text: string): string {
  const escape = (raw: string): string => escapeMarkup(raw).replaceAll('"', '&#34;');
  const safe = (href: string): boolean => /^(https?:|mailto:|#|\/|\.|[^:]*$)/i.test(href.trim());
  const renderer = new marked.Renderer();
  renderer.html = ({ text: raw }) => escape(raw);
  const link = renderer.link.bind(renderer);
  renderer.link = (token) => (safe(token.href) ? link(token) : escape(token.text));
  const image = renderer.image.bind(renderer);
  renderer.image = (token) => (safe(token.href) ? image(token) : escape(token.text));
  return marked.parse(text, { async: false, gfm: true, renderer }).replaceAll('<p>', '<p dir="auto">');
}
