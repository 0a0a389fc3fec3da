import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import { isSameSecret } from '../../kit/same-secret.ts';

/** In front of the token of a link whose answer goes to a program that holds a verifier. */
export const pkcePrefix = 'pkce_';

/** A code of six digits, as mails carry it. */
export function sixDigits(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
}

/**
 * What stands in the table and in links for a code that was sent to an address: 56 hexadecimal digits. There are a million
 * codes and addresses are known, so that without a secret everybody could make the links of others.
 */
export function tokenHash(secret: string, address: string, code: string): string {
  return createHmac('sha224', secret).update(`${address}\0${code}`).digest('hex');
}

const small = 'abcdefghijklmnopqrstuvwxyz234567';

/** 12 letters and digits: 60 bits. */
export function refreshToken(): string {
  return Array.from(randomBytes(12), (byte) => small.charAt(byte & 31)).join('');
}

/** Whether a verifier is the one whose challenge was left. */
export function fitsChallenge(challenge: string, method: string, verifier: string): boolean {
  const expected = method === 's256' ? createHash('sha256').update(verifier).digest('base64url') : verifier;
  return isSameSecret(challenge, expected);
}
