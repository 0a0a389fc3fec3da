import type { RichMessage, RichPart } from '../../messages/runtime.ts';
import { escapeHtml } from './escape-html.ts';

/** Returns the HTML of a tag for its content, which is HTML. */
export type TagRenderer = (content: string) => string;

/** Renderer of each tag of a message. A tag without one is left out. */
export type TagRenderers = Readonly<Record<string, TagRenderer>>;

/** Renders a tag as code. */
export const toCode: TagRenderer = (content) => `<code>${content}</code>`;

/** Renders a tag as important text. */
export const toStrong: TagRenderer = (content) => `<strong>${content}</strong>`;

/** Renders a message with tags as HTML. Text is escaped. */
export function renderRichHtml({ parts }: RichMessage, tags: TagRenderers): string {
  return parts.map((part) => renderPart(part, tags)).join('');
}

function renderPart(part: RichPart, tags: TagRenderers): string {
  if (typeof part === 'string') return escapeHtml(part);
  const content = renderRichHtml({ parts: part.children }, tags);
  return tags[part.tag]?.(content) ?? content;
}
