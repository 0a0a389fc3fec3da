import type { PushOffer } from '../../contracts/push/topics.ts';
import type { Draft } from './message.ts';
import { emptyMessage } from './publication.ts';

/** Bytes; what is longer is cut. */
const longest = { title: 1000, tag: 100, click: 2000 } as const;
const mostTags = 50;

/**
 * A message that another service offers. A text longer than `limit` bytes is cut; the inbox gets it whole. The rest keeps
 * to bounds too: whoever offers cannot be told, so nothing may be refused for its length.
 */
export function draftOf(offer: PushOffer, limit: number): Draft {
  const { topic, title, priority, tags, click, markdown, source, origin } = offer;
  const whole = offer.message.trim() || emptyMessage;
  return {
    event: 'message',
    topic,
    title: cut(title, longest.title),
    message: cut(whole, limit),
    priority,
    tags: tags.slice(0, mostTags).map((tag) => cut(tag, longest.tag)),
    // Half an address leads nowhere.
    ...(click !== undefined && click.length <= longest.click && { click }),
    markdown,
    cached: true,
    inbox: { key: origin, source, body: whole },
  };
}

const mark = '…';
const maxNames = 10;

/** Adds a line with the names of files that do not go with a message. */
export function withNames(offer: PushOffer, names: readonly string[]): PushOffer {
  const visible = names.slice(0, maxNames).map((name) => name.replace(/\p{Cc}+/gu, ' ').slice(0, 100) || 'unnamed');
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  const line = `[${names.length === 1 ? 'attachment' : 'attachments'}: ${visible.join(', ')}${more}]`;
  return { ...offer, message: offer.message.trim() === '' ? line : `${offer.message.trimEnd()}\n\n${line}` };
}

function cut(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length < limit) return text;
  const room = limit - 1 - new TextEncoder().encode(mark).length;
  // Streaming: a character that does not fit as a whole is left out.
  return new TextDecoder().decode(bytes.subarray(0, room), { stream: true }) + mark;
}
