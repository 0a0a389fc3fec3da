import express, { type RequestHandler, type Request } from 'express';
import { bad, mostIds } from '../wire/fields.ts';

/** Bodies are JSON whatever their type says: bookmarklets send text/plain to spare the preflight. */
export const readBody: RequestHandler = express.raw({ type: () => true, limit: '1mb' });

/** The body's object. @throws Problem 400 with the peer's sentence. */
export function bodyOf(request: Request): Readonly<Record<string, unknown>> {
  const raw: unknown = request.body;
  const body = parse(raw instanceof Uint8Array ? new TextDecoder().decode(raw) : '');
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw bad('JSON request body must be an object');
  return body as Record<string, unknown>;
}

/** `ids` of the body, at most `most`. @throws Problem 400 with the peer's sentence. */
export function idsOf(body: Readonly<Record<string, unknown>>, most = mostIds): readonly string[] {
  const { ids } = body;
  const usable = Array.isArray(ids) && ids.length > 0 && ids.every((id) => typeof id === 'string' && id !== '');
  if (!usable) throw bad(`'ids' must be a non-empty list of strings`);
  if (ids.length > most) throw bad(`'ids' must have at most ${most} elements`);
  return ids as readonly string[];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bad('Invalid JSON request body');
  }
}
