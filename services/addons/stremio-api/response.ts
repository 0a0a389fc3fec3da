import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Problem } from '../../contracts/problem.ts';
import type { Log } from '../../contracts/service.ts';
import { readRequestBody } from '../../kit/http/body.ts';
import { addHeaders, redirectReply, sendReply } from '../../kit/http/respond.ts';
import { LruMap } from '../../kit/lru-map.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';
import { isRecord } from '../../contracts/is-record.ts';

const compress = promisify(gzip);
const minCompressedBytes = 1024;
/** Lists of streams are repetitive, so a low level compresses them well. */
const compressionLevel = 2;

/** Players request addons from pages of any origin. */
const corsHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, HEAD',
  'Access-Control-Allow-Headers': 'Content-Type, Authorization, X-Addon-Password',
  'Access-Control-Expose-Headers': 'X-Stremio-Addon',
};

/** Sets the headers of every response, including errors. */
export function setCorsHeaders(response: ServerResponse): void {
  addHeaders(response, corsHeaders);
}

/** Sends a JSON text, compressed if the client supports it. Sends 304 if the client has the current version. */
export async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  status = 200,
): Promise<void> {
  const { body, tag, compressOnce } = prepareBody(text);
  const headers: Record<string, string> = { 'Content-Type': 'application/json; charset=utf-8' };
  if (status === 200) {
    headers['ETag'] = tag;
    if (request.headers['if-none-match'] === tag) return sendReply(response, { status: 304, headers });
  }
  headers['Vary'] = 'Accept-Encoding';
  const compressed = body.length >= minCompressedBytes && acceptsGzip(request) ? await compressOnce() : undefined;
  if (compressed !== undefined) headers['Content-Encoding'] = 'gzip';
  sendReply(response, { status, headers, body: compressed ?? body });
}

interface PreparedBody {
  readonly body: Buffer;
  readonly tag: string;
  readonly compressOnce: () => Promise<Buffer>;
}

/** Cache of compressed responses, because players request the same list several times. */
const preparedBodies = new LruMap<string, PreparedBody>(20, {
  getWeight: ({ body }) => body.length,
  maxWeight: 6 * 1024 * 1024,
});
const minCachedLength = 32 * 1024;

function prepareBody(text: string): PreparedBody {
  const cached = text.length >= minCachedLength ? preparedBodies.get(text) : undefined;
  if (cached !== undefined) return cached;
  const body = Buffer.from(text);
  let compression: Promise<Buffer> | undefined;
  const created: PreparedBody = {
    body,
    tag: `W/"${createHash('sha1').update(body).digest('base64url')}"`,
    compressOnce: () => (compression ??= compress(body, { level: compressionLevel })),
  };
  if (text.length >= minCachedLength) preparedBodies.set(text, created);
  return created;
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  return /\bgzip\b(?!;\s*q=0(?:\.0*)?(?:,|$))/i.test(String(headers['accept-encoding'] ?? ''));
}

/** Envelope of the responses of our own API. */
export interface Envelope {
  readonly status: number;
  readonly detail?: string | null;
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
}

export function sendEnvelope(request: IncomingMessage, response: ServerResponse, envelope: Envelope): Promise<void> {
  const { status, detail = null, data = null, error = null } = envelope;
  const body = { success: error === null && status < 400, detail, data, error };
  return sendJson(request, response, JSON.stringify(body), status);
}

export function redirect(response: ServerResponse, location: string, status: 302 | 307 = 302): void {
  sendReply(response, redirectReply(status, location, { 'Cache-Control': 'no-store' }));
}

/** Maps our error codes to the codes of the peer. */
const peerCodes: Readonly<Record<string, string>> = {
  'addons.invalid_config': 'USER_INVALID_CONFIG',
  'addons.parent_gone': 'USER_INVALID_CONFIG',
  'addons.wrong_details': 'USER_INVALID_DETAILS',
  'addons.unknown_user': 'USER_INVALID_DETAILS',
  'addons.unreadable_password': 'ENCRYPTION_ERROR',
  'addons.password_too_short': 'USER_NEW_PASSWORD_TOO_SHORT',
  'addons.addon_password': 'ADDON_PASSWORD_INVALID',
  'addons.missing': 'MISSING_REQUIRED_FIELDS',
  'addons.unauthorized': 'UNAUTHORIZED',
  'addons.method': 'METHOD_NOT_ALLOWED',
  'addons.too_many': 'RATE_LIMIT_EXCEEDED',
  'accounts.too_many_attempts': 'RATE_LIMIT_EXCEEDED',
  'addons.no_meta': 'NOT_FOUND',
  'addons.no_addon': 'NOT_FOUND',
  'addons.bad_formatter': 'FORMAT_INVALID_FORMATTER',
  'addons.bad_stream': 'FORMAT_INVALID_STREAM',
};

/** Returns true when a request failed because its client closed the connection. */
function isClientDisconnect(request: IncomingMessage, error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return request.destroyed && !request.complete && (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE');
}

/** Sends an error in the format of the peer. */
export function sendError(request: IncomingMessage, response: ServerResponse, error: unknown, log: Log): Promise<void> {
  if (isClientDisconnect(request, error)) {
    log.debug('client disconnected before the end of its request', { method: request.method });
    response.destroy();
    return Promise.resolve();
  }
  if (!(error instanceof Problem)) {
    log.error('request failed', { event: 'request_failed', method: request.method, error });
    return sendEnvelope(request, response, {
      status: 500,
      error: { code: 'INTERNAL_SERVER_ERROR', message: 'An unexpected error occurred. The log of Homeport has it.' },
    });
  }
  addHeaders(response, error.headers);
  const code = peerCodes[error.code] ?? (error.status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR');
  const message = error.code === 'addons.unknown_user' ? 'Invalid UUID or password' : error.detail;
  return sendEnvelope(request, response, { status: error.status, error: { code, message } });
}

/**
 * Reads the JSON object of the body.
 *
 * @throws Problem 400 or 413
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes = 1024 * 1024,
): Promise<Readonly<Record<string, unknown>>> {
  const tooLargeMessage = 'The body is larger than a configuration can be.';
  const text = (
    await readRequestBody(request, maxBytes, () => new Problem('addons.too_large', 413, tooLargeMessage))
  ).toString();
  const value = parseJsonOrThrow(
    text,
    (cause) => new Problem('addons.bad_body', 400, 'The body is not JSON.', { cause }),
    (key, inner) => (key === '__proto__' ? undefined : inner),
  );
  if (!isRecord(value)) throw new Problem('addons.bad_body', 400, 'The body must be a JSON object.');
  return value;
}

/** Reads name and password from Basic authorization. */
export function parseBasicAuthorization({
  headers,
}: IncomingMessage): { readonly name: string; readonly password: string } | undefined {
  const match = /^basic\s+([A-Za-z0-9+/=_-]+)$/i.exec(headers.authorization ?? '');
  if (match === null) return undefined;
  const text = Buffer.from(match[1] ?? '', 'base64').toString('utf8');
  const separatorIndex = text.indexOf(':');
  return separatorIndex === -1
    ? undefined
    : { name: text.slice(0, separatorIndex), password: text.slice(separatorIndex + 1) };
}
