import * as m from '#messages/inbox-texts';
import type { InboxOffer } from '../contracts/inbox/api.ts';

/** Maximum number of stored characters of a body. */
const maxBodyLength = 1_000_000;
const maxTitleLength = 2000;
const maxLinkLength = 8000;
const maxTags = 100;
const maxTagLength = 200;
const maxSearchWords = 10;

/**
 * Limits an offer to the bounds of the inbox and replaces characters that databases refuse. A truncated text ends with a
 * note in the current language.
 */
export function normalizeOffer(offer: InboxOffer): InboxOffer {
  const { link, ...rest } = offer;
  return {
    ...rest,
    title: truncate(offer.title, maxTitleLength),
    body: truncate(offer.body, maxBodyLength),
    tags: offer.tags.slice(0, maxTags).map((tag) => truncate(tag, maxTagLength)),
    source: truncate(offer.source, maxTagLength),
    topic: truncate(offer.topic, maxTagLength),
    // A truncated URL would be invalid.
    ...(link !== undefined && link.length <= maxLinkLength && { link: toStorableText(link) }),
  };
}

/** Splits a search into words, for rows that are not indexed yet. Each word must match. */
export function splitSearchWords(query: string): string[] {
  return [...new Set(foldCase(query).split(/\s+/))].filter((word) => word !== '').slice(0, maxSearchWords);
}

function foldCase(text: string): string {
  return toStorableText(text).normalize('NFC').toLowerCase();
}

function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return toStorableText(text);
  return toStorableText(text.slice(0, maxLength)) + m.truncated({ count: text.length - maxLength });
}

/** PostgreSQL does not store NUL, and neither database stores unpaired surrogates. */
function toStorableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
