import { hash } from 'node:crypto';
import type { Random } from '../../../services/contracts/service.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Returns `tk_` and 29 characters of a-z 0-9: 32 in total, about 150 bits, in the format that clients of ntfy check.
 */
export function generateToken(random: Random): string {
  let text = 'tk_';
  while (text.length < 32) {
    for (const byte of random.bytes(40)) {
      // 252 is the largest multiple of 36 in a byte: larger values would bias the distribution.
      if (byte < 252 && text.length < 32) text += letters.charAt(byte % 36);
    }
  }
  return text;
}

/** Returns a session secret of 256 bits. */
export function generateSessionSecret(random: Random): string {
  return Buffer.from(random.bytes(32)).toString('base64url');
}

export function isSessionShaped(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** Returns the token of a one-time link: 256 bits. */
export function generateLinkToken(random: Random): string {
  return Buffer.from(random.bytes(32)).toString('base64url');
}

export function isLinkTokenShaped(text: string): boolean {
  return isSessionShaped(text);
}

/**
 * Returns the stored hash of a token, a session or a set-up code. They are too random to be guessed, so a fast hash
 * is sufficient; a lookup by hash reveals nothing to a timing attack.
 */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Idle lifetime of a session in ms. */
export const sessionIdleMs = 30 * 24 * 60 * 60 * 1000;
