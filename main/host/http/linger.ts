import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ListenerLimits } from './limits.ts';

/** Limits for clients that send after the response. */
export type LingerLimits = Pick<ListenerLimits, 'lingerMs' | 'silenceMs'>;

/**
 * Ends a connection whose client is still sending: closes the local side and discards input until the request is
 * complete or the client closes, within the limits. Closing with unread bytes would reset the connection, and the
 * response would be lost for a client that sends everything before it reads. `request`: the incomplete request;
 * undefined when none could be parsed.
 */
export function linger(socket: Socket, request: IncomingMessage | undefined, limits: LingerLimits): void {
  const isOver = (): void => {
    if (socket.writableFinished) socket.destroy();
    else socket.once('finish', () => socket.destroy());
  };
  const late = setTimeout(() => void socket.destroy(), limits.lingerMs).unref();
  let bytesReceived = socket.bytesRead;
  const silent = setInterval(() => {
    if (socket.bytesRead === bytesReceived) socket.destroy();
    bytesReceived = socket.bytesRead;
  }, limits.silenceMs).unref();
  socket.once('end', isOver).once('close', () => {
    clearTimeout(late);
    clearInterval(silent);
  });
  socket.end();
  request?.once('end', isOver).resume();
}

/** Discards the rest of an answered request on a persistent connection, as long as it arrives within the limit. */
export function discardBody(socket: Socket, request: IncomingMessage, { lingerMs }: LingerLimits): void {
  const late = setTimeout(() => void socket.destroy(), lingerMs).unref();
  const done = (): void => clearTimeout(late);
  request.once('end', done).once('close', done).resume();
}
