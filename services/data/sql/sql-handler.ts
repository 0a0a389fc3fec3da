import * as m from '#messages/data-problems';
import pg from 'pg';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Database } from '../engine/database.ts';
import { jsonReply, textReply } from '../../kit/http/respond.ts';
import { readBody } from '../http/body.ts';
import type { Exchange, MountedApi } from '../http/exchange.ts';
import type { SchemaCache } from '../postgrest-api/schema/cache.ts';
import type { Settings } from '../settings.ts';
import { runStatements } from './statements.ts';
import { buildTypeScriptTypes } from './typescript-types.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';

const maxBodyBytes = 64 * 1024 * 1024;
const QueryRequest = z.object({ query: z.string().min(1) });

export interface SqlApiOptions {
  readonly database: Database;
  readonly cache: SchemaCache;
  readonly settings: Pick<Settings, 'schemas'>;
}

/**
 * Serves `POST /pg/query`, which runs statements of tools and set-up scripts as the owner of the tables, and `GET
 * /pg/types`. Both need the service key.
 */
export function createSqlApi({ database, cache, settings }: SqlApiOptions): MountedApi {
  return {
    prefix: '/pg',
    async handle({ request, path, keyRole }: Exchange) {
      if (keyRole !== 'service_role') return jsonReply(403, { message: 'This needs the service key' });
      if (path === '/types' && request.method === 'GET') {
        return textReply(200, buildTypeScriptTypes(await cache.current(), settings.schemas));
      }
      if (path !== '/query' || request.method !== 'POST') {
        return jsonReply(path === '/query' ? 405 : 404, { message: 'Use POST /pg/query' });
      }
      const body = QueryRequest.safeParse(parseRequest((await readBody(request, maxBodyBytes)).toString()));
      if (!body.success) return jsonReply(400, { message: 'Send {"query": "a statement"} as JSON' });
      try {
        const result = await database.withStatementPool((pool) => runStatements(pool, body.data.query));
        // Without event triggers no notification reports a schema change.
        if (database.limits.length > 0) cache.invalidate();
        return jsonReply(200, result.at(-1)?.rows ?? []);
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error;
        const { message, code, detail, hint, position } = error;
        return jsonReply(400, { message, code, detail, hint, position });
      }
    },
  };
}

function parseRequest(text: string): unknown {
  return parseJsonOrThrow(text, (cause) => new Problem('data.bad_json', 400, m.invalidJson(), { cause }));
}
