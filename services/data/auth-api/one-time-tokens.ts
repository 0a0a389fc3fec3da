import { createHash, randomBytes, randomInt } from 'node:crypto';
import { isSameSecret } from '../../kit/same-secret.ts';

/** Prefix of tokens whose link returns a code to a program with a verifier (PKCE). */
export const pkcePrefix = 'pkce_';

/** Returns a random code of six digits for mails. */
export function createCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
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
