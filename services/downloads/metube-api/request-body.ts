import type { IncomingMessage } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { readJsonBody } from '../../kit/http/json-body.ts';
import { createRequestProblem, maxIds } from '../wire/fields.ts';
import { isRecord } from '../../contracts/is-record.ts';

/** Body of a request. */
export type RequestBody = Readonly<Record<string, unknown>>;

const maxBytes = 1024 * 1024;

/**
 * Reads the body as an object. Bodies are read as JSON regardless of their content type: bookmarklets send text/plain
 * to avoid the preflight.
 * @throws Problem 400 with MeTube's message, 413
 */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const body = await readJson(request);
  if (!isRecord(body)) throw createRequestProblem('JSON request body must be an object');
  return body;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  let body: unknown;
  try {
    body = await readJsonBody(request, maxBytes);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 413) throw new Problem('downloads.too_large', 413, 'The request body is too large.');
    if (error.code === 'http.aborted') throw error;
    throw createRequestProblem('Invalid JSON request body');
  }
  if (body === undefined) throw createRequestProblem('Invalid JSON request body');
  return body;
}

/**
 * Parses `ids` of the body.
 * @throws Problem 400 with MeTube's message
 */
export function parseIds(body: RequestBody, max = maxIds): readonly string[] {
  const { ids } = body;
  const isValid = Array.isArray(ids) && ids.length > 0 && ids.every((id) => typeof id === 'string' && id !== '');
  if (!isValid) throw createRequestProblem(`'ids' must be a non-empty list of strings`);
  if (ids.length > max) throw createRequestProblem(`'ids' must have at most ${max} elements`);
  return ids as readonly string[];
}
