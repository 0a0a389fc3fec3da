import { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import { rawAnswer } from './problem-reply.ts';

/** What to say to a client whose bytes are no HTTP; Node's error codes on the left. */
const answers: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    'The request line and headers are too large. In a browser, delete the cookies of this address.\n',
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.\n'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.\n'],
};

/**
 * Any server on this machine may set cookies for all of them, and so many that every page here would be out of reach. Nothing
 * of ours is in cookies, so browsers are told to drop them.
 */
const forgetCookies = { 'Clear-Site-Data': '"cookies"' };
/** The cookies of all programs on a machine are shorter together, unless one of them wants otherwise; bytes. */
const longestUsual = 4096;

/**
 * Answers a request that could not be read and ends its connection; a request before it on the same connection that was
 * read in full still gets its own answer. Returns the status that was sent, if any.
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  connections: Connections,
): number | undefined {
  if (error.code === 'ERR_SSL_HTTP_REQUEST') return answerPlainHttp(socket);
  // The rest of what was refused, or what was no HTTP already.
  if (connections.isOver(socket)) return undefined;
  const running = connections.running(socket);
  // Before the end of the handshake nothing can be said by TLS, and what is written would be waited for.
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
  const [status, text] = answers[error.code ?? ''] ?? [400, 'This is not an HTTP request.\n'];
  socket.write(rawAnswer(status, text, status === 431 && holdsCookies(error) ? forgetCookies : {}));
  connections.end(socket);
  return status;
}

function isShakingHands(socket: Socket): boolean {
  return 'secureConnecting' in socket && socket.secureConnecting === true;
}

/**
 * Whether what was too much is cookies: a long line in which one follows another. An address, which any page may make as long
 * as it likes, has no spaces; so no page can have the cookies of other programs on this machine dropped.
 */
function holdsCookies(error: object): boolean {
  const bytes: unknown = 'rawPacket' in error ? error.rawPacket : undefined;
  if (!Buffer.isBuffer(bytes)) return false;
  const lines = bytes.toString('latin1').split('\r\n');
  return lines.some((line) => line.length > longestUsual && /=[^;\s]*; [\w.-]+=/.test(line));
}

/** Tells a client that speaks HTTP without TLS what to do: it sees the words, where a handshake would fail silently. */
function answerPlainHttp(socket: Socket): number {
  const raw = '_parent' in socket ? socket._parent : undefined;
  if (raw instanceof Socket && raw.writable)
    raw.end(rawAnswer(400, 'This port speaks HTTPS. Begin the address with https:// instead of http://.\n'));
  else socket.destroy();
  return 400;
}
