import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';

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

/** Compares in a time that tells nothing of where they differ. */
export function isSame(left: string, right: string): boolean {
  const [one, other] = [left, right].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}

const small = 'abcdefghijklmnopqrstuvwxyz234567';

/** 12 letters and digits: 60 bits. */
export function refreshToken(): string {
  return Array.from(randomBytes(12), (byte) => small.charAt(byte & 31)).join('');
}

/** 160 bits in base32, as authenticator apps take them. */
export function totpSecret(): string {
  return Array.from(randomBytes(32), (byte) => small.charAt(byte & 31).toUpperCase()).join('');
}

const stepSeconds = 30;

/** The step a code is right for: now, or one step off for clocks that differ. */
export function totpStep(secret: string, code: string, now: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const step = Math.floor(now / 1000 / stepSeconds);
  return [step, step - 1, step + 1].find((each) => isSame(totpCode(secret, each), code));
}

/** The code of a step (RFC 6238 with SHA-1, six digits). */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

function fromBase32(text: string): Buffer {
  let bits = '';
  for (const letter of text.toLowerCase()) bits += small.indexOf(letter).toString(2).padStart(5, '0');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Whether a verifier is the one whose challenge was left. */
export function fitsChallenge(challenge: string, method: string, verifier: string): boolean {
  const expected = method === 's256' ? createHash('sha256').update(verifier).digest('base64url') : verifier;
  return isSame(challenge, expected);
}
