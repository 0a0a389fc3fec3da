import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { decodeText, isKnownCharset } from '../../kit/charset.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Body } from '../domain/publication.ts';

/** The beginning of a request's body. */
export interface ReadBody extends Body {
  /** All that was read, which may be more than the limit. */
  readonly bytes: Buffer;
}

/**
 * Reads a body up to `limit` bytes. Of a longer one the rest is still to be read from the request, or to be dropped.
 * `charset` is what a text declares; without it, bytes that are not UTF-8 are a file, as at the peer.
 *
 * @throws Problem `push.cut_off` (400) when the connection ends early.
 */
export function readBody(request: IncomingMessage, limit: number, charset?: string): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Problem('push.cut_off', 400, 'the request ended before its body'));
    // Its sender may have left while it was looked at who that is.
    if (request.closed) return fail();
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void => {
      request.off('data', take).off('end', finish).off('close', fail).off('error', fail);
      const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      resolve(bodyOf(whole, limit, charset));
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size < limit) return;
      request.pause();
      finish();
    };
    request.on('data', take).once('end', finish).once('close', fail).once('error', fail);
  });
}

/** A text that came another way than as a request's body. */
export function bodyOf(bytes: Buffer, limit: number, charset?: string): ReadBody {
  const long = bytes.length >= limit;
  const kept = long ? bytes.subarray(0, limit) : bytes;
  return {
    bytes,
    text: isUtf8(kept) ? kept.toString('utf8') : long ? withoutHalf(kept) : decodeDeclared(kept, charset),
    base64: () => kept.toString('base64'),
    long,
  };
}

/** Returns text whose sender says what charset it is in; a file of bytes is never taken for text. */
function decodeDeclared(bytes: Buffer, charset: string | undefined): string | undefined {
  if (charset === undefined || !isKnownCharset(charset)) return undefined;
  const text = decodeText(bytes, charset);
  return text.includes('\0') || text.includes('\ufffd') ? undefined : text;
}

/** The text without a last character that the limit cut in two. */
function withoutHalf(bytes: Buffer): string | undefined {
  for (let end = bytes.length - 1; end >= bytes.length - 3; end -= 1) {
    if (isUtf8(bytes.subarray(0, end))) return bytes.toString('utf8', 0, end);
  }
  return undefined;
}
