import type { IncomingMessage } from 'node:http';

/** The whole body of a request. @throws what `tooLarge` makes, for one of more bytes than `most`. */
export async function wholeBody(request: IncomingMessage, most: number, tooLarge: () => Error): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge();
  const parts: Buffer[] = [];
  let size = 0;
  // Leaving off must not end the connection, on which the answer goes; what still comes is not kept.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > most) {
      request.resume();
      throw tooLarge();
    }
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}
