import { randomFillSync } from 'node:crypto';
import type { Random } from '../../../services/contracts/service.ts';

const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Random bytes are requested in bulk, since the cost of a call hardly depends on their number. */
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Returns unused bytes and erases them from the pool. */
function takeBytes(length: number): Buffer {
  if (length > pool.length) return randomFillSync(Buffer.alloc(length));
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + length));
  pool.fill(0, used, used + length);
  used += length;
  return bytes;
}

/** Cryptographic random source of the system. */
export const systemRandom: Random = {
  bytes: takeBytes,
  text(length) {
    let text = '';
    while (text.length < length) {
      for (const byte of takeBytes(length - text.length)) {
        // 248 is the largest multiple of 62 in a byte; larger values would favour the first letters.
        if (byte < 248) text += characters.charAt(byte % 62);
      }
    }
    return text;
  },
};
