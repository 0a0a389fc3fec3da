import { open, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { parseByteRange } from './byte-range.ts';
import { sendReply, startResponse, type ResponseHeaders } from './respond.ts';

/** Headers of an unchanged file, and further ones with its content. */
export interface FileHeaders {
  readonly always: ResponseHeaders;
  readonly content: ResponseHeaders;
}

/**
 * Sends a file, or the requested range of it, with validators for caches and continued transfers (RFC 9110, sections
 * 8.8, 13 and 14).
 * @returns false, without a response, when there is no regular file at the path
 */
export async function sendStoredFile(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  headers: FileHeaders,
): Promise<boolean> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return false;
  try {
    return await send(request, response, file, headers);
  } finally {
    await file.close();
  }
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  file: FileHandle,
  headers: FileHeaders,
): Promise<boolean> {
  const facts = await file.stat();
  if (!facts.isFile()) return false;
  const tag = `"${facts.size.toString(36)}-${Math.trunc(facts.mtimeMs).toString(36)}"`;
  const modifiedAt = facts.mtime.toUTCString();
  const always = { ...headers.always, 'Accept-Ranges': 'bytes', ETag: tag, 'Last-Modified': modifiedAt };
  if (isUnchanged(request, tag, facts.mtimeMs)) {
    sendReply(response, { status: 304, headers: always });
    return true;
  }
  const { range: rangeHeader, 'if-range': ifRange } = request.headers;
  const isRangeValid = ifRange === undefined || ifRange === tag || ifRange === modifiedAt;
  const range = isRangeValid ? parseByteRange(rangeHeader, facts.size) : undefined;
  if (range === 'unsatisfiable') {
    sendReply(response, { status: 416, headers: { ...always, 'Content-Range': `bytes */${facts.size}` } });
    return true;
  }
  const { start, end } = range ?? { start: 0, end: facts.size - 1 };
  startResponse(response, range === undefined ? 200 : 206, {
    ...always,
    ...headers.content,
    ...(range === undefined ? {} : { 'Content-Range': `bytes ${start}-${end}/${facts.size}` }),
    'Content-Length': end - start + 1,
  });
  if (request.method === 'HEAD' || end < start) {
    response.end();
    return true;
  }
  try {
    await pipeline(file.createReadStream({ start, end, autoClose: false }), response);
  } catch {
    // Media players disconnect when the user seeks, and a partial response cannot become an error.
    response.destroy();
  }
  return true;
}

function isUnchanged({ headers }: IncomingMessage, tag: string, modifiedAtMs: number): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return tags.split(',').some((each) => each.trim().replace(/^W\//, '') === tag);
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return !Number.isNaN(since) && Math.trunc(modifiedAtMs / 1000) * 1000 <= since;
}
