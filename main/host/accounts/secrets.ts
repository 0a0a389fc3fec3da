import { hash } from 'node:crypto';
import type { Random } from '../../../services/contracts/service.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** `tk_` and 29 of a-z 0-9: 32 in all, about 150 bits, the shape that the push peer's clients check. */
export function newToken(random: Random): string {
  let text = 'tk_';
  while (text.length < 32) {
    for (const byte of random.bytes(40)) {
      // 252 is the largest multiple of 36 in a byte: above it some letters would come more often.
      if (byte < 252 && text.length < 32) text += letters.charAt(byte % 36);
    }
  }
  return text;
}

/** 256 bits, the secret of a session. */
export function newSession(random: Random): string {
  return Buffer.from(random.bytes(32)).toString('base64url');
}

export function isSessionShaped(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/**
 * What is stored of a token, a session or a set-up code. They are too random to be guessed from it, so a fast hash is
 * enough; looking it up by the hash tells a timing attacker nothing about the text.
 */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** A session ends this long after its last use, ms. */
export const sessionIdleMs = 30 * 24 * 60 * 60 * 1000;
