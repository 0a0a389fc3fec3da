import { createECDH } from 'node:crypto';
import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import { keptKey } from '../../kit/kept-key.ts';
import { getKeyLocation } from '../store/keys.ts';

const KeyPair = z.object({ publicKey: z.string(), privateKey: z.string() });
/** The server's own key pair (RFC 8292), base64url: an uncompressed point of P-256 and its 32-byte scalar. */
export type KeyPair = z.infer<typeof KeyPair>;

/** Made once and sealed: browsers bind their subscription to the public key. */
export async function vapidKeys(context: Pick<Context, 'db' | 'commit' | 'log' | 'vault'>): Promise<KeyPair> {
  return KeyPair.parse(JSON.parse(await keptKey(context, getKeyLocation('vapid'), () => JSON.stringify(newPair()))));
}

function newPair(): KeyPair {
  const curve = createECDH('prime256v1');
  const publicKey = curve.generateKeys('base64url');
  // Leading zeros are cut off by the curve's own output, and the format wants all 32 bytes.
  const privateKey = Buffer.concat([Buffer.alloc(32), curve.getPrivateKey()])
    .subarray(-32)
    .toString('base64url');
  return { publicKey, privateKey };
}
