import type { Context } from '../../contracts/service.ts';

/** Clients tell by length and letters that a word is a message's id. */
const length = 12;
/** In the order of their codes, so that ids sort as their times do. */
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const timeDigits = 5;
/** ms; the time begins anew after 106 days. */
const step = 10;

/** An id that cannot be guessed, as a file's address needs it. */
export function secretId({ random }: Pick<Context, 'random'>): string {
  return random.text(length);
}

/**
 * An id that begins with the time. In the index of ids those of one commit then lie on one page at its end; random ones
 * would make the commit read and write a page each.
 */
export function orderedId({ clock, random }: Pick<Context, 'clock' | 'random'>): string {
  let rest = Math.floor(clock.now() / step);
  let time = '';
  while (time.length < timeDigits) {
    time = digits.charAt(rest % digits.length) + time;
    rest = Math.floor(rest / digits.length);
  }
  return time + random.text(length - timeDigits);
}
