import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Body } from '../domain/publication.ts';
import { idleBody } from './exchange.ts';

/**
 * Reads a body, keeping `limit` bytes at most. What is beyond is read and dropped, so that a sender that writes before
 * it reads gets its answer, unless it is more than {@link idleBody}.
 *
 * @throws Problem `push.cut_off` (400) when the connection ends early.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > idleBody) return Promise.resolve(bodyOf(Buffer.alloc(0), true));
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Problem('push.cut_off', 400, 'the request ended before its body'));
    // Its sender may have left while it was looked at who that is.
    if (request.closed) return fail();
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (): void => {
      request.off('data', take).off('end', finish).off('close', fail).off('error', fail);
      const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      resolve(bodyOf(whole.subarray(0, limit), size >= limit));
    };
    const take = (chunk: Buffer): void => {
      if (size < limit) chunks.push(chunk);
      size += chunk.length;
      if (size > idleBody) finish();
    };
    request.on('data', take).once('end', finish).once('close', fail).once('error', fail);
  });
}

function bodyOf(bytes: Buffer, long: boolean): Body {
  return {
    text: isUtf8(bytes) ? bytes.toString('utf8') : undefined,
    base64: () => bytes.toString('base64'),
    long,
  };
}
