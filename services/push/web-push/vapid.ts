import { createECDH } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import { loadOrCreateKey } from '../../kit/stored-key.ts';
import { getKeyLocation } from '../store/keys.ts';

const KeyPair = z.object({ publicKey: z.string(), privateKey: z.string() });
/** Key pair of the server (RFC 8292), base64url: an uncompressed P-256 point and its 32-byte scalar. */
export type KeyPair = z.infer<typeof KeyPair>;

/** Returns the stored key pair, created on first use: browsers bind their subscription to the public key. */
export async function getVapidKeys(context: Pick<Context, 'db' | 'commit' | 'log' | 'vault'>): Promise<KeyPair> {
  return KeyPair.parse(
    JSON.parse(await loadOrCreateKey(context, getKeyLocation('vapid'), () => JSON.stringify(createKeyPair()))),
  );
}

function createKeyPair(): KeyPair {
  const curve = createECDH('prime256v1');
  const publicKey = curve.generateKeys('base64url');
  // The curve omits leading zeros, but the format requires 32 bytes.
  const privateKey = Buffer.concat([Buffer.alloc(32), curve.getPrivateKey()])
    .subarray(-32)
    .toString('base64url');
  return { publicKey, privateKey };
}
