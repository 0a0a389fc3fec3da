import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Problem } from '../../contracts/problem.ts';
import { redirectReply, sendReply, type ResponseHeaders } from '../../kit/http/respond.ts';

const policy =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** Additional headers of the passkey page, the only one with a script. */
export const scriptHeaders = {
  'Content-Security-Policy': `${policy}; script-src 'self'`,
} as const;

/** Headers that prevent framing, scripts and caching. */
const pageHeaders = {
  'Content-Security-Policy': policy,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** Sends a page or file of the gateway. */
export function send(
  response: ServerResponse,
  content: {
    readonly status: number;
    readonly type: string;
    readonly body: string | Buffer;
    readonly headers?: ResponseHeaders;
  },
): void {
  const headers = { ...pageHeaders, 'Content-Type': content.type, ...content.headers };
  sendReply(response, { status: content.status, headers, body: content.body });
}

/** Sends a page in the language of the client. */
export function sendHtml(response: ServerResponse, status: number, body: string, headers: ResponseHeaders = {}): void {
  const languageHeaders = { Vary: 'Accept-Language', ...headers };
  send(response, { status, type: 'text/html; charset=utf-8', body, headers: languageHeaders });
}

/** Sends a sentence in the language of the client. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  const headers = { Vary: 'Accept-Language' };
  send(response, { status, type: 'text/plain; charset=utf-8', body: `${text}\n`, headers });
}

/** Answers an upgrade that is refused, and closes the connection. */
export function refuseUpgrade(socket: Duplex, { status, detail }: Pick<Problem, 'status' | 'detail'>): void {
  if (socket.destroyed || !socket.writable) return;
  const body = `${detail}\n`;
  const head = `HTTP/1.1 ${String(status)} Refused\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8`;
  socket.end(`${head}\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`);
}

/** Redirects to a path of the same host, or to an address that does not come from the request. */
export function redirect(
  response: ServerResponse,
  status: 302 | 303 | 308,
  location: string,
  headers: ResponseHeaders = {},
): void {
  sendReply(response, redirectReply(status, location, { ...pageHeaders, ...headers }));
}

/** Returns true for page requests of browsers. */
export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}

/**
 * Returns true for form submissions of browsers. Programs accept any content type, and scripts announce themselves in
 * `Sec-Fetch-Mode`.
 */
export function sendsForm({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const mode = headers['sec-fetch-mode'];
  if (method !== 'POST' || headers.accept?.includes('text/html') !== true) return false;
  return mode === undefined || mode === 'navigate';
}
