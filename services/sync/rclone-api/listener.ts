import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { redirectToAppPage } from '../../kit/redirect-to-app.ts';
import { redacted } from '../domain/redact.ts';
import { createDisconnectSignal } from '../../kit/disconnect-signal.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Access, Caller } from './access.ts';
import { CallError } from './call-error.ts';
import type { CallAnswer, Dispatch } from './dispatch.ts';
import { readInput, type Input } from './input.ts';
import { upload } from './upload.ts';
import type { Engine } from '../engine/engine.ts';

export interface ListenerParts {
  readonly context: Pick<Context, 'accounts' | 'appPages' | 'caller' | 'clock' | 'log'>;
  readonly access: Access;
  readonly dispatch: Dispatch;
  readonly jobs: Jobs;
  readonly engine: () => Engine;
  /** Told of each call that was answered. */
  readonly answered: (status: number) => void;
}

/** The port that speaks rclone's remote control. */
export function syncListener(parts: ListenerParts): RequestListener {
  return (request, response) => {
    answer(parts, request, response).catch((error: unknown) => {
      parts.context.log.error('a call broke off', { error });
      if (response.headersSent) response.destroy();
      else json(response, 500, { error: 'an internal error', input: null, path: '', status: 500 });
    });
  };
}

async function answer(parts: ListenerParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
  if (url === null) return text(response, 400, 'Bad Request\n');
  if (request.method === 'OPTIONS') return void response.writeHead(200, { 'content-length': 0 }).end();
  if (request.method === 'GET' && url.pathname === '/' && leadToPage(parts, request, response)) return;
  let caller: Caller | undefined;
  try {
    caller = await callerOf(parts, request);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) return unauthorized(response);
    return json(
      response,
      error.status,
      { error: error.detail, input: null, path: '', status: error.status },
      error.headers,
    );
  }
  if (caller === undefined) return unauthorized(response);
  if (request.method === 'GET' || request.method === 'HEAD') return text(response, 404, 'Not Found\n');
  if (request.method !== 'POST') return text(response, 405, 'Method Not Allowed\n');
  await call(parts, caller, request, response, url);
}

async function call(
  parts: ListenerParts,
  caller: Caller,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const path = pathOf(url);
  if (path === undefined) return text(response, 400, 'Bad Request\n');
  const left = createDisconnectSignal(request, response);
  const prefers = /(?:^|[,\s])respond-async(?:$|[,;\s])/i.test(String(request.headers['prefer'] ?? ''));
  let input: Input = {};
  let reply: CallAnswer;
  try {
    if (!(await parts.access.mayEnter(caller))) throw new CallError(403, 'this account has no grant on file sync');
    if (path === 'operations/uploadfile') {
      input = Object.fromEntries(url.searchParams);
      reply = await upload(parts, caller, { request, url, left });
    } else {
      input = await readInput(request, url);
      reply = await parts.dispatch.call(caller, path, input, { isAsync: prefers, left });
    }
  } catch (error) {
    if (!(error instanceof CallError) && !(error instanceof Problem)) throw error;
    const message = error instanceof Problem ? error.detail : error.message;
    reply = { status: error.status, body: { error: message } };
  }
  const headers: Record<string, string> = reply.jobId === undefined ? {} : { 'x-rclone-jobid': String(reply.jobId) };
  const { body, status } = reply;
  // Who sends more than is read would send all of it before the next request is heard.
  if (status === 413) headers['connection'] = 'close';
  parts.answered(status);
  if (status !== 200) {
    const { _async: _, ...shown } = input;
    return json(response, status, { error: body['error'], input: redacted(shown), path, status }, headers);
  }
  if (!prefers) return json(response, 200, body, headers);
  json(response, 202, body, { ...headers, 'preference-applied': 'respond-async' });
}

/** Returns the path without slashes around it; bytes that are not UTF-8 become replacement characters, as with the peer. */
function pathOf({ pathname }: URL): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(pathname)) return undefined;
  const bytes = pathname.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1')
    .toString('utf8')
    .replace(/^\/+|\/+$/g, '');
}

async function callerOf(parts: ListenerParts, request: IncomingMessage): Promise<Caller | undefined> {
  const { accounts, caller } = parts.context;
  const { authorization } = request.headers;
  const identity = await accounts.authenticate({ authorization, ...caller(request) });
  return identity === undefined ? undefined : parts.access.caller(identity);
}

/** A person who opens the address is led to the page of the app. */
function leadToPage({ context }: ListenerParts, request: IncomingMessage, response: ServerResponse): boolean {
  if (!/text\/html/.test(request.headers.accept ?? '')) return false;
  return redirectToAppPage(request, response, { pages: context.appPages, path: '/sync' });
}

function unauthorized(response: ServerResponse): void {
  const body = '401 Unauthorized\n';
  response
    .writeHead(401, {
      'content-type': 'text/plain',
      'www-authenticate': 'Basic realm=""',
      'content-length': body.length,
    })
    .end(body);
}

function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'content-length': body.length }).end(body);
}

function json(
  response: ServerResponse,
  status: number,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): void {
  const rendered = `${JSON.stringify(body, null, '\t')}\n`;
  response
    .writeHead(status, {
      'content-type': 'application/json',
      ...headers,
      'content-length': Buffer.byteLength(rendered),
    })
    .end(rendered);
}
