import { open, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { BytesReply, FileReply } from '../../../services/contracts/api.ts';
import { Problem } from '../../../services/contracts/problem.ts';

interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Sends a file, or the one range of it that is asked for. It cannot run anything in our origin, whatever it holds.
 * @throws Problem `api.no_file` (404) when it went away meanwhile.
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

/** Sends bytes with the same precautions. They are few, so no range of them is served. */
export function sendBytes(request: IncomingMessage, response: ServerResponse, reply: BytesReply): void {
  response.setHeader('Cache-Control', 'private, max-age=0');
  harmless(response);
  describe(response, reply);
  response.writeHead(200, { 'Content-Length': reply.bytes.byteLength });
  response.end(request.method === 'HEAD' ? undefined : reply.bytes);
}

function harmless(response: ServerResponse): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Content-Security-Policy', "sandbox; default-src 'none'");
}

function describe(response: ServerResponse, { type, saveAs }: Pick<FileReply, 'type' | 'saveAs'>): void {
  response.setHeader('Content-Type', type);
  if (saveAs !== undefined) response.setHeader('Content-Disposition', disposition(saveAs));
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
  harmless(response);
  if (request.headers['if-none-match'] === tag) return void response.writeHead(304).end();
  describe(response, reply);
  const { range: asked, 'if-range': ifRange } = request.headers;
  const range = ifRange === undefined || ifRange === tag ? readRange(asked, facts.size) : 'whole';
  if (range === 'outside') {
    response.setHeader('Content-Range', `bytes */${facts.size}`);
    return void response.writeHead(416).end();
  }
  const { start, end } = range === 'whole' ? { start: 0, end: facts.size - 1 } : range;
  if (range !== 'whole') response.setHeader('Content-Range', `bytes ${start}-${end}/${facts.size}`);
  response.writeHead(range === 'whole' ? 200 : 206, { 'Content-Length': end - start + 1 });
  if (request.method === 'HEAD' || end < start) return void response.end();
  try {
    await pipeline(file.createReadStream({ start, end, autoClose: false }), response);
  } catch {
    // Players go away in the middle whenever somebody seeks; and half an answer cannot become an error any more.
    response.destroy();
  }
}

/** One range; several at once, and what is not understood, count as none. */
function readRange(header: string | undefined, size: number): Range | 'whole' | 'outside' {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return 'whole';
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start >= size || end < start ? 'outside' : { start, end };
}

/** RFC 6266: the plain form for old clients, the other for every script. */
function disposition(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
