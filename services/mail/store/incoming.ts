import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { SpoolFile } from './spool.ts';

/** Sources up to this size go into the database. */
const smallBytes = 64 * 1024;

/** A mail's source that came whole. */
export interface Incoming extends AsyncDisposable {
  /** Bytes. */
  readonly size: number;
  /** The beginning, with all of a header that is not made to hurt. */
  readonly head: Buffer;
  /** All of a source that is small; undefined for one that has a file, which vanishes at the disposal unless it was kept. */
  readonly bytes: Buffer | undefined;
  /** Makes a file durable. Returns the SHA-256 of the source. */
  keep(): Promise<string>;
}

export function smallSource(bytes: Buffer): Incoming {
  return {
    ...{ bytes, head: bytes, size: bytes.length },
    keep: () => Promise.resolve(hash('sha256', bytes)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/**
 * Reads a source to its end, into memory while it is small and else into the file that is opened then. Of one that has
 * `exceeded` its size the rest is read too, so that the client gets to see the refusal, and dropped.
 * @throws Error the stream's, when the client goes away.
 */
export async function readSource(
  stream: Readable,
  headBytes: number,
  exceeded: () => boolean,
  open: () => Promise<SpoolFile>,
): Promise<Incoming> {
  const beginning = await readBeginning(stream);
  const [only, second] = beginning.chunks;
  const first = only !== undefined && second === undefined ? only : Buffer.concat(beginning.chunks);
  if (beginning.ended) return smallSource(first);
  const file = await open();
  try {
    const head: Buffer[] = [first];
    let size = first.length;
    await file.write(first);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (exceeded()) continue;
      if (size < headBytes) head.push(chunk);
      size += chunk.length;
      await file.write(chunk);
    }
    return {
      ...{ size, bytes: undefined, head: Buffer.concat(head) },
      keep: () => file.keep(),
      [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
    };
  } catch (error) {
    await file[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * By events: an iterator over a stream costs a small mail more than all else that is done with its source. The stream is
 * paused behind the beginning of a large one.
 */
function readBeginning(stream: Readable): Promise<{ readonly chunks: Buffer[]; readonly ended: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly chunks: Buffer[]; readonly ended: boolean }>();
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    size += chunk.length;
    if (size <= smallBytes) return;
    stream.pause();
    leave();
    resolve({ chunks, ended: false });
  };
  const onEnd = (): void => {
    leave();
    resolve({ chunks, ended: true });
  };
  const onError = (error: Error): void => {
    leave();
    reject(error);
  };
  const leave = (): void => {
    stream.off('data', onData).off('end', onEnd).off('error', onError);
  };
  stream.on('data', onData).on('end', onEnd).on('error', onError);
  return promise;
}
