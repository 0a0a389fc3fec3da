import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import { redact } from '../domain/redact.ts';
import { createDisconnectSignal } from '../../kit/http/disconnect-signal.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Access, Caller } from './access.ts';
import { CallError } from './call-error.ts';
import type { CallResponse, Dispatch } from './dispatch.ts';
import { readInput, type Input } from './input.ts';
import { upload } from './upload.ts';
import type { Engine } from '../engine/engine.ts';

export interface ListenerOptions {
  readonly context: Pick<Context, 'accounts' | 'appPages' | 'caller' | 'clock' | 'log'>;
  readonly access: Access;
  readonly dispatch: Dispatch;
  readonly jobs: Jobs;
  readonly engine: () => Engine;
  /** Called with the status of each response. */
  readonly answered: (status: number) => void;
}

/** Returns the request listener of rclone's remote control API. */
export function syncListener(options: ListenerOptions): RequestListener {
  return (request, response) => {
    handleRequest(options, request, response).catch((error: unknown) => {
      options.context.log.error('rclone API call failed', { error });
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: 'an internal error', input: null, path: '', status: 500 });
    });
  };
}

async function handleRequest(
  options: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
  if (url === null) return sendText(response, 400, 'Bad Request\n');
  if (request.method === 'OPTIONS') return void response.writeHead(200, { 'content-length': 0 }).end();
  if (request.method === 'GET' && url.pathname === '/' && redirectToPage(options, request, response)) return;
  let caller: Caller | undefined;
  try {
    caller = await getCaller(options, request);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) return sendUnauthorized(response);
    return sendJson(
      response,
      error.status,
      { error: error.detail, input: null, path: '', status: error.status },
      error.headers,
    );
  }
  if (caller === undefined) return sendUnauthorized(response);
  if (request.method === 'GET' || request.method === 'HEAD') return sendText(response, 404, 'Not Found\n');
  if (request.method !== 'POST') return sendText(response, 405, 'Method Not Allowed\n');
  await handleCall(options, caller, request, response, url);
}

async function handleCall(
  options: ListenerOptions,
  caller: Caller,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const path = getPath(url);
  if (path === undefined) return sendText(response, 400, 'Bad Request\n');
  const clientSignal = createDisconnectSignal(request, response);
  const isAsync = /(?:^|[,\s])respond-async(?:$|[,;\s])/i.test(String(request.headers['prefer'] ?? ''));
  let input: Input = {};
  let reply: CallResponse;
  try {
    if (!(await options.access.hasAnyGrant(caller))) throw new CallError(403, 'this account has no grant on file sync');
    if (path === 'operations/uploadfile') {
      input = Object.fromEntries(url.searchParams);
      reply = await upload(options, caller, { request, url, disconnected: clientSignal });
    } else {
      input = await readInput(request, url);
      reply = await options.dispatch.call(caller, path, input, { isAsync, disconnected: clientSignal });
    }
  } catch (error) {
    if (!(error instanceof CallError) && !(error instanceof Problem)) throw error;
    const message = error instanceof Problem ? error.detail : error.message;
    reply = { status: error.status, body: { error: message } };
  }
  const headers: Record<string, string> = reply.jobId === undefined ? {} : { 'x-rclone-jobid': String(reply.jobId) };
  const { body, status } = reply;
  // The client would send the rest of the body before the next request.
  if (status === 413) headers['connection'] = 'close';
  options.answered(status);
  if (status !== 200) {
    const { _async: _, ...visibleInput } = input;
    return sendJson(response, status, { error: body['error'], input: redact(visibleInput), path, status }, headers);
  }
  if (!isAsync) return sendJson(response, 200, body, headers);
  sendJson(response, 202, body, { ...headers, 'preference-applied': 'respond-async' });
}

/** Returns the path without slashes around it; bytes that are not UTF-8 become replacement characters, as in rclone. */
function getPath({ pathname }: URL): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(pathname)) return undefined;
  const bytes = pathname.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1')
    .toString('utf8')
    .replace(/^\/+|\/+$/g, '');
}

async function getCaller(options: ListenerOptions, request: IncomingMessage): Promise<Caller | undefined> {
  const { accounts, caller } = options.context;
  const { authorization } = request.headers;
  const identity = await accounts.authenticate({ authorization, ...caller(request) });
  return identity === undefined ? undefined : options.access.caller(identity);
}

/** Redirects browsers to the app's page. */
function redirectToPage({ context }: ListenerOptions, request: IncomingMessage, response: ServerResponse): boolean {
  if (!/text\/html/.test(request.headers.accept ?? '')) return false;
  return redirectToAppPage(request, response, { pages: context.appPages, path: '/sync' });
}

function sendUnauthorized(response: ServerResponse): void {
  const body = '401 Unauthorized\n';
  response
    .writeHead(401, {
      'content-type': 'text/plain',
      'www-authenticate': 'Basic realm=""',
      'content-length': body.length,
    })
    .end(body);
}

function sendText(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'content-length': body.length }).end(body);
}

function sendJson(
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
