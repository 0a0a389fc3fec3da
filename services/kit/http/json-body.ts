import * as m from '#messages/kit-problems';
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Problem } from '../../contracts/problem.ts';
import { buildAbortedProblem, toAbortedProblem } from './disconnect-signal.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

/**
 * Reads a body as JSON, whatever its content type; undefined when there is none. Compressed bodies are limited by their
 * decompressed size.
 * @throws Problem `http.too_large` (413), `http.unsupported_encoding` (415) for encodings and charsets that are not
 * supported, `http.bad_json` (400), `http.aborted` (400)
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) throw unsupportedProblem();
  const bytes = await readLimited(request, decompress(request), maxBytes);
  if (bytes.length === 0) return undefined;
  return parseJsonOrThrow(
    bytes.toString('utf8'),
    (cause) => new Problem('http.bad_json', 400, m.bodyInvalidJson(), { cause }),
  );
}

/** Returns the body, or the stream of its decompressed bytes. */
function decompress(request: IncomingMessage): Readable {
  switch ((request.headers['content-encoding'] ?? 'identity').toLowerCase()) {
    case 'identity':
      return request;
    case 'gzip':
      return pipeThrough(request, createGunzip());
    case 'deflate':
      return pipeThrough(request, createInflate());
    case 'br':
      return pipeThrough(request, createBrotliDecompress());
    default:
      throw unsupportedProblem();
  }
}

/** Unlike `pipeline`, keeps the connection open for the response when decompression fails. */
function pipeThrough(request: IncomingMessage, decompression: Transform): Readable {
  request.once('close', () => {
    if (!request.complete) decompression.destroy(new Error('the request ended before its body was complete'));
  });
  return request.pipe(decompression);
}

async function readLimited(request: IncomingMessage, body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes) throw new Problem('http.too_large', 413, m.bodyTooLarge());
      chunks.push(part);
    }
  } catch (error) {
    // The rest is discarded, so that the client receives the response.
    request.unpipe();
    request.resume();
    if (body !== request) body.destroy();
    if (!request.complete && request.destroyed) throw buildAbortedProblem(error);
    if (error instanceof Problem || body === request) throw toAbortedProblem(error, request);
    throw new Problem('http.bad_json', 400, m.bodyDecompressionFailed(), { cause: error });
  }
  return Buffer.concat(chunks, size);
}

function unsupportedProblem(): Problem {
  return new Problem('http.unsupported_encoding', 415, m.bodyEncodingUnsupported());
}
