import type { ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import { jsonReply, sendReply, type Reply } from '../../kit/http/respond.ts';

export const lfsType = 'application/vnd.git-lfs+json';
const commonHeaders = { 'Cache-Control': 'max-age=0, private, must-revalidate' };

/** Sends a response about objects. */
export function lfsReply(response: ServerResponse, status: number, body: object): void {
  sendReply(response, buildObjectReply(status, body));
}

/** Sends a response about locks, which has another content type in Gitea. */
export function lockReply(response: ServerResponse, status: number, body: object): void {
  sendReply(response, buildLockReply(status, body));
}

/** Renders a problem. The member `Message` is capitalized for objects, and not for locks. */
export function renderLfsProblem({ status, detail, headers }: Problem, isLock: boolean): Reply {
  const again = status === 401 ? { 'WWW-Authenticate': 'Basic realm="gitea-lfs"' } : {};
  const reply = isLock
    ? buildLockReply(status, { message: detail })
    : buildObjectReply(status, { Message: status === 401 ? 'Unauthorized' : detail });
  return { ...reply, headers: { ...reply.headers, ...again, ...headers } };
}

/** Builds the 401 problem that makes clients request credentials. */
export function lfsSignIn(detail: string): Problem {
  return new Problem('git.sign_in', 401, detail, { headers: { 'WWW-Authenticate': 'Basic realm="gitea-lfs"' } });
}

function buildObjectReply(status: number, body: object): Reply {
  return jsonReply(status, body, { ...commonHeaders, 'Content-Type': lfsType });
}

function buildLockReply(status: number, body: object): Reply {
  return jsonReply(status, body, { ...commonHeaders, 'Content-Type': 'application/json;charset=utf-8' });
}
