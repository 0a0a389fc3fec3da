import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { SpoolFile } from './spool.ts';

/** Maximum size in bytes of sources stored in the database. */
const maxDatabaseBytes = 64 * 1024;

/** Completely received source of a mail. */
export interface Incoming extends AsyncDisposable {
  /** Bytes. */
  readonly size: number;
  /** Beginning of the source, including any header of regular size. */
  readonly head: Buffer;
  /** All bytes of a small source; undefined for a file, which is deleted on disposal unless it was kept. */
  readonly bytes: Buffer | undefined;
  /** Makes a file durable and returns the SHA-256 of the source. */
  keep(): Promise<string>;
}

export function toSmallSource(bytes: Buffer): Incoming {
  return {
    bytes,
    head: bytes,
    size: bytes.length,
    keep: () => Promise.resolve(hash('sha256', bytes)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/**
 * Reads a source to its end, into memory while it is small and otherwise into a file. An oversized source is also read,
 * so that the client receives the refusal, and discarded.
 *
 * @throws Error of the stream when the client disconnects
 */
export async function readSource(
  stream: Readable,
  headBytes: number,
  isTooLarge: () => boolean,
  open: () => SpoolFile,
): Promise<Incoming> {
  const beginning = await readBeginning(stream);
  const [firstChunk, secondChunk] = beginning.chunks;
  const firstBytes =
    firstChunk !== undefined && secondChunk === undefined ? firstChunk : Buffer.concat(beginning.chunks);
  if (beginning.ended) return toSmallSource(firstBytes);
  const file = open();
  try {
    const head: Buffer[] = [firstBytes];
    let size = firstBytes.length;
    await file.write(firstBytes);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (isTooLarge()) continue;
      if (size < headBytes) head.push(chunk);
      size += chunk.length;
      await file.write(chunk);
    }
    return {
      size,
      bytes: undefined,
      head: Buffer.concat(head),
      keep: () => file.keep(),
      [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
    };
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Uses events, because an async iterator costs more than all other work for a small mail. The stream is paused after
 * the beginning of a large one.
 */
function readBeginning(stream: Readable): Promise<{ readonly chunks: Buffer[]; readonly ended: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly chunks: Buffer[]; readonly ended: boolean }>();
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= maxDatabaseBytes) return;
    stream.pause();
    removeListeners();
    resolve({ chunks, ended: false });
  };
  const onEnd = (): void => {
    removeListeners();
    resolve({ chunks, ended: true });
  };
  const onError = (error: Error): void => {
    removeListeners();
    reject(error);
  };
  const removeListeners = (): void => {
    stream.off('data', onData).off('end', onEnd).off('error', onError);
  };
  stream.on('data', onData).on('end', onEnd).on('error', onError);
  return promise;
}
