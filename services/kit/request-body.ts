import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { requestAborted, toAborted } from './disconnected.ts';

/**
 * The whole body of a request.
 * @throws what `tooLarge` makes, for one of more bytes than `most`; Problem `http.aborted` when the client leaves.
 */
export async function wholeBody(request: IncomingMessage, most: number, tooLarge: () => Error): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge();
  const parts: Buffer[] = [];
  let size = 0;
  // Leaving off must not end the connection, on which the answer goes; what still comes is not kept.
  try {
    for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > most) {
        request.resume();
        throw tooLarge();
      }
      parts.push(part);
    }
  } catch (error) {
    throw toAborted(error, request);
  }
  return Buffer.concat(parts, size);
}

/**
 * Writes the whole body into a file that only its owner reads, on the disk by the time this resolves; returns its bytes.
 * What still comes after a failure is passed over: a browser reads no answer before it has sent all.
 * @throws what `tooLarge` makes, for one of more bytes than `most`, and what the disk or the sender fails with.
 */
export async function bodyToFile(
  incoming: Readable,
  file: string,
  { most, tooLarge }: { readonly most: number; readonly tooLarge: () => Error },
): Promise<number> {
  let size = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > most) throw tooLarge();
      yield part;
    }
  }
  try {
    await pipeline(counted, createWriteStream(file, { mode: 0o600, flush: true }));
    return size;
  } catch (error) {
    incoming.resume();
    const isCut = incoming.errored !== null && incoming.errored === error;
    throw isCut ? requestAborted(error) : error;
  }
}
