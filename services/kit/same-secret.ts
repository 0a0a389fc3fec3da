import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares by digests, so that the time it takes says nothing of where the two differ. */
export function isSameSecret(input: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(input), digest(expected));
}
