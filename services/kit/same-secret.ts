import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares digests, so that the duration does not reveal the position of a difference. */
export function isSameSecret(input: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(input), digest(expected));
}
