import * as m from '#messages/push-problems';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';

/** File that a client sends as the body of a request. */
export interface Upload {
  readonly request: IncomingMessage;
  /** Id of the message that the file belongs to. */
  readonly id: string;
  readonly name: string;
  /** Bytes of the body already read. */
  readonly head: Buffer;
  /** Sender whose quota is used, and the quota in bytes. */
  readonly sender: string;
  readonly quota: number;
  /** Bytes that the sender may still transfer today. */
  readonly remainingTraffic: number;
  /** Expiry of the message, and its delivery time when it is delayed; unix seconds. */
  readonly messageExpires: number;
  readonly due: number | undefined;
}

/** Milliseconds without data after which an upload is ended. */
const uploadIdleTimeoutMs = 30_000;

/** Reads an upload to its end. `take` checks each chunk. @throws Problem `push.cut_off` (400), that of `take` */
export async function* readUpload({ request, head }: Upload, take: (chunk: Buffer) => Buffer): AsyncGenerator<Buffer> {
  yield take(head);
  if (request.readableEnded) return;
  const { socket } = request;
  // Node destroys the socket after the timeout.
  socket.setTimeout(uploadIdleTimeoutMs);
  try {
    // Keeps the connection open when a chunk is refused, so that the sender receives the response.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield take(chunk as Buffer);
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('push.cut_off', 400, m.requestAborted(), { cause });
  } finally {
    socket.setTimeout(0);
  }
}
