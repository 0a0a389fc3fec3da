import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { readRequestBody } from '../../kit/request-body.ts';

/**
 * Reads the entire body of a request.
 *
 * @throws Problem `data.too_large` (413)
 */
export function readBody(request: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const detail = `A body of more than ${mostBytes} bytes is not taken.`;
  return readRequestBody(request, mostBytes, () => new Problem('data.too_large', 413, detail));
}
