import * as m from '#messages/kit-problems';
import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Problem } from '../../contracts/problem.ts';
import { buildAbortedProblem, toAbortedProblem } from './disconnect-signal.ts';

/** Maximum pause within a body by default. */
const defaultStallMs = 60_000;

/**
 * Reads the whole body of a request. The rest of a body that is too large or stalls is discarded, since stopping
 * early would close the connection, which carries the response.
 * @param stallMs maximum pause within the body
 * @throws the error of `tooLarge` for more than `maxBytes`; Problem `http.stalled` (408) after the pause, and
 * `http.aborted` (400) when the client disconnects.
 */
export async function readRequestBody(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: () => Error,
  { stallMs = defaultStallMs }: { readonly stallMs?: number } = {},
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  if (request.destroyed && !request.complete) throw buildAbortedProblem();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const fail = (error: unknown): void => {
    request.resume();
    reject(error);
  };
  const stalled = setTimeout(() => fail(buildStalledProblem()), stallMs);
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > maxBytes) return fail(tooLarge());
    chunks.push(chunk);
    stalled.refresh();
  };
  const onEnd = (): void => resolve(Buffer.concat(chunks, size));
  const onError = (error: unknown): void => fail(toAbortedProblem(error, request));
  const onClose = (): void => {
    if (!request.readableEnded) fail(buildAbortedProblem());
  };
  request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  try {
    return await promise;
  } finally {
    clearTimeout(stalled);
    request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
    // The rest may still fail while it is discarded.
    request.on('error', () => undefined);
  }
}

function buildStalledProblem(): Problem {
  const headers = { Connection: 'close' };
  return new Problem('http.stalled', 408, m.bodyStalled(), { headers });
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
