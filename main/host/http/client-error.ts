import { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import { formatRawResponse } from './problem-reply.ts';

/** Responses to clients that send invalid HTTP, by Node's error code. */
const responsesByCode: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'The request line and headers are too large. In a browser, delete the cookies of this address.\n',
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.\n'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.\n'],
};

/**
 * Any server on this computer can set cookies for all of them, and enough to exceed the header limit of every page.
 * Homeport stores nothing in cookies, so the response asks browsers to delete them.
 */
const clearCookiesHeader = { 'Clear-Site-Data': '"cookies"' };
/** Usual total size of the cookies of all programs on a computer, in bytes. */
const maxUsualCookieBytes = 4096;

/**
 * Answers a request that could not be parsed and ends its connection; an earlier complete request on the same
 * connection still gets its own response. Returns the sent status, if any.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  connections: Connections,
): number | undefined {
  if (error.code === 'ERR_SSL_HTTP_REQUEST') return answerPlainHttp(socket);
  // The rest of a refused request, or data that was already answered as invalid HTTP.
  if (connections.isAnswered(socket)) return undefined;
  const running = connections.findExchange(socket);
  // TLS cannot send anything before the end of the handshake, and a write would block the end of the connection.
  if (error.code === 'ECONNRESET' || !socket.writable || isShakingHands(socket)) {
    socket.destroy();
    return undefined;
  }
  if (running?.request.complete === true) {
    running.response.once('close', () => socket.destroySoon());
    return undefined;
  }
  if (running?.response.headersSent === true) {
    socket.destroy();
    return undefined;
  }
  const [status, text] = responsesByCode[error.code ?? ''] ?? [400, 'This is not an HTTP request.\n'];
  socket.write(formatRawResponse(status, text, status === 431 && containsCookies(error) ? clearCookiesHeader : {}));
  connections.end(socket);
  return status;
}

function isShakingHands(socket: Socket): boolean {
  return 'secureConnecting' in socket && socket.secureConnecting === true;
}

/**
 * Returns whether cookies caused the header overflow: a long line with several of them. An address has no spaces, and
 * any page can make it arbitrarily long; so no page can make the browser delete the cookies of other programs on this
 * computer.
 */
function containsCookies(error: object): boolean {
  const bytes: unknown = 'rawPacket' in error ? error.rawPacket : undefined;
  if (!Buffer.isBuffer(bytes)) return false;
  const lines = bytes.toString('latin1').split('\r\n');
  return lines.some((line) => line.length > maxUsualCookieBytes && /=[^;\s]*; [\w.-]+=/.test(line));
}

/** Responds with an explanation to a client that sends HTTP without TLS, instead of a failed handshake. */
function answerPlainHttp(socket: Socket): number {
  const raw = '_parent' in socket ? socket._parent : undefined;
  if (raw instanceof Socket && raw.writable)
    raw.end(formatRawResponse(400, 'This port speaks HTTPS. Begin the address with https:// instead of http://.\n'));
  else socket.destroy();
  return 400;
}
