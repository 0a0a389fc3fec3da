import type { Answer } from './answer.ts';
import { rangeOf, rowHeaders, settingsOf, wantFew, wantOne, withSettings, type Call } from './call.ts';
import { RestError } from './errors.ts';
import { planAnswer } from './explain.ts';
import { parseJson } from './parse/body.ts';
import { parseQuery } from './parse/query.ts';
import type { Preferences } from './parse/preferences.ts';
import { findRoutine } from './plan/routines.ts';
import { planTree } from './plan/tree.ts';
import { appliedToReads, countOf, pageAnswer, readOptions, tableName } from './read.ts';
import type { Catalogue } from './schema/catalogue.ts';
import { callStatement, type Arguments } from './statement/call.ts';
import { readStatement, type Source } from './statement/read.ts';
import { quote, Values } from './statement/sql.ts';
import { wrap } from './statement/wrap.ts';
import type { Result, Run } from './transaction.ts';

/** `/rpc/{function}`. */
export async function callRoutine(run: Run, catalogue: Catalogue, call: Call, body: string): Promise<Answer> {
  const { method, schema, media, preferences } = call;
  const isRead = method === 'GET' || method === 'HEAD';
  const name = tableName(call.path.slice('/rpc'.length));
  const query = parseQuery(call.query, isRead);
  const { sent, names, wholeBody } = isRead ? fromQuery(query.parameters) : fromBody(call, body);
  const { routine, takesBody } = findRoutine(catalogue, schema, name, names, wholeBody);
  const values = new Values();
  const source = callStatement(routine, takesBody ? { kind: 'body', text: body } : sent, values);
  const transaction = {
    identity: call.identity,
    settings: settingsOf(call),
    isReadOnly: isRead || !routine.isVolatile,
  };
  const end = preferences.tx === 'rollback' ? 'rollback' : 'commit';
  const applied: Preferences = {
    ...appliedToReads(preferences),
    ...(preferences.tx === undefined ? {} : { tx: preferences.tx }),
  };

  if (routine.returns === 'void') {
    // What nobody looks at is not called, unless it may change something.
    const more = ['count(pgrst_t.pgrst_scalar)::text AS called'];
    const statement = wrap({ media, source, read: undefined, count: undefined, more });
    if (media.kind === 'plan') return planAnswer(run, call, { ...transaction, statement, values: values.all });
    const result = await run({ ...transaction, statement, values: values.all, end });
    return withSettings({ status: 204, headers: {}, body: undefined }, result);
  }
  const range = rangeOf(call, query.scopes.get(''));
  const isRows = routine.returns === 'composite';
  const root = planTree(catalogue, schema, name, routine.table, query);
  const rows: Source = { from: `pgrst_source AS ${quote(name)}`, reference: quote(name) };
  const read = isRows
    ? readStatement(root, rows, range, readOptions(call, values))
    : `SELECT pgrst_scalar FROM pgrst_source${range.limit === undefined ? '' : ` LIMIT ${range.limit}`}${range.offset === undefined ? '' : ` OFFSET ${range.offset}`}`;
  const statement = wrap({
    ...{ media, source, read },
    isScalar: !isRows,
    isOne: !routine.isSet,
    count: isRows
      ? countOf(call, root, rows, values)
      : preferences.count === undefined
        ? undefined
        : 'SELECT 1 FROM pgrst_source',
  });
  if (media.kind === 'plan') return planAnswer(run, call, { ...transaction, statement, values: values.all });
  const most = preferences.handling === 'strict' && !isRead ? preferences.maxAffected : undefined;
  if (most !== undefined && !routine.isSet) {
    throw new RestError(400, 'PGRST128', 'Function must return SETOF or TABLE when max-affected preference is used with handling=strict'); // prettier-ignore
  }
  const judge = (outcome: Result): 'commit' | 'rollback' => {
    wantOne(call, outcome);
    if (most !== undefined) wantFew(most, outcome);
    return end;
  };
  const result = await run({
    ...transaction,
    statement,
    values: values.all,
    end: media.kind === 'object' || most !== undefined ? { judge } : end,
  });
  if (!routine.isSet && media.kind !== 'object') {
    const headers = rowHeaders(call, { offset: 0, page: 1, total: result.total }, applied);
    return withSettings({ status: 200, headers, body: result.body }, result);
  }
  return withSettings(pageAnswer(call, range, result, result.total, applied), result);
}

interface Sent {
  readonly sent: Arguments;
  readonly names: readonly string[];
  /** Types of an argument without a name that may take the body whole. */
  readonly wholeBody: readonly string[];
}

function fromQuery(parameters: readonly (readonly [string, string])[]): Sent {
  const texts = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const all = texts.get(name);
    if (all === undefined) texts.set(name, [value]);
    else all.push(value);
  }
  return { sent: { kind: 'texts', texts }, names: [...texts.keys()], wholeBody: [] };
}

function fromBody({ request }: Call, body: string): Sent {
  const media = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? 'application/json';
  if (media === 'application/x-www-form-urlencoded') return fromQuery([...new URLSearchParams(body)]);
  if (media === 'text/plain') return { sent: { kind: 'body', text: body }, names: [], wholeBody: ['text'] };
  if (media !== 'application/json') throw new RestError(415, 'PGRST102', `Content-Type not acceptable: ${media}`);
  const value: unknown = body.trim() === '' ? {} : parseJson(body);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const names = isObject ? Object.keys(value) : [];
  return { sent: { kind: 'object', json: isObject ? body || '{}' : '{}', names }, names, wholeBody: ['json', 'jsonb'] };
}
