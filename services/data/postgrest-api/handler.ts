import { randomUUID } from 'node:crypto';
import type { Context } from '../../contracts/service.ts';
import type { Database } from '../engine/database.ts';
import { readBody } from '../http/body.ts';
import { isDisconnectError } from '../../kit/disconnect-signal.ts';
import type { Exchange, Part } from '../http/exchange.ts';
import type { Keys } from '../keys/keys.ts';
import type { Settings } from '../settings.ts';
import { errorAnswer, send, type Answer } from './response.ts';
import { batch } from './batch.ts';
import { openCall, type Call } from './request-context.ts';
import { RestError } from './errors.ts';
import { identify, type Role } from './identity.ts';
import { openApiAnswer } from './open-api.ts';
import { read } from './read.ts';
import { callRoutine } from './routine-call.ts';
import type { Catalogue } from './schema/catalogue.ts';
import type { SchemaCache } from './schema/cache.ts';
import { createRun, type Run } from './transaction.ts';
import { write } from './write.ts';

export interface RestParts {
  readonly context: Pick<Context, 'log'>;
  readonly database: Database;
  readonly keys: Keys;
  readonly cache: SchemaCache;
  readonly settings: Settings;
}

/** Rows and functions, as PostgREST serves them. */
export function restPart(parts: RestParts): Part {
  const run = createRun(parts.database);
  return {
    prefix: '/rest/v1',
    async handle(exchange) {
      const { request, response } = exchange;
      let role: Role | undefined;
      try {
        const identity = identify(request, exchange.keyRole ?? 'anon', parts.keys, parts.settings.jwtAudience);
        role = identity.role;
        const call = openCall(request, exchange.path, exchange.query, identity, parts.settings);
        send(response, request.method === 'HEAD', await answer(parts, run, call, exchange));
      } catch (error) {
        // The listener says so, once for all parts.
        if (isDisconnectError(request, response, error)) throw error;
        const known = errorAnswer(error, role);
        if (known === undefined) parts.context.log.error('a row request failed', { error });
        if (response.headersSent) return void response.destroy();
        if (!request.complete) response.setHeader('Connection', 'close');
        send(response, request.method === 'HEAD', known ?? unknownAnswer());
      }
    },
  };
}

const mebibyte = 1024 * 1024;
const mostOfService = 64 * mebibyte;
const verbs = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE']);

async function answer(parts: RestParts, run: Run, call: Call, { path, request }: Exchange): Promise<Answer> {
  const { database, cache } = parts;
  const { method } = call;
  if (!verbs.has(method)) throw new RestError(405, 'PGRST117', `Unsupported HTTP method: ${method}`);
  const isCall = path.startsWith('/rpc/');
  if (isCall && !['GET', 'HEAD', 'POST'].includes(method)) {
    throw new RestError(405, 'PGRST101', `Cannot use the ${method} method on RPC`);
  }
  const isServer = call.identity.role === 'service_role';
  const mostBytes = isServer ? mostOfService : parts.settings.bodyMebibytes * mebibyte;
  const bytes = method === 'GET' || method === 'HEAD' ? undefined : await readBody(request, mostBytes);
  const isBytes = request.headers['content-type']?.startsWith('application/octet-stream') === true;
  const body = bytes?.toString(isBytes ? 'latin1' : 'utf8') ?? '';
  if (path === '/' && method === 'POST') return batch(database, await cache.current(), call, body);
  const answerBy = (catalogue: Catalogue): Promise<Answer> => {
    if (path === '/') return Promise.resolve(openApiAnswer(catalogue, call));
    if (isCall) return callRoutine(run, catalogue, call, body);
    return method === 'GET' || method === 'HEAD' ? read(run, catalogue, call) : write(run, catalogue, call, body);
  };
  const catalogue = await cache.current();
  try {
    return await answerBy(catalogue);
  } catch (error) {
    // What is not known may have been made a moment ago.
    const newer = isUnknown(error) ? await cache.newerThan(catalogue) : undefined;
    if (newer === undefined) throw error;
    return answerBy(newer);
  }
}

const unknown = new Set(['PGRST200', 'PGRST202', 'PGRST204', 'PGRST205']);

function isUnknown(error: unknown): boolean {
  return error instanceof RestError && unknown.has(error.code);
}

function unknownAnswer(): Answer {
  const body = { code: 'PGRSTX00', details: null, hint: null, message: `Something went wrong here (${randomUUID()}).` };
  return { status: 500, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body: JSON.stringify(body) };
}
