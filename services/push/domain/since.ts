import { parseDuration } from './duration.ts';
import { refuse } from './refusals.ts';

/** Where a subscriber's history begins. */
export type Since =
  | { readonly from: 'all' | 'none' | 'latest' }
  /** After the message of this id; an unknown id behaves as all. */
  | { readonly from: 'id'; readonly id: string }
  /** Unix seconds, inclusive. */
  | { readonly from: 'time'; readonly time: number };

/**
 * Reads the `since` parameter; `now` in ms. Without one a poll means everything and a stream nothing.
 * Ids come first: 12 alphanumerics are an id even when all of them are digits.
 *
 * @throws Problem 40008
 */
export function parseSince(text: string, poll: boolean, now: number): Since {
  if (text === '') return { from: poll ? 'all' : 'none' };
  if (text === 'all' || text === 'none' || text === 'latest') return { from: text };
  if (/^[A-Za-z0-9]{12}$/.test(text)) return { from: 'id', id: text };
  if (/^[+-]?\d+$/.test(text)) {
    const time = Number(text);
    if (!Number.isSafeInteger(time)) throw refuse('since_invalid');
    return { from: 'time', time };
  }
  const duration = parseDuration(text);
  if (duration === undefined || !Number.isSafeInteger(Math.trunc(duration))) throw refuse('since_invalid');
  return { from: 'time', time: Math.floor((now - duration) / 1000) };
}
