import * as m from '#messages/push-texts';
import type { PushOffer } from '../../contracts/push/topics.ts';
import type { Draft } from './message.ts';
import { emptyMessage } from './publication.ts';

/** Maximum sizes in bytes; longer values are truncated. */
const maxBytes = { title: 1000, tag: 100, click: 2000 } as const;
const maxTags = 50;

/**
 * Builds the draft of a message from another service. Text longer than `limit` bytes is truncated; the inbox receives
 * the full text. Other fields are limited instead of refused, because the sender cannot be notified.
 */
export function buildOfferDraft(offer: PushOffer, limit: number): Draft {
  const { topic, title, priority, tags, click, markdown, source, origin } = offer;
  const fullText = offer.message.trim() || emptyMessage;
  return {
    event: 'message',
    topic,
    title: truncate(title, maxBytes.title),
    message: truncate(fullText, limit),
    priority,
    tags: tags.slice(0, maxTags).map((tag) => truncate(tag, maxBytes.tag)),
    // A truncated URL would be invalid.
    ...(click !== undefined && click.length <= maxBytes.click && { click }),
    markdown,
    cached: true,
    inbox: { key: origin, source, body: fullText },
  };
}

const ellipsis = '…';
const maxNames = 10;

/** Appends the names of files that are not attached to the message. */
export function withNames(offer: PushOffer, names: readonly string[]): PushOffer {
  const visible = names
    .slice(0, maxNames)
    .map((name) => name.replace(/\p{Cc}+/gu, ' ').slice(0, 100) || m.unnamedFile());
  const more = names.length - visible.length;
  const values = { count: names.length, names: visible.join(', ') };
  const line = more > 0 ? m.attachmentsAndMore({ more, ...values }) : m.attachments(values);
  return { ...offer, message: offer.message.trim() === '' ? line : `${offer.message.trimEnd()}\n\n${line}` };
}

function truncate(text: string, limit: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length < limit) return text;
  const maxTextBytes = limit - 1 - new TextEncoder().encode(ellipsis).length;
  // Streaming mode drops an incomplete last character.
  return new TextDecoder().decode(bytes.subarray(0, maxTextBytes), { stream: true }) + ellipsis;
}
