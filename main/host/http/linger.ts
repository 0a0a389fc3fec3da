import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ListenerLimits } from './limits.ts';

/** How long somebody who still sends what was answered already is heard out. */
export type LingerLimits = Pick<ListenerLimits, 'lingerMs' | 'silenceMs'>;

/**
 * Ends a connection whose client is still sending: closes our side and drops what comes until all is there or the client
 * closes the other, within limits. Who closes with bytes unread resets the connection, and takes the answer away from a
 * client that writes all before it reads. `request`: the one that is not whole yet; undefined where none could be read.
 */
export function linger(socket: Socket, request: IncomingMessage | undefined, limits: LingerLimits): void {
  const over = (): void => {
    if (socket.writableFinished) socket.destroy();
    else socket.once('finish', () => socket.destroy());
  };
  const late = setTimeout(() => void socket.destroy(), limits.lingerMs).unref();
  let heard = socket.bytesRead;
  const silent = setInterval(() => {
    if (socket.bytesRead === heard) socket.destroy();
    heard = socket.bytesRead;
  }, limits.silenceMs).unref();
  socket.once('end', over).once('close', () => {
    clearTimeout(late);
    clearInterval(silent);
  });
  socket.end();
  request?.once('end', over).resume();
}

/** Drops the rest of a request that was answered on a connection that stays, as long as it comes within the limit. */
export function dropRest(socket: Socket, request: IncomingMessage, { lingerMs }: LingerLimits): void {
  const late = setTimeout(() => void socket.destroy(), lingerMs).unref();
  const done = (): void => clearTimeout(late);
  request.once('end', done).once('close', done).resume();
}
