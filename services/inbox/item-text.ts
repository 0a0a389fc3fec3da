import type { InboxOffer } from '../contracts/inbox/api.ts';

/** Characters of a body that are kept. */
const longestBody = 1_000_000;
const longestTitle = 2000;
const longestLink = 8000;
const mostTags = 100;
const longestTag = 200;
const mostWords = 10;

/** An offer within the inbox's bounds, its text such that every database takes it. */
export function bound(offer: InboxOffer): InboxOffer {
  const { link, ...rest } = offer;
  return {
    ...rest,
    title: shorten(offer.title, longestTitle),
    body: shorten(offer.body, longestBody),
    tags: offer.tags.slice(0, mostTags).map((tag) => shorten(tag, longestTag)),
    source: shorten(offer.source, longestTag),
    topic: shorten(offer.topic, longestTag),
    // Half an address leads nowhere.
    ...(link !== undefined && link.length <= longestLink && { link: storable(link) }),
  };
}

/** The words of a search in rows that have no words of their own yet, each of which must be there. */
export function searchWords(query: string): string[] {
  return [...new Set(fold(query).split(/\s+/))].filter((word) => word !== '').slice(0, mostWords);
}

/** Text for a LIKE pattern whose escape is `\`, in which it stands for itself. */
export function escaped(text: string): string {
  return storable(text).replace(/[\\%_]/g, '\\$&');
}

/** "4 unread" */
export function unreadWords(unread: number): string {
  return unread === 0 ? 'nothing unread' : `${String(unread)} unread`;
}

function fold(text: string): string {
  return storable(text).normalize('NFC').toLowerCase();
}

function shorten(text: string, length: number): string {
  if (text.length <= length) return storable(text);
  return `${storable(text.slice(0, length))}… (${String(text.length - length)} characters more)`;
}

/** PostgreSQL has no NUL in text, and neither database half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
