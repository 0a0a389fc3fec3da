import { createHmac } from 'node:crypto';

/**
 * Returns the hash of a code that was sent to an address, for the table and for links: 56 hexadecimal digits. There are
 * only a million codes and addresses are known, so without a secret any client could build the links of others.
 */
export function hashToken(secret: string, address: string, code: string): string {
  return createHmac('sha224', secret).update(`${address}\0${code}`).digest('hex');
}
