import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { SerialQueue } from './serial-queue.ts';

const scryptAsync = promisify<string, Uint8Array, number, object, Buffer>(scrypt);
/** 32 MiB per hash; the parameters that OWASP lists for scrypt with this memory. */
const parameters = { ln: 15, r: 8, p: 3 };
const hashBytes = 32;
const maxMemoryBytes = 64 * 1024 * 1024;
/** Hashes are computed one at a time, so that many attempts do not exhaust the memory. */
const queue = new SerialQueue();

/** Hashes a password with scrypt, in PHC notation: `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt);
  const { ln, r, p } = parameters;
  return `$scrypt$ln=${String(ln)},r=${String(r)},p=${String(p)}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

/** Returns true when a hash of {@link hashPassword} is that of the password. */
export async function verifyPasswordHash(password: string, stored: string): Promise<boolean> {
  const { ln, r, p } = parameters;
  const prefix = `$scrypt$ln=${String(ln)},r=${String(r)},p=${String(p)}$`;
  const [salt = '', hash = ''] = stored.startsWith(prefix) ? stored.slice(prefix.length).split('$') : [];
  const expected = Buffer.from(hash, 'base64url');
  const actual = await derive(password, Buffer.from(salt, 'base64url'));
  return expected.length === actual.length && timingSafeEqual(actual, expected);
}

function derive(password: string, salt: Uint8Array): Promise<Buffer> {
  const { ln, r, p } = parameters;
  // Other systems may compose the same characters differently.
  return queue.run(() =>
    scryptAsync(password.normalize('NFC'), salt, hashBytes, { N: 2 ** ln, r, p, maxmem: maxMemoryBytes }),
  );
}
