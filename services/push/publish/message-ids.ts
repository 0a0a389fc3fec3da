import type { Context } from '../../contracts/service.ts';

/** Clients recognize message ids by length and alphabet. */
const idLength = 12;
/** Sorted by character code, so that ids sort by time. */
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const timeDigits = 5;
/** Resolution in ms; the time part repeats after 106 days. */
const stepMs = 10;

/** Returns an id that cannot be guessed, as required for the URL of a file. */
export function createSecretId({ random }: Pick<Context, 'random'>): string {
  return random.text(idLength);
}

/**
 * Returns an id that begins with the time, so that the ids of one commit are adjacent in the index; random ids would
 * touch one page each.
 */
export function createOrderedId({ clock, random }: Pick<Context, 'clock' | 'random'>): string {
  let rest = Math.floor(clock.now() / stepMs);
  let time = '';
  while (time.length < timeDigits) {
    time = digits.charAt(rest % digits.length) + time;
    rest = Math.floor(rest / digits.length);
  }
  return time + random.text(idLength - timeDigits);
}
