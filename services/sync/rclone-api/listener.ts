import type { RequestListener } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { createDisconnectSignal } from '../../kit/http/disconnect-signal.ts';
import { createHttpListener, type Exchange, type Route } from '../../kit/http/listener.ts';
import { redirectToAppPage } from '../../kit/http/redirect-to-app.ts';
import { textReply, type Reply } from '../../kit/http/respond.ts';
import { redact } from '../domain/redact.ts';
import type { Engine } from '../engine/engine.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Access, Caller } from '../access/access.ts';
import { CallError } from '../access/call-error.ts';
import type { CallResponse, Dispatch } from './dispatch.ts';
import type { Input } from '../access/input.ts';
import { readInput } from './input.ts';
import { upload } from './upload.ts';

export interface ListenerOptions {
  readonly context: Pick<Context, 'accounts' | 'appPages' | 'caller' | 'clock' | 'log' | 'random'>;
  readonly access: Access;
  readonly dispatch: Dispatch;
  readonly jobs: Jobs;
  readonly engine: Engine;
  /** Called with the status of each response. */
  readonly answered: (status: number) => void;
}

/**
 * Returns the request listener of rclone's remote control API. Paths are names of calls, and accounts are checked before
 * anything else.
 */
export function syncListener(options: ListenerOptions): RequestListener {
  const routes: readonly Route[] = [{ method: 'GET', path: '/', handle: (exchange) => handlePage(options, exchange) }];
  return createHttpListener({
    routes,
    context: options.context,
    service: 'sync',
    dialect: { preflight: () => ({ status: 200 }), renderProblem },
    createCall: (exchange) => exchange,
    handleUnmatched: (exchange) => handleAccountRequest(options, exchange),
  });
}

/** Redirects browsers to the app's page; other clients receive rclone's response. */
function handlePage(options: ListenerOptions, exchange: Exchange): Promise<Reply | undefined> | undefined {
  const { request, response } = exchange;
  if (/text\/html/.test(request.headers.accept ?? '')) {
    if (redirectToAppPage(request, response, { pages: options.context.appPages, path: '/sync' })) return undefined;
  }
  return handleAccountRequest(options, exchange);
}

async function handleAccountRequest(options: ListenerOptions, exchange: Exchange): Promise<Reply> {
  const caller = await identify(options, exchange);
  const { method } = exchange.request;
  if (method === 'GET' || method === 'HEAD') return textReply(404, 'Not Found\n');
  if (method !== 'POST') return textReply(405, 'Method Not Allowed\n');
  const path = getCallName(exchange.path);
  if (path === undefined) return textReply(400, 'Bad Request\n');
  return handleCall(options, exchange, caller, path);
}

/** @throws Problem 401 without an account */
async function identify({ context, access }: ListenerOptions, { request }: Exchange): Promise<Caller> {
  const { authorization } = request.headers;
  const identity = await context.accounts.authenticate({ authorization, ...context.caller(request) });
  if (identity === undefined) throw new Problem('sync.sign_in', 401, 'Unauthorized');
  return access.caller(identity);
}

async function handleCall(
  options: ListenerOptions,
  { request, response, query }: Exchange,
  caller: Caller,
  path: string,
): Promise<Reply> {
  const disconnected = createDisconnectSignal(request, response);
  const isAsync = /(?:^|[,\s])respond-async(?:$|[,;\s])/i.test(String(request.headers['prefer'] ?? ''));
  let input: Input = {};
  let reply: CallResponse;
  try {
    if (!(await options.access.hasAnyGrant(caller))) throw new CallError(403, 'this account has no grant on file sync');
    if (path === 'operations/uploadfile') {
      input = Object.fromEntries(query);
      reply = await upload(options, caller, { request, query, disconnected });
    } else {
      input = await readInput(request, query);
      reply = await options.dispatch.call(caller, path, input, { isAsync, disconnected });
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
    return rcReply(status, { error: body['error'], input: redact(visibleInput), path, status }, headers);
  }
  if (!isAsync) return rcReply(200, body, headers);
  return rcReply(202, body, { ...headers, 'preference-applied': 'respond-async' });
}

/**
 * Returns the path without slashes around it; undefined for malformed percent-encoding. Bytes that are not UTF-8 become
 * replacement characters, as in rclone.
 */
function getCallName(path: string): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(path)) return undefined;
  const bytes = path.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1')
    .toString('utf8')
    .replace(/^\/+|\/+$/g, '');
}

function renderProblem({ status, detail, headers }: Problem): Reply {
  if (status === 401) {
    const challenge = { 'content-type': 'text/plain', 'www-authenticate': 'Basic realm=""' };
    return { status, headers: challenge, body: '401 Unauthorized\n' };
  }
  const error = status === 500 ? 'an internal error' : detail;
  return rcReply(status, { error, input: null, path: '', status }, headers);
}

/** Builds a reply in the format of rclone. */
function rcReply(
  status: number,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const rendered = `${JSON.stringify(body, null, '\t')}\n`;
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: rendered };
}
