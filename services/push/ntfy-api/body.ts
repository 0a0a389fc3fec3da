import * as m from '#messages/push-problems';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { decodeText, isKnownCharset } from '../../kit/charset.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Body } from '../domain/publication.ts';

/** Beginning of a request body. */
export interface ReadBody extends Body {
  /** All bytes read, which may exceed the limit. */
  readonly bytes: Buffer;
}

/**
 * Reads a body up to `limit` bytes. The rest of a longer body stays unread. `charset` is the declared charset of a
 * text; without it, bytes that are not UTF-8 are treated as a file, as in ntfy.
 *
 * @throws Problem `push.cut_off` (400) when the connection ends early
 */
export function readBody(request: IncomingMessage, limit: number, charset?: string): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Problem('push.cut_off', 400, m.requestAborted()));
    // The client may have disconnected during authentication.
    if (request.closed) return fail();
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void => {
      request.off('data', onData).off('end', finish).off('close', fail).off('error', fail);
      const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      resolve(toBody(bytes, limit, charset));
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size < limit) return;
      request.pause();
      finish();
    };
    request.on('data', onData).once('end', finish).once('close', fail).once('error', fail);
  });
}

/** Builds a body from bytes that were not read from a request. */
export function toBody(bytes: Buffer, limit: number, charset?: string): ReadBody {
  const isLong = bytes.length >= limit;
  const head = isLong ? bytes.subarray(0, limit) : bytes;
  return {
    bytes,
    text: isUtf8(head) ? head.toString('utf8') : isLong ? withoutPartialCharacter(head) : decodeDeclared(head, charset),
    base64: () => head.toString('base64'),
    isTruncated: isLong,
  };
}

/** Decodes text in its declared charset; binary data is never treated as text. */
function decodeDeclared(bytes: Buffer, charset: string | undefined): string | undefined {
  if (charset === undefined || !isKnownCharset(charset)) return undefined;
  const text = decodeText(bytes, charset);
  return text.includes('\0') || text.includes('\ufffd') ? undefined : text;
}

/** Returns the text without a last character that was cut by the limit. */
function withoutPartialCharacter(bytes: Buffer): string | undefined {
  for (let end = bytes.length - 1; end >= bytes.length - 3; end -= 1) {
    if (isUtf8(bytes.subarray(0, end))) return bytes.toString('utf8', 0, end);
  }
  return undefined;
}
