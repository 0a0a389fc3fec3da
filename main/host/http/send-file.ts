import { open, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { BytesReply, FileReply } from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { formatAttachment } from '../../../services/kit/http/content-disposition.ts';
import { parseByteRange } from '../../../services/kit/http/byte-range.ts';

/**
 * Sends a file, or the requested range of it, with headers that prevent scripts from running in the app's origin.
 * @throws Problem `api.no_file` (404) when it was deleted in the meantime.
 */
export async function sendFile(request: IncomingMessage, response: ServerResponse, reply: FileReply): Promise<void> {
  const file = await open(reply.path).catch((cause: unknown) => {
    throw new Problem('api.no_file', 404, 'This file is not there any more.', { cause });
  });
  try {
    await send(request, response, reply, file);
  } finally {
    await file.close();
  }
}

/** Sends bytes with the same headers. They are small, so ranges are not supported. */
export function sendBytes(request: IncomingMessage, response: ServerResponse, reply: BytesReply): void {
  response.setHeader('Cache-Control', 'private, max-age=0');
  sandboxHeaders(response);
  setContentHeaders(response, reply);
  response.writeHead(200, { 'Content-Length': reply.bytes.byteLength });
  response.end(request.method === 'HEAD' ? undefined : reply.bytes);
}

function sandboxHeaders(response: ServerResponse): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Content-Security-Policy', "sandbox; default-src 'none'");
}

function setContentHeaders(response: ServerResponse, { type, saveAs }: Pick<FileReply, 'type' | 'saveAs'>): void {
  response.setHeader('Content-Type', type);
  if (saveAs !== undefined) response.setHeader('Content-Disposition', formatAttachment(saveAs));
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  reply: FileReply,
  file: FileHandle,
): Promise<void> {
  const facts = await file.stat();
  if (!facts.isFile()) throw new Problem('api.no_file', 404, 'This file is not there any more.');
  const tag = `"${facts.size.toString(36)}-${Math.trunc(facts.mtimeMs).toString(36)}"`;
  response.setHeader('ETag', tag);
  response.setHeader('Cache-Control', `private, max-age=${reply.maxAge}`);
  response.setHeader('Accept-Ranges', 'bytes');
  sandboxHeaders(response);
  if (request.headers['if-none-match'] === tag) return void response.writeHead(304).end();
  setContentHeaders(response, reply);
  const { range: rangeHeader, 'if-range': ifRange } = request.headers;
  const range = ifRange === undefined || ifRange === tag ? parseByteRange(rangeHeader, facts.size) : undefined;
  if (range === 'unsatisfiable') {
    response.setHeader('Content-Range', `bytes */${facts.size}`);
    return void response.writeHead(416).end();
  }
  const { start, end } = range ?? { start: 0, end: facts.size - 1 };
  if (range !== undefined) response.setHeader('Content-Range', `bytes ${start}-${end}/${facts.size}`);
  response.writeHead(range === undefined ? 200 : 206, { 'Content-Length': end - start + 1 });
  if (request.method === 'HEAD' || end < start) return void response.end();
  try {
    await pipeline(file.createReadStream({ start, end, autoClose: false }), response);
  } catch {
    // Media players disconnect when the user seeks, and a partial response cannot become an error.
    response.destroy();
  }
}
