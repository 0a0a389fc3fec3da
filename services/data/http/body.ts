import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';

/** The whole body of a request. @throws Problem `data.too_large` (413) */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const tooLarge = (): Problem =>
    new Problem('data.too_large', 413, `A body of more than ${mostBytes} bytes is not taken.`);
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw tooLarge();
  // Leaving off must not end the connection, on which the answer goes.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
