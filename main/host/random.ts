import { randomBytes } from 'node:crypto';
import type { Random } from '../../services/contracts/service.ts';

const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The system's cryptographic generator. */
export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  text(length) {
    let text = '';
    while (text.length < length) {
      for (const byte of randomBytes(length - text.length)) {
        // 248 is the largest multiple of 62 a byte can hold; taking more would favour the first letters.
        if (byte < 248) text += characters.charAt(byte % 62);
      }
    }
    return text;
  },
};
