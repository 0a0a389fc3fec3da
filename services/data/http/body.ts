import * as m from '#messages/data-problems';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { readRequestBody } from '../../kit/http/body.ts';

/**
 * Reads the entire body of a request.
 *
 * @throws Problem `data.too_large` (413)
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const detail = m.bodyTooLarge({ maxBytes });
  return readRequestBody(request, maxBytes, () => new Problem('data.too_large', 413, detail));
}
