import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { refuse } from '../domain/refusals.ts';
import type { Attachments } from '../attachments/attachments.ts';
import type { Limits } from '../access/limits.ts';
import { formatAttachment } from '../../kit/content-disposition.ts';
import { parseByteRange } from '../../kit/byte-range.ts';
import { crossOrigin, type Exchange } from './exchange.ts';

/** A path of a file: the id, which nobody can guess, and the ending that its kind gave it. */
const filePath = /^\/file\/([-_A-Za-z0-9]{1,64})(\.[A-Za-z0-9]{1,16})?$/;

/** The id in the path of a file; undefined for any other path. */
export function fileOf(path: string): string | undefined {
  return filePath.exec(path)?.[1];
}

/** A reader that takes nothing for this long has gone; ms. */
const longestStall = 60_000;

export interface FileParts {
  readonly attachments: Attachments;
  readonly limits: Pick<Limits, 'bandwidth'>;
}

/**
 * GET and HEAD `/file/<id>[.<ending>]`, for whoever knows the id: the clients fetch it without a credential.
 *
 * @throws Problem 40401, 42905
 */
export async function serveFile(exchange: Exchange, id: string, { attachments, limits }: FileParts): Promise<void> {
  const { request, response } = exchange;
  const found = await attachments.find(id);
  if (found === undefined) throw refuse('not_found');
  const { file, path } = found;
  if (request.method === 'HEAD') {
    response.writeHead(200, { ...crossOrigin, 'Content-Length': file.size }).end();
    return;
  }
  // Files have no validator, so that none that a client remembers can be the one of this file (RFC 9110, section 13.1.5).
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
    // A page of ours it must never be.
    'Content-Type': file.type.startsWith('text/') ? 'text/plain; charset=utf-8' : file.type,
    'X-Content-Type-Options': 'nosniff',
    ...(range !== undefined && { 'Content-Range': `bytes ${String(start)}-${String(end)}/${String(file.size)}` }),
  });
  if (file.size === 0) {
    await handle.close();
    response.end();
    return;
  }
  // Node destroys the connection then.
  response.setTimeout(longestStall);
  try {
    await pipeline(handle.createReadStream({ start, end }), response);
  } catch (error) {
    // A reader that leaves early has left.
    if (!response.destroyed) throw error;
  }
}
