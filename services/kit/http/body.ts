import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { buildAbortedProblem, toAbortedProblem } from './disconnect-signal.ts';

/**
 * Reads the whole body of a request.
 * @throws the error of `tooLarge` for more than `maxBytes`; Problem `http.aborted` when the client disconnects.
 */
export async function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Stopping early must not close the connection, which carries the response; the remaining body is discarded.
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
 * Writes the body to a file with mode 0600 and syncs it; returns the number of bytes. The remaining body is discarded
 * after a failure, since browsers read no response before they have sent everything.
 * @throws the error of `tooLarge` for more than `maxBytes`, and errors of the disk or the client.
 */
export async function writeBodyToFile(
  incoming: Readable,
  file: string,
  { maxBytes: maxBytes, tooLarge }: { readonly maxBytes: number; readonly tooLarge: () => Error },
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
