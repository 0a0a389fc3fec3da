import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Reply } from './respond.ts';

/**
 * Adds a weak entity tag to a successful reply to GET or HEAD, and replaces it by 304 without a body when the client
 * already has it (RFC 9110, section 13.1.2).
 */
export function revalidate({ method, headers }: IncomingMessage, reply: Reply): Reply {
  const { status, body } = reply;
  if ((method !== 'GET' && method !== 'HEAD') || status !== 200 || body === undefined) return reply;
  const tag = `W/"${createHash('sha1').update(body).digest('base64url')}"`;
  const tagged = { ...reply, headers: { ...reply.headers, ETag: tag } };
  return hasTag(headers['if-none-match'], tag) ? { status: 304, headers: tagged.headers } : tagged;
}

function hasTag(condition: string | undefined, tag: string): boolean {
  return condition?.split(',').some((each) => each.trim() === tag || each.trim() === '*') === true;
}
