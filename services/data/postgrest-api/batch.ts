import type pg from 'pg';
import { z } from 'zod';
import type { Database } from '../engine/database.ts';
import type { RestResponse } from './response.ts';
import { getPreRequest, createRequestContext, getTransactionSettings, type RequestContext } from './request-context.ts';
import { RestError } from './errors.ts';
import type { Role } from './identity.ts';
import { parseJsonPayload } from './parse/body.ts';
import { handleRead } from './read.ts';
import { handleRoutineCall } from './routine-call.ts';
import type { Catalogue } from './schema/catalogue.ts';
import { getResult, buildSettingsStatement, toQueryConfig, statementTimeoutsMs, type Run } from './transaction.ts';
import { handleWrite } from './write.ts';

const Batch = z.object({
  requests: z
    .array(
      z.object({
        method: z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']),
        /** Path below `/rest/v1`: `/items?id=eq.1`, `/rpc/add`. */
        path: z.string().startsWith('/').min(2).max(60_000),
        body: z.unknown().optional(),
        prefer: z.string().max(500).optional(),
      }),
    )
    .min(1)
    .max(1000),
});

/**
 * Runs several requests in one transaction: `POST /rest/v1/` with `{"requests": [{method, path, body, prefer}]}`. A
 * refused request rolls back all of them. The response contains the status and the body of each.
 */
export async function runBatch(
  database: Database,
  catalogue: Catalogue,
  context: RequestContext,
  body: string,
): Promise<RestResponse> {
  const parsed = Batch.safeParse(parseJsonPayload(body));
  if (!parsed.success) {
    throw new RestError(400, 'PGRST102', 'Send {"requests": [{"method", "path", "body", "prefer"}]}', {
      details: z.prettifyError(parsed.error),
    });
  }
  const deadline = performance.now() + context.settings.batchSeconds * 1000;
  const responses = await database.asRequest({ role: context.identity.role, settings: {} }, async (client) => {
    const run = createBatchRun(client);
    const results: string[] = [];
    for (const { method, path, prefer, body: itemBody } of parsed.data.requests) {
      const queryIndex = path.indexOf('?');
      const [itemPath, query] = queryIndex < 0 ? [path, ''] : [path.slice(0, queryIndex), path.slice(queryIndex + 1)];
      const { accept: _accept, prefer: _prefer, range: _range, ...headers } = context.request.headers;
      const itemContext = createRequestContext(
        { method, headers: { ...headers, ...(prefer === undefined ? {} : { prefer }) } },
        itemPath,
        query,
        context.identity,
        context.settings,
      );
      const text = itemBody === undefined ? '' : JSON.stringify(itemBody);
      const timeout = getTimeoutMs(context.identity.role, deadline - performance.now());
      const { text: setting, values } = buildSettingsStatement(
        context.identity,
        getTransactionSettings(itemContext),
        timeout,
      );
      await client.query(setting, [...values]);
      const preRequest = getPreRequest(itemContext);
      if (preRequest !== undefined) await client.query(`select ${preRequest}()`);
      const isCall = itemPath.startsWith('/rpc/');
      const response = isCall
        ? await handleRoutineCall(run, catalogue, itemContext, text)
        : method === 'GET'
          ? await handleRead(run, catalogue, itemContext)
          : await handleWrite(run, catalogue, itemContext, text);
      results.push(
        `{"status":${response.status},"body":${response.body === undefined || response.body === '' ? 'null' : response.body}}`,
      );
    }
    return results;
  });
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: `[${responses.join(',')}]`,
  };
}

/**
 * Returns the time limit of the next statement, so that the whole transaction ends in time.
 *
 * @throws RestError 57014 when no time is left
 */
function getTimeoutMs(role: Role, remainingMs: number): number {
  if (remainingMs < 1) {
    throw new RestError(500, '57014', 'The transaction takes too long', { hint: 'Send fewer requests at once.' });
  }
  return Math.min(statementTimeoutsMs[role] === 0 ? Infinity : statementTimeoutsMs[role], Math.floor(remainingMs));
}

/** Runs statements within the transaction of the batch. */
function createBatchRun(client: pg.PoolClient): Run {
  return async ({ statement, values, rows, end }) => {
    if (end === 'rollback')
      throw new RestError(400, 'PGRST122', 'A part of a transaction cannot be rolled back separately');
    const result = await client.query(toQueryConfig(statement, values));
    rows?.(result.rows as readonly object[]);
    const row = getResult(result.rows as readonly object[]);
    if (typeof end !== 'string') end.decide(row);
    return row;
  };
}
