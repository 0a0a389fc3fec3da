import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { KeyRole, Keys } from '../keys/keys.ts';
import { allowOrigin, answerPreflight } from './cors.ts';
import { isDisconnectError } from '../../kit/disconnect-signal.ts';
import type { Part } from './exchange.ts';
import { publicDetail } from './public-detail.ts';

export interface ListenerParts {
  readonly context: Pick<Context, 'log'>;
  readonly keys: Keys;
  readonly parts: readonly Part[];
  /** Called at the end of each request with its duration in seconds. */
  readonly took: (seconds: number, part: string, status: number) => void;
}

/** Links in mails lead here while no site address is set. */
const atTheRoot =
  'Here programs reach the databases of Homeport. If a link in a mail led here, its app has no site address in the settings yet.';

/** Creates the request listener, which checks the API key and dispatches to the mounted APIs. */
export function dataListener({ context, keys, parts, took }: ListenerParts): RequestListener {
  return (request, response) => {
    const start = performance.now();
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const [path, query] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)];
    const part = parts.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
    response.once('close', () =>
      took((performance.now() - start) / 1000, part?.prefix ?? 'other', response.statusCode),
    );
    if (request.method === 'OPTIONS') return answerPreflight(request, response);
    allowOrigin(request, response);
    if (part === undefined) {
      if (path === '/') return json(response, 200, { message: atTheRoot });
      return json(response, 404, { message: `There is nothing at ${path}` });
    }
    const below = path.slice(part.prefix.length) || '/';
    const keyRole = roleOf(request, query, keys);
    if (keyRole === undefined && part.isOpen?.(below) !== true) {
      return json(response, 401, {
        message: keyOf(request, query) === undefined ? 'No API key found in request' : 'Invalid API key',
      });
    }
    part
      .handle({ request, response, path: below, query, keyRole })
      .catch((error: unknown) => fail(context, request, response, error));
  };
}

function roleOf(request: IncomingMessage, query: string, keys: Keys): KeyRole | undefined {
  const key = keyOf(request, query);
  return key === undefined ? undefined : keys.roleOf(key);
}

function keyOf(request: IncomingMessage, query: string): string | undefined {
  const { apikey } = request.headers;
  if (typeof apikey === 'string' && apikey !== '') return apikey;
  return query.includes('apikey=') ? (new URLSearchParams(query).get('apikey') ?? undefined) : undefined;
}

function fail({ log }: Pick<Context, 'log'>, request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (isDisconnectError(request, response, error)) {
    log.debug('client disconnected before its request was complete', { method: request.method });
    return void response.destroy();
  }
  let problem = error instanceof Problem ? error : undefined;
  if (problem === undefined || problem.status >= 500) {
    const id = randomUUID();
    log.error('request failed', { id, method: request.method, error });
    problem ??= new Problem('data.failed', 500, `Something went wrong here; the log has it under ${id}.`);
  }
  if (response.headersSent) return void response.destroy();
  for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value);
  if (!request.complete) response.setHeader('Connection', 'close');
  json(response, problem.status, { code: problem.code, message: publicDetail(problem) });
}

function json(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(text) })
    .end(text);
}
