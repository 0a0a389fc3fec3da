import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { createTargetFailure } from './failure.ts';

/** Maximum number of body bytes that are read, before and after decompression. */
export const maxBodyBytes = 1024 * 1024;

export interface Body {
  readonly text: string;
  /** The body exceeds the limit, so that `text` is only its beginning. */
  readonly isCut: boolean;
}

export async function readBody(response: IncomingMessage, signal: AbortSignal): Promise<Body> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of decompress(response) as AsyncIterable<Buffer>) {
      parts.push(part);
      size += part.length;
      if (size > maxBodyBytes) break;
    }
  } catch (error) {
    throw signal.aborted && signal.reason instanceof Error ? signal.reason : error;
  } finally {
    response.destroy();
  }
  const text = Buffer.concat(parts).subarray(0, maxBodyBytes).toString('utf8');
  return { text: text.startsWith('\uFEFF') ? text.slice(1) : text, isCut: size > maxBodyBytes };
}

/** Returns the note that failure messages need when the rest of the body could change the result. */
export function formatCutNote({ isCut }: Body): string {
  return isCut ? ' (only the first MiB of the answer was read)' : '';
}

function decompress(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return response;
  const decoder = createDecoder(encoding);
  if (decoder === undefined) throw createTargetFailure('encoding_unknown', { encoding: encoding.slice(0, 50) });
  response.on('error', (error) => decoder.destroy(error));
  return response.pipe(decoder);
}

function createDecoder(encoding: string): Transform | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress();
    default:
      return undefined;
  }
}
