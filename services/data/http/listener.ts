import * as m from '#messages/data-texts';
import type { RequestListener } from 'node:http';
import type { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { isDisconnectError } from '../../kit/http/disconnect-signal.ts';
import { endUnread, getPath } from '../../kit/http/errors.ts';
import { createHttpListener, type Exchange as HttpExchange } from '../../kit/http/listener.ts';
import { negotiateRequestLanguage, runInLanguage } from '../../kit/language.ts';
import { addHeaders, jsonReply, type Reply } from '../../kit/http/respond.ts';
import type { KeyRole, Keys } from '../keys/keys.ts';
import { buildOriginHeaders, buildPreflight } from './cors.ts';
import type { MountedApi } from './exchange.ts';
import { getPublicDetail } from './public-detail.ts';

export interface ListenerOptions {
  readonly context: Pick<Context, 'log' | 'random'>;
  readonly keys: Keys;
  readonly apis: readonly MountedApi[];
  /** Called at the end of each request with its duration in seconds. */
  readonly onRequestEnd: (seconds: number, api: string, status: number) => void;
}

/** Creates the request listener, which checks the API key and dispatches to the mounted APIs. */
export function createListener(options: ListenerOptions): RequestListener {
  const { context, apis, onRequestEnd } = options;
  const findApi = (path: string): MountedApi | undefined =>
    apis.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
  return createHttpListener({
    // Paths below a prefix are names of tables, functions and routes of the API.
    routes: [{ method: '*', path: '/', handle: ({ request }) => answerRoot(request) }],
    context,
    service: 'data',
    dialect: { preflight: buildPreflight, renderProblem },
    begin(request, response) {
      const start = performance.now();
      const api = findApi(getPath(request));
      response.once('close', () =>
        onRequestEnd((performance.now() - start) / 1000, api?.prefix ?? 'other', response.statusCode),
      );
      if (request.method !== 'OPTIONS') addHeaders(response, buildOriginHeaders(request));
    },
    createCall: (exchange) => exchange,
    handleUnmatched(exchange) {
      const api = findApi(exchange.path);
      if (api !== undefined) return dispatch(options, api, exchange);
      return jsonReply(404, { message: `There is nothing at ${exchange.path}` });
    },
  });
}

/** Links in mails lead here while no site address is set, so the answer is in the language of the browser. */
function answerRoot({ headers }: HttpExchange['request']): Promise<Reply> {
  return runInLanguage(negotiateRequestLanguage(headers['accept-language']), () =>
    jsonReply(200, { message: m.rootMessage() }, { Vary: 'Accept-Language' }),
  );
}

async function dispatch(
  { keys }: ListenerOptions,
  api: MountedApi,
  { request, response, path }: HttpExchange,
): Promise<Reply> {
  const apiPath = path.slice(api.prefix.length) || '/';
  const query = request.url?.slice(path.length + 1) ?? '';
  const keyRole = await getKeyRole(request, query, keys);
  if (keyRole === undefined && api.isOpen?.(apiPath) !== true) {
    return jsonReply(401, {
      message: getKey(request, query) === undefined ? 'No API key found in request' : 'Invalid API key',
    });
  }
  const exchange = { request, response, path: apiPath, query, keyRole };
  try {
    return await api.handle(exchange);
  } catch (error) {
    if (isDisconnectError(request, response, error)) throw error;
    const reply = api.renderError?.(error, exchange);
    if (reply === undefined) throw error;
    endUnread(request, response);
    return reply;
  }
}

async function getKeyRole(request: HttpExchange['request'], query: string, keys: Keys): Promise<KeyRole | undefined> {
  const key = getKey(request, query);
  return key === undefined ? undefined : await keys.getRole(key);
}

function getKey(request: HttpExchange['request'], query: string): string | undefined {
  const { apikey } = request.headers;
  if (typeof apikey === 'string' && apikey !== '') return apikey;
  return query.includes('apikey=') ? (new URLSearchParams(query).get('apikey') ?? undefined) : undefined;
}

function renderProblem(problem: Problem): Reply {
  return jsonReply(problem.status, { code: problem.code, message: getPublicDetail(problem) }, problem.headers);
}
