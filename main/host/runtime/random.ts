import { randomFillSync } from 'node:crypto';
import type { Random } from '../../../services/contracts/service.ts';

const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The generator is asked for so many bytes at once: a call costs the same for one as for thousands. */
const pool = Buffer.alloc(4096);
let used = pool.length;

/** Bytes that nobody else has seen; they do not stay in the pool. */
function take(length: number): Buffer {
  if (length > pool.length) return randomFillSync(Buffer.alloc(length));
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const taken = Buffer.from(pool.subarray(used, used + length));
  pool.fill(0, used, used + length);
  used += length;
  return taken;
}

/** The system's cryptographic generator. */
export const systemRandom: Random = {
  bytes: take,
  text(length) {
    let text = '';
    while (text.length < length) {
      for (const byte of take(length - text.length)) {
        // 248 is the largest multiple of 62 a byte can hold; taking more would favour the first letters.
        if (byte < 248) text += characters.charAt(byte % 62);
      }
    }
    return text;
  },
};
