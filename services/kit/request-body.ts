import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { buildAbortedProblem, toAbortedProblem } from './disconnect-signal.ts';

/**
 * The whole body of a request.
 * @throws what `tooLarge` makes, for one of more bytes than `most`; Problem `http.aborted` when the client leaves.
 */
export async function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving off must not end the connection, on which the answer goes; what still comes is not kept.
  try {
    for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) {
        request.resume();
        throw tooLarge();
      }
      chunks.push(part);
    }
  } catch (error) {
    throw toAbortedProblem(error, request);
  }
  return Buffer.concat(chunks, size);
}

/**
 * Writes the whole body into a file that only its owner reads, on the disk by the time this resolves; returns its bytes.
 * What still comes after a failure is passed over: a browser reads no answer before it has sent all.
 * @throws what `tooLarge` makes, for one of more bytes than `most`, and what the disk or the sender fails with.
 */
export async function writeBodyToFile(
  incoming: Readable,
  file: string,
  { most: maxBytes, tooLarge }: { readonly most: number; readonly tooLarge: () => Error },
): Promise<number> {
  let size = 0;
  async function* limitBytes(): AsyncGenerator<Buffer> {
    for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) throw tooLarge();
      yield part;
    }
  }
  try {
    await pipeline(limitBytes, createWriteStream(file, { mode: 0o600, flush: true }));
    return size;
  } catch (error) {
    incoming.resume();
    const isCut = incoming.errored !== null && incoming.errored === error;
    throw isCut ? buildAbortedProblem(error) : error;
  }
}
