import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Problem } from '../../../services/contracts/problem.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { frameDenyHeaders } from '../../../services/contracts/frame-headers.ts';
import { toProblem } from '../../../services/kit/http/errors.ts';
import { sendReply } from '../../../services/kit/http/respond.ts';
import { addContentLanguage } from './content-language.ts';
import { systemRandom } from '../runtime/random.ts';

/** Formats a problem as `ApiError` of the contracts. */
export function formatProblem(problem: Problem): string {
  const { code, detail, fields } = problem;
  const visible = Object.keys(fields).length === 0 ? { code, detail } : { code, detail, fields };
  return `${JSON.stringify({ error: visible })}\n`;
}

/** Header fields of responses of the app API: no cache stores them, and browsers show them only as what they are. */
export const privateHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  ...frameDenyHeaders,
};

/** Answers with a problem, or destroys the connection when a response has already begun. */
export function sendProblem(response: ServerResponse, problem: Problem): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const headers = { ...problem.headers, 'Content-Type': 'application/json; charset=utf-8', ...privateHeaders };
  const body = formatProblem(problem);
  addContentLanguage(response);
  sendReply(response, { status: problem.status, headers, body });
}

/** Converts a thrown value to a problem of the host as in {@link toProblem}. */
export function toHostProblem(error: unknown, log: Log, about: Readonly<Record<string, unknown>> = {}): Problem {
  return toProblem(error, { log, random: systemRandom }, 'host.defect', about);
}

/** Formats a complete response for a socket without response object. */
export function formatRawResponse(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const all = {
    Connection: 'close',
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`;
}
