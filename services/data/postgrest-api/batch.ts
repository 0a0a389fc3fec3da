import type pg from 'pg';
import { z } from 'zod';
import type { Database } from '../engine/database.ts';
import type { Answer } from './response.ts';
import { beforeOf, openCall, settingsOf, type Call } from './request-context.ts';
import { RestError } from './errors.ts';
import type { Role } from './identity.ts';
import { parseJson } from './parse/body.ts';
import { read } from './read.ts';
import { callRoutine } from './routine-call.ts';
import type { Catalogue } from './schema/catalogue.ts';
import { resultOf, settingsStatement, statementQuery, timeouts, type Run } from './transaction.ts';
import { write } from './write.ts';

const Batch = z.object({
  requests: z
    .array(
      z.object({
        method: z.enum(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']),
        /** Below the row route: `/items?id=eq.1`, `/rpc/add`. */
        path: z.string().startsWith('/').min(2).max(60_000),
        body: z.unknown().optional(),
        prefer: z.string().max(500).optional(),
      }),
    )
    .min(1)
    .max(1000),
});

/**
 * Several requests in one transaction: `POST /rest/v1/` with `{"requests": [{method, path, body, prefer}]}`. All of them
 * come to be, or none when one is refused. Answers the status and the body of each.
 */
export async function batch(database: Database, catalogue: Catalogue, call: Call, body: string): Promise<Answer> {
  const asked = Batch.safeParse(parseJson(body));
  if (!asked.success) {
    throw new RestError(400, 'PGRST102', 'Send {"requests": [{"method", "path", "body", "prefer"}]}', {
      details: z.prettifyError(asked.error),
    });
  }
  const deadline = performance.now() + call.settings.batchSeconds * 1000;
  const answers = await database.asRequest({ role: call.identity.role, settings: {} }, async (client) => {
    const run = runOn(client);
    const all: string[] = [];
    for (const { method, path, prefer, body: sent } of asked.data.requests) {
      const mark = path.indexOf('?');
      const [below, query] = mark < 0 ? [path, ''] : [path.slice(0, mark), path.slice(mark + 1)];
      const { accept: _accept, prefer: _prefer, range: _range, ...headers } = call.request.headers;
      const part = openCall(
        { method, headers: { ...headers, ...(prefer === undefined ? {} : { prefer }) } },
        below,
        query,
        call.identity,
        call.settings,
      );
      const text = sent === undefined ? '' : JSON.stringify(sent);
      const timeout = timeoutOf(call.identity.role, deadline - performance.now());
      const { text: setting, values } = settingsStatement(call.identity, settingsOf(part), timeout);
      await client.query(setting, [...values]);
      const before = beforeOf(part);
      if (before !== undefined) await client.query(`select ${before}()`);
      const isCall = below.startsWith('/rpc/');
      const answer = isCall
        ? await callRoutine(run, catalogue, part, text)
        : method === 'GET'
          ? await read(run, catalogue, part)
          : await write(run, catalogue, part, text);
      all.push(
        `{"status":${answer.status},"body":${answer.body === undefined || answer.body === '' ? 'null' : answer.body}}`,
      );
    }
    return all;
  });
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: `[${answers.join(',')}]`,
  };
}

/** What a statement may take so that all of them end in time. @throws RestError 57014 when the time is over */
function timeoutOf(role: Role, left: number): number {
  if (left < 1) {
    throw new RestError(500, '57014', 'The transaction takes too long', { hint: 'Send fewer requests at once.' });
  }
  return Math.min(timeouts[role] === 0 ? Infinity : timeouts[role], Math.floor(left));
}

/** As a part of a transaction: it ends with the others. */
function runOn(client: pg.PoolClient): Run {
  return async ({ statement, values, rows, end }) => {
    if (end === 'rollback') throw new RestError(400, 'PGRST122', 'A part of a transaction cannot be taken back alone');
    const result = await client.query(statementQuery(statement, values));
    rows?.(result.rows as readonly object[]);
    const row = resultOf(result.rows as readonly object[]);
    if (typeof end !== 'string') end.judge(row);
    return row;
  };
}
