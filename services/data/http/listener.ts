import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { KeyRole, Keys } from '../keys/keys.ts';
import { allowOrigin, answerPreflight } from './cors.ts';
import { isDisconnectError } from '../../kit/http/disconnect-signal.ts';
import type { MountedApi } from './exchange.ts';
import { getPublicDetail } from './public-detail.ts';

export interface ListenerOptions {
  readonly context: Pick<Context, 'log'>;
  readonly keys: Keys;
  readonly apis: readonly MountedApi[];
  /** Called at the end of each request with its duration in seconds. */
  readonly onRequestEnd: (seconds: number, api: string, status: number) => void;
}

/** Links in mails lead here while no site address is set. */
const rootMessage =
  'Here programs reach the databases of Homeport. If a link in a mail led here, its app has no site address in the settings yet.';

/** Creates the request listener, which checks the API key and dispatches to the mounted APIs. */
export function createListener({ context, keys, apis, onRequestEnd }: ListenerOptions): RequestListener {
  return (request, response) => {
    const start = performance.now();
    const url = request.url ?? '/';
    const queryIndex = url.indexOf('?');
    const [path, query] = queryIndex < 0 ? [url, ''] : [url.slice(0, queryIndex), url.slice(queryIndex + 1)];
    const api = apis.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    response.once('close', () =>
      onRequestEnd((performance.now() - start) / 1000, api?.prefix ?? 'other', response.statusCode),
    );
    if (request.method === 'OPTIONS') return answerPreflight(request, response);
    allowOrigin(request, response);
    if (api === undefined) {
      if (path === '/') return sendJson(response, 200, { message: rootMessage });
      return sendJson(response, 404, { message: `There is nothing at ${path}` });
    }
    const apiPath = path.slice(api.prefix.length) || '/';
    const keyRole = getKeyRole(request, query, keys);
    if (keyRole === undefined && api.isOpen?.(apiPath) !== true) {
      return sendJson(response, 401, {
        message: getKey(request, query) === undefined ? 'No API key found in request' : 'Invalid API key',
      });
    }
    api
      .handle({ request, response, path: apiPath, query, keyRole })
      .catch((error: unknown) => handleError(context, request, response, error));
  };
}

function getKeyRole(request: IncomingMessage, query: string, keys: Keys): KeyRole | undefined {
  const key = getKey(request, query);
  return key === undefined ? undefined : keys.getRole(key);
}

function getKey(request: IncomingMessage, query: string): string | undefined {
  const { apikey } = request.headers;
  if (typeof apikey === 'string' && apikey !== '') return apikey;
  return query.includes('apikey=') ? (new URLSearchParams(query).get('apikey') ?? undefined) : undefined;
}

function handleError(
  { log }: Pick<Context, 'log'>,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  if (isDisconnectError(request, response, error)) {
    log.debug('client disconnected before its request was complete', { method: request.method });
    return void response.destroy();
  }
  let problem = error instanceof Problem ? error : undefined;
  if (problem === undefined || problem.status >= 500) {
    const id = randomUUID();
    log.error('request failed', { event: 'request_failed', id, method: request.method, error });
    problem ??= new Problem('data.failed', 500, `Something went wrong here; the log has it under ${id}.`);
  }
  if (response.headersSent) return void response.destroy();
  for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value);
  if (!request.complete) response.setHeader('Connection', 'close');
  sendJson(response, problem.status, { code: problem.code, message: getPublicDetail(problem) });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(text) })
    .end(text);
}
