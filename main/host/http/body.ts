import * as m from '#messages/host-problems';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../../services/contracts/problem.ts';
import { readRequestBody } from '../../../services/kit/http/body.ts';
import { parseJsonOrThrow } from '../../../services/contracts/parse-json.ts';

/** Maximum size of a body with another content type, which is read only to answer the client. */
const maxOtherBytes = 64 * 1024;

/**
 * Reads a JSON body; undefined when there is none. Only `application/json` is accepted: a form of another site cannot
 * send it without a preflight.
 * @throws Problem `http.too_large` (413), `http.stalled` (408), `http.aborted` (400), `http.not_json` (415),
 * `http.bad_json` (400)
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  if (request.headers['content-encoding'] !== undefined && request.headers['content-encoding'] !== 'identity') {
    throw new Problem('http.not_json', 415, m.contentEncoding(), closed);
  }
  const isJson = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i.test(request.headers['content-type'] ?? '');
  const limit = isJson ? maxBytes : Math.min(maxBytes, maxOtherBytes);
  const body = await readRequestBody(request, limit, () => buildTooLargeProblem(limit));
  if (body.length === 0) return undefined;
  if (!isJson) throw new Problem('http.not_json', 415, m.contentType());
  const toError = (cause?: unknown): Problem => new Problem('http.bad_json', 400, m.jsonInvalid(), { cause });
  if (!isUtf8(body)) throw toError();
  return parseJsonOrThrow(new TextDecoder().decode(body), toError);
}

const closed = { headers: { Connection: 'close' } };

export function buildTooLargeProblem(maxBytes: number): Problem {
  return new Problem('http.too_large', 413, m.bodyTooLarge({ maxBytes }), closed);
}
