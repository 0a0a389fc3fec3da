import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import { isSameSecret } from '../../kit/same-secret.ts';

/** Prefix of tokens whose link returns a code to a program with a verifier (PKCE). */
export const pkcePrefix = 'pkce_';

/** Returns a random code of six digits for mails. */
export function createCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
}

/**
 * Returns the hash of a code that was sent to an address, for the table and for links: 56 hexadecimal digits. There are
 * only a million codes and addresses are known, so without a secret any client could build the links of others.
 */
export function hashToken(secret: string, address: string, code: string): string {
  return createHmac('sha224', secret).update(`${address}\0${code}`).digest('hex');
}

const tokenAlphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns a random refresh token: 12 letters and digits, 60 bits. */
export function createRefreshToken(): string {
  return Array.from(randomBytes(12), (byte) => tokenAlphabet.charAt(byte & 31)).join('');
}

/** Checks a PKCE verifier against its challenge. */
export function verifyChallenge(challenge: string, method: string, verifier: string): boolean {
  const expected = method === 's256' ? createHash('sha256').update(verifier).digest('base64url') : verifier;
  return isSameSecret(challenge, expected);
}
