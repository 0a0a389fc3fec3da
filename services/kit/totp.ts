import { createHmac, timingSafeEqual } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** Validity of a code in seconds; authenticator apps assume this value. */
const periodSeconds = 30;
const digits = 6;

/** Returns the time step (RFC 6238) of a time in ms. */
export function toTimeStep(time: number): number {
  return Math.floor(time / 1000 / periodSeconds);
}

/** Generates the code of a time step: RFC 6238 with SHA-1, as authenticator apps do. */
export function generateCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', secret).update(counter).digest();
  const offset = (hash.at(-1) ?? 0) & 15;
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits).padStart(digits, '0');
}

/** Returns the time step of a code: the current one or, for clock drift, the previous or next one. */
export function findMatchingStep(secret: Uint8Array, code: string, time: number): number | undefined {
  const input = Buffer.from(code.replaceAll(/\s/g, ''));
  const now = toTimeStep(time);
  return [now, now - 1, now + 1].find((step) => {
    const expected = Buffer.from(generateCode(secret, step));
    return input.length === expected.length && timingSafeEqual(input, expected);
  });
}

/** Encodes a secret as users type it and as otpauth URLs contain it. */
export function toBase32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

/** Decodes Base32 (RFC 4648) without padding; characters must be of the alphabet. */
export function fromBase32(text: string): Uint8Array {
  const bits = [...text.toUpperCase()].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}
