import type { ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';

export const lfsType = 'application/vnd.git-lfs+json';

/** Sends a response about objects. */
export function lfsReply(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  send(response, status, body, { 'Content-Type': lfsType, ...headers });
}

/** Sends a response about locks, which has another content type in Gitea. */
export function lockReply(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  send(response, status, body, { 'Content-Type': 'application/json;charset=utf-8', ...headers });
}

/** Builds the 401 problem that makes clients request credentials. */
export function lfsSignIn(detail: string): Problem {
  return new Problem('git.sign_in', 401, detail, { headers: { 'WWW-Authenticate': 'Basic realm="gitea-lfs"' } });
}

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string>): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Cache-Control': 'max-age=0, private, must-revalidate',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
