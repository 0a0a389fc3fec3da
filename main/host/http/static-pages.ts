import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { pipeline } from 'node:stream';
import { decodePercentEncoding } from '../../../services/contracts/percent-encoding.ts';
import {
  addHeaders,
  sendReply,
  startResponse,
  textReply,
  type ResponseHeaders,
} from '../../../services/kit/http/respond.ts';

export interface StaticPagesOptions {
  /** Absolute path of the built renderer. */
  readonly folder: string;
  /** Page for `/` and for every path that is not a file. Default `index.html`. */
  readonly entry?: string;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.wasm': 'application/wasm',
};

/** Headers of every response: pages load only resources of this origin and cannot be framed. */
const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'self'; img-src 'self' data: https:; style-src 'self'; script-src 'self'; connect-src 'self'; " +
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** File names by Vite with a content hash: `assets/index-B4kz_9xQ.js`. */
const hashedName = /^\/assets\/[^/]*-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

interface StaticFile {
  readonly path: string;
  readonly size: number;
  readonly modified: Date;
}

/** Creates the handler of the built renderer: one folder with one entry page; files outside of it are never sent. */
export function createStaticPages({ folder, entry = 'index.html' }: StaticPagesOptions): RequestListener {
  return (request, response) => {
    addHeaders(response, securityHeaders);
    serve(request, response, folder, entry).catch(() => {
      // The file was deleted in the meantime, or the disk failed: the page can be requested again.
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'The page could not be read. Try again.');
    });
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, folder: string, entry: string): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return sendText(response, 405, 'Pages can only be read.', { Allow: 'GET, HEAD' });
  }
  const path = decodePath(request.url ?? '/');
  if (path === undefined) return sendText(response, 404, 'There is no such page.');
  const isPage = !isFilePath(path);
  const name = isPage ? `/${entry}` : path;
  const file = await findFile(folder, name);
  if (file !== undefined) return send(request, response, name, file, await findCompressed(request, folder, name));
  if (isPage)
    return sendText(
      response,
      503,
      'The pages have not been built yet. Start the app with "npm start", which builds them.',
    );
  return sendText(response, 404, 'There is no such page.');
}

/**
 * Files are in the root and one folder below it; deeper paths are pages unless they end like a file:
 * `/data/tables/public.plants`.
 */
function isFilePath(path: string): boolean {
  const parts = path.split('/');
  const last = parts.at(-1) ?? '';
  return last.includes('.') && (parts.length < 4 || Object.hasOwn(types, extname(last).toLowerCase()));
}

/** Decodes the path; undefined when it could leave the folder or name a hidden file. */
function decodePath(url: string): string | undefined {
  const end = url.search(/[?#]/);
  const path = decodePercentEncoding(end < 0 ? url : url.slice(0, end));
  if (path === undefined) return undefined;
  const hidden = path.split('/').some((part) => part.startsWith('.'));
  return path.startsWith('/') && !hidden && !/[\\\0:]/.test(path) ? path : undefined;
}

/** Finds a regular file below the folder, following links. */
async function findFile(folder: string, name: string): Promise<StaticFile | undefined> {
  try {
    const [root, path] = await Promise.all([realpath(folder), realpath(join(folder, name))]);
    if (!path.startsWith(root + sep)) return undefined;
    const facts = await stat(path);
    return facts.isFile() ? { path, size: facts.size, modified: facts.mtime } : undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined;
    throw error;
  }
}

/** Finds the `.gz` of the build beside a file, for clients that accept it. */
async function findCompressed(request: IncomingMessage, folder: string, name: string): Promise<StaticFile | undefined> {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted) ? findFile(folder, `${name}.gz`) : undefined;
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  plainFile: StaticFile,
  gz: StaticFile | undefined,
): void {
  const file = gz ?? plainFile;
  const tag = `"${plainFile.size.toString(36)}-${plainFile.modified.getTime().toString(36)}${gz === undefined ? '' : '-gz'}"`;
  const headers = {
    ETag: tag,
    Vary: 'Accept-Encoding',
    'Cache-Control': hashedName.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  if (hasTag(request.headers['if-none-match'], tag)) return sendReply(response, { status: 304, headers });
  startResponse(response, 200, {
    ...headers,
    'Content-Type': types[extname(name).toLowerCase()] ?? 'application/octet-stream',
    ...(gz !== undefined && { 'Content-Encoding': 'gzip' }),
    'Content-Length': file.size,
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  // `end` limits the stream to the Content-Length, in case the file grows in the meantime.
  const stream = createReadStream(file.path, { end: Math.max(0, file.size - 1) });
  pipeline(stream, response, (error) => {
    if (error !== null && error !== undefined) response.destroy();
  });
}

function hasTag(header: string | undefined, tag: string): boolean {
  return header !== undefined && header.split(',').some((item) => item.trim().replace(/^W\//, '') === tag);
}

function sendText(response: ServerResponse, status: number, text: string, headers: ResponseHeaders = {}): void {
  sendReply(response, textReply(status, `${text}\n`, { 'Cache-Control': 'no-store', ...headers }));
}
