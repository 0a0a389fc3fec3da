import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BlobRange } from '../../contracts/blobs.ts';
import { Problem } from '../../contracts/problem.ts';
import type { StoredFile } from '../domain/message.ts';
import { refuse } from '../domain/refusals.ts';
import { getAttachmentKey, getServedType, type Attachments } from '../attachments/attachments.ts';
import type { Limits } from '../access/limits.ts';
import { formatAttachment } from '../../kit/http/content-disposition.ts';
import { parseByteRange } from '../../kit/http/byte-range.ts';
import { sendReply, startResponse } from '../../kit/http/respond.ts';
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
  const file = await attachments.find(id);
  if (file === undefined) throw refuse('not_found');
  if (request.method === 'HEAD') {
    sendReply(response, { status: 200, headers: { ...crossOrigin, 'Content-Length': file.size } });
    return;
  }
  // Files have no validator, so an If-Range condition never matches (RFC 9110, section 13.1.5).
  const range =
    request.headers['if-range'] === undefined ? parseByteRange(request.headers.range, file.size) : undefined;
  if (range === 'unsatisfiable') {
    const headers = { ...crossOrigin, 'Content-Range': `bytes */${String(file.size)}` };
    sendReply(response, { status: 416, headers });
    return;
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  limits.bandwidth(exchange, end - start + 1);
  const link = await attachments.link(file);
  if (link !== undefined) {
    sendReply(response, { status: 302, headers: { ...crossOrigin, 'Cache-Control': 'no-store', Location: link } });
    return;
  }
  const content = await openContent(attachments, file, { start, end });
  startResponse(response, range === undefined ? 200 : 206, {
    ...crossOrigin,
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, max-age=3600',
    'Content-Disposition': formatAttachment(file.name),
    'Content-Length': end - start + 1,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Content-Type': getServedType(file),
    'X-Content-Type-Options': 'nosniff',
    ...(range !== undefined && { 'Content-Range': `bytes ${String(start)}-${String(end)}/${String(file.size)}` }),
  });
  if (content === undefined) {
    response.end();
    return;
  }
  // Node destroys the connection after the timeout.
  response.setTimeout(downloadIdleTimeoutMs);
  try {
    await pipeline(content, response);
  } catch (error) {
    // Ignores clients that disconnect early.
    if (!response.destroyed) throw error;
  }
}

/** Opens the content of a file; undefined for an empty one. @throws Problem 40401 */
async function openContent(
  { blobs }: Attachments,
  { id, size }: StoredFile,
  range: BlobRange,
): Promise<Readable | undefined> {
  const key = getAttachmentKey(id);
  try {
    if (size > 0) return await blobs.read(key, { range });
    if ((await blobs.find(key)) !== undefined) return undefined;
  } catch (cause) {
    if (cause instanceof Problem && cause.code === 'blobs.missing') throw refuse('not_found', undefined, { cause });
    throw cause;
  }
  throw refuse('not_found');
}
