import type { ServerResponse } from 'node:http';

/** Header fields of a response; a list sends the field several times. */
export type ResponseHeaders = Readonly<Record<string, string | number | readonly string[]>>;

/** Complete response, whose body is in memory. */
export interface Reply {
  readonly status: number;
  readonly headers?: ResponseHeaders;
  /** Without a body, `Content-Length: 0` is sent where the status allows a body. */
  readonly body?: string | Uint8Array | undefined;
  /** Reason phrase, for peers whose clients display it. Default: that of the status. */
  readonly reason?: string;
}

/**
 * Sends a complete response with its length. A HEAD request receives the same header fields without the body. Header
 * fields that were set on the response before are kept unless the reply names them.
 */
export function sendReply(response: ServerResponse, { status, headers = {}, body, reason }: Reply): void {
  const length = body === undefined ? undefined : Buffer.byteLength(body);
  const complete = mayHaveBody(status) ? { 'Content-Length': length ?? 0, ...headers } : headers;
  writeHead(response, status, complete, reason);
  if (length === undefined || response.req.method === 'HEAD') response.end();
  else response.end(reason === undefined ? body : toBytes(body));
}

/** Node joins a text with the head and writes both in UTF-8, which would encode the bytes of a reason phrase again. */
function toBytes(body: string | Uint8Array | undefined): Uint8Array | undefined {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** Builds a reply with a value as JSON. */
export function jsonReply(status: number, value: unknown, headers: ResponseHeaders = {}): Reply {
  const body = JSON.stringify(value);
  return { status, headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers }, body };
}

/** Builds a reply with plain text. */
export function textReply(status: number, body: string, headers: ResponseHeaders = {}): Reply {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, body };
}

/** Builds a redirect without a body. */
export function redirectReply(status: 301 | 302 | 303 | 307 | 308, location: string, headers?: ResponseHeaders): Reply {
  return { status, headers: { ...headers, Location: location } };
}

/** Begins a response whose body the caller writes afterwards. */
export function startResponse(
  response: ServerResponse,
  status: number,
  headers: ResponseHeaders | readonly string[] = {},
  reason?: string,
): void {
  writeHead(response, status, headers, reason);
}

/** Adds header fields to a response that has not begun; they replace fields of the same name. */
export function addHeaders(response: ServerResponse, headers: ResponseHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, typeof value === 'string' || typeof value === 'number' ? value : [...value]);
  }
}

/** Informational, 204 and 304 responses have no body and no length (RFC 9110, section 8.6). */
function mayHaveBody(status: number): boolean {
  return status >= 200 && status !== 204 && status !== 304;
}

function writeHead(
  response: ServerResponse,
  status: number,
  headers: ResponseHeaders | readonly string[],
  reason: string | undefined,
): void {
  // Node accepts lists of values and raw lists of names and values, which its types do not declare as read-only.
  const fields = headers as Record<string, string | number | string[]>;
  if (reason === undefined) response.writeHead(status, fields);
  else response.writeHead(status, reason, fields);
}
