import { createCipheriv, createDecipheriv, createHash, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Random } from '../../contracts/service.ts';

const scryptAsync = promisify<string, Uint8Array, number, { N: number; r: number; p: number }, Buffer>(scrypt);
const scryptOptions = { N: 1 << 14, r: 8, p: 1 };
const nonceBytes = 12;
const tagBytes = 16;
const maxInflatedBytes = 8 * 1024 * 1024;

/** Derives a key from a password. Slow by design. */
export function deriveKeyFromPassword(password: string, salt: Uint8Array): Promise<Uint8Array> {
  return scryptAsync(password.normalize(), salt, 32, scryptOptions);
}

/** Encrypts the compressed text with AES-256-GCM. */
export function sealText(text: string, key: Uint8Array, random: Random, purpose: string): Buffer {
  const nonce = random.bytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(purpose));
  const sealed = Buffer.concat([cipher.update(deflateRawSync(text)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Reverses {@link sealText}. Returns undefined under another key or purpose, and for modified data. */
export function unsealText(sealed: Uint8Array, key: Uint8Array, purpose: string): string | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes));
    decipher.setAAD(Buffer.from(purpose));
    decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
    const compressed = Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]);
    return inflateRawSync(compressed, { maxOutputLength: maxInflatedBytes }).toString('utf8');
  } catch {
    return undefined;
  }
}

/**
 * Derives the server key from the setting `secretKey`: 64 hexadecimal digits are used as the key, other texts are
 * hashed.
 */
export function deriveKeyFromSecret(secret: string): Uint8Array {
  return /^[0-9a-f]{64}$/i.test(secret) ? Buffer.from(secret, 'hex') : createHash('sha256').update(secret).digest();
}
