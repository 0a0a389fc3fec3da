import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { refuse } from '../domain/refusals.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { Limits } from '../access/limits.ts';
import { formatAttachment } from '../../kit/http/content-disposition.ts';
import { parseByteRange } from '../../kit/http/byte-range.ts';
import { crossOrigin, type Exchange } from './exchange.ts';

/** Path of a file: the id, which cannot be guessed, and the extension of its type. */
const filePath = /^\/file\/([-_A-Za-z0-9]{1,64})(\.[A-Za-z0-9]{1,16})?$/;

/** Returns the id in the path of a file; undefined for other paths. */
export function findFileId(path: string): string | undefined {
  return filePath.exec(path)?.[1];
}

/** Milliseconds without progress after which a download is ended. */
const downloadIdleTimeoutMs = 60_000;

export interface FileDependencies {
  readonly attachments: Attachments;
  readonly limits: Pick<Limits, 'bandwidth'>;
}

/**
 * Serves GET and HEAD `/file/<id>[.<extension>]` to any client that has the id, because clients request it without
 * credentials.
 *
 * @throws Problem 40401, 42905
 */
export async function serveFile(
  exchange: Exchange,
  id: string,
  { attachments, limits }: FileDependencies,
): Promise<void> {
  const { request, response } = exchange;
  const stored = await attachments.find(id);
  if (stored === undefined) throw refuse('not_found');
  const { file, path } = stored;
  if (request.method === 'HEAD') {
    response.writeHead(200, { ...crossOrigin, 'Content-Length': file.size }).end();
    return;
  }
  // Files have no validator, so an If-Range condition never matches (RFC 9110, section 13.1.5).
  const range =
    request.headers['if-range'] === undefined ? parseByteRange(request.headers.range, file.size) : undefined;
  if (range === 'unsatisfiable') {
    response
      .writeHead(416, { ...crossOrigin, 'Content-Range': `bytes */${String(file.size)}`, 'Content-Length': 0 })
      .end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  limits.bandwidth(exchange, end - start + 1);
  const handle = await open(path).catch((cause: unknown) => {
    throw refuse('not_found', undefined, { cause });
  });
  response.writeHead(range === undefined ? 200 : 206, {
    ...crossOrigin,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, max-age=3600',
    'Content-Disposition': formatAttachment(file.name),
    'Content-Length': end - start + 1,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    // Text files are never rendered as pages of this origin.
    'Content-Type': file.type.startsWith('text/') ? 'text/plain; charset=utf-8' : file.type,
    'X-Content-Type-Options': 'nosniff',
    ...(range !== undefined && { 'Content-Range': `bytes ${String(start)}-${String(end)}/${String(file.size)}` }),
  });
  if (file.size === 0) {
    await handle.close();
    response.end();
    return;
  }
  // Node destroys the connection after the timeout.
  response.setTimeout(downloadIdleTimeoutMs);
  try {
    await pipeline(handle.createReadStream({ start, end }), response);
  } catch (error) {
    // Ignores clients that disconnect early.
    if (!response.destroyed) throw error;
  }
}
