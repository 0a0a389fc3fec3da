import { randomUUID } from 'node:crypto';
import type { Context } from '../../contracts/service.ts';
import type { Database } from '../engine/database.ts';
import { readBody } from '../http/body.ts';
import type { Exchange, MountedApi } from '../http/exchange.ts';
import type { Keys } from '../keys/keys.ts';
import type { Settings } from '../settings.ts';
import { toErrorResponse, type RestResponse } from './response.ts';
import { runBatch } from './batch.ts';
import { createRequestContext, type RequestContext } from './request-context.ts';
import { RestError } from './errors.ts';
import { identify, type Role } from './identity.ts';
import { createOpenApiResponse } from './open-api.ts';
import { handleRead } from './read.ts';
import { handleRoutineCall } from './routine-call.ts';
import type { Catalogue } from './schema/catalogue.ts';
import type { SchemaCache } from './schema/cache.ts';
import { createRun, type Run } from './transaction.ts';
import { handleWrite } from './write.ts';

export interface RestApiOptions {
  readonly context: Pick<Context, 'log'>;
  readonly database: Database;
  readonly keys: Keys;
  readonly cache: SchemaCache;
  readonly settings: Settings;
}

/** Creates the row API, which serves tables and functions like PostgREST. */
export function createRestApi(options: RestApiOptions): MountedApi {
  const run = createRun(options.database);
  const roles = new WeakMap<Exchange, Role>();
  return {
    prefix: '/rest/v1',
    async handle(exchange) {
      const { request } = exchange;
      const identity = await identify(request, exchange.keyRole ?? 'anon', options.keys, options.settings.jwtAudience);
      roles.set(exchange, identity.role);
      const context = createRequestContext(request, exchange.path, exchange.query, identity, options.settings);
      return handleRequest(options, run, context, exchange);
    },
    renderError(error, exchange) {
      const errorResponse = toErrorResponse(error, roles.get(exchange));
      if (errorResponse === undefined) options.context.log.error('row request failed', { error });
      return errorResponse ?? createUnexpectedErrorResponse();
    },
  };
}

const mebibyte = 1024 * 1024;
const maxServiceBodyBytes = 64 * mebibyte;
const verbs = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE']);

async function handleRequest(
  options: RestApiOptions,
  run: Run,
  context: RequestContext,
  { path, request }: Exchange,
): Promise<RestResponse> {
  const { database, cache } = options;
  const { method } = context;
  if (!verbs.has(method)) throw new RestError(405, 'PGRST117', `Unsupported HTTP method: ${method}`);
  const isCall = path.startsWith('/rpc/');
  if (isCall && !['GET', 'HEAD', 'POST'].includes(method)) {
    throw new RestError(405, 'PGRST101', `Cannot use the ${method} method on RPC`);
  }
  const isServiceRole = context.identity.role === 'service_role';
  const maxBodyBytes = isServiceRole ? maxServiceBodyBytes : options.settings.bodyMebibytes * mebibyte;
  const bytes = method === 'GET' || method === 'HEAD' ? undefined : await readBody(request, maxBodyBytes);
  const isBytes = request.headers['content-type']?.startsWith('application/octet-stream') === true;
  const body = bytes?.toString(isBytes ? 'latin1' : 'utf8') ?? '';
  if (path === '/' && method === 'POST') return runBatch(database, await cache.current(), context, body);
  const handleWith = (catalogue: Catalogue): Promise<RestResponse> => {
    if (path === '/') return Promise.resolve(createOpenApiResponse(catalogue, context));
    if (isCall) return handleRoutineCall(run, catalogue, context, body);
    return method === 'GET' || method === 'HEAD'
      ? handleRead(run, catalogue, context)
      : handleWrite(run, catalogue, context, body);
  };
  const catalogue = await cache.current();
  try {
    return await handleWith(catalogue);
  } catch (error) {
    // An unknown table or function may have been created a moment ago.
    const newer = isUnknownObjectError(error) ? await cache.findNewer(catalogue) : undefined;
    if (newer === undefined) throw error;
    return handleWith(newer);
  }
}

const unknownObjectCodes = new Set(['PGRST200', 'PGRST202', 'PGRST204', 'PGRST205']);

function isUnknownObjectError(error: unknown): boolean {
  return error instanceof RestError && unknownObjectCodes.has(error.code);
}

function createUnexpectedErrorResponse(): RestResponse {
  const body = { code: 'PGRSTX00', details: null, hint: null, message: `Something went wrong here (${randomUUID()}).` };
  return { status: 500, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) };
}
