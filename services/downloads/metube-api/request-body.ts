import express, { type RequestHandler, type Request } from 'express';
import { createRequestProblem, maxIds } from '../wire/fields.ts';

/** Bodies are read as JSON regardless of their content type: bookmarklets send text/plain to avoid the preflight. */
export const readBody: RequestHandler = express.raw({ type: () => true, limit: '1mb' });

/**
 * Parses the body as an object.
 * @throws Problem 400 with MeTube's message
 */
export function parseBody(request: Request): Readonly<Record<string, unknown>> {
  const raw: unknown = request.body;
  const body = parseJson(raw instanceof Uint8Array ? new TextDecoder().decode(raw) : '');
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw createRequestProblem('JSON request body must be an object');
  return body as Record<string, unknown>;
}

/**
 * Parses `ids` of the body.
 * @throws Problem 400 with MeTube's message
 */
export function parseIds(body: Readonly<Record<string, unknown>>, max = maxIds): readonly string[] {
  const { ids } = body;
  const isValid = Array.isArray(ids) && ids.length > 0 && ids.every((id) => typeof id === 'string' && id !== '');
  if (!isValid) throw createRequestProblem(`'ids' must be a non-empty list of strings`);
  if (ids.length > max) throw createRequestProblem(`'ids' must have at most ${max} elements`);
  return ids as readonly string[];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw createRequestProblem('Invalid JSON request body');
  }
}
