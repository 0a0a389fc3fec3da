import { once } from 'node:events';
import type { Socket } from 'node:net';

/** Reads this number of bytes from a socket, and no more. @throws Error when it ends before */
export async function readBytes(socket: Socket, length: number, signal: AbortSignal): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(length) as Buffer | null;
    if (bytes?.length === length) return bytes;
    if (bytes !== null || socket.readableEnded || socket.destroyed) throw new Error('Connection closed');
    await Promise.race([
      once(socket, 'readable', { signal }),
      once(socket, 'end', { signal }),
      once(socket, 'close', { signal }),
    ]);
  }
}
