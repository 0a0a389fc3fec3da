import { parseDuration } from './duration.ts';
import { refuse } from './refusals.ts';

/** Start of the history of a subscription. */
export type Since =
  | { readonly from: 'all' | 'none' | 'latest' }
  /** After the message with this id; unknown ids behave like all. */
  | { readonly from: 'id'; readonly id: string }
  /** Unix seconds, inclusive. */
  | { readonly from: 'time'; readonly time: number };

/**
 * Parses the `since` parameter; `now` is in ms. The default is all for a poll and none for a stream. 12 alphanumeric
 * characters are always an id, even when all are digits.
 *
 * @throws Problem 40008
 */
export function parseSince(text: string, isPoll: boolean, now: number): Since {
  if (text === '') return { from: isPoll ? 'all' : 'none' };
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
