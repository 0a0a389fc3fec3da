import { findOwn } from '../../contracts/find-own.ts';
import type { Answer } from './response.ts';
import { rangeOf, rowHeaders, beforeOf, settingsOf, wantFew, wantOne, withSettings, type Call } from './request-context.ts';
import { RestError } from './errors.ts';
import { planAnswer } from './explain.ts';
import { parseJson, parsePayload, type Payload } from './parse/body.ts';
import { parseQuery } from './parse/query.ts';
import type { Preferences } from './parse/preferences.ts';
import { findRoutine } from './plan/routines.ts';
import { planTree } from './plan/tree.ts';
import { appliedToReads, countOf, pageAnswer, readOptions, tableName } from './read.ts';
import type { Catalogue } from './schema/catalogue.ts';
import { callStatement, type Arguments } from './statement/call.ts';
import { readStatement, rowsOf } from './statement/read.ts';
import { Values } from './statement/sql.ts';
import { wrap } from './statement/wrap.ts';
import type { Result, Run } from './transaction.ts';

/** `/rpc/{function}`. */
export async function callRoutine(run: Run, catalogue: Catalogue, call: Call, body: string): Promise<Answer> {
  const { method, schema, media, preferences } = call;
  const isRead = method === 'GET' || method === 'HEAD';
  const name = tableName(call.path.slice('/rpc'.length));
  const query = parseQuery(call.query, isRead);
  const { sent, names, wholeBody } = isRead ? fromQuery(query.parameters) : fromBody(call, body, query.columns);
  const { routine, takesBody } = findRoutine(catalogue, schema, name, names, wholeBody);
  const values = new Values();
  const source = callStatement(routine, takesBody ? wholeBodyOf(call, body) : sent, values);
  const transaction = {
    identity: call.identity,
    settings: settingsOf(call),
    before: beforeOf(call),
    isReadOnly: isRead || !routine.isVolatile,
  };
  const end = preferences.tx === 'rollback' ? 'rollback' : 'commit';
  const applied: Preferences = {
    ...appliedToReads(preferences),
    ...(preferences.tx === undefined ? {} : { tx: preferences.tx }),
  };
  const most = preferences.handling === 'strict' && !isRead ? preferences.maxAffected : undefined;
  if (most !== undefined && !routine.isSet) {
    const message = 'Function must return SETOF or TABLE when max-affected preference is used with handling=strict';
    throw new RestError(400, 'PGRST128', message);
  }

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
  const rows = rowsOf(name, routine.table === undefined ? undefined : catalogue.tables.get(routine.table));
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

/** The body as one argument; bytes as PostgreSQL reads them. */
function wholeBodyOf({ request }: Call, body: string): Arguments {
  const isBytes = request.headers['content-type']?.startsWith('application/octet-stream') === true;
  return { kind: 'body', text: isBytes ? `\\x${Buffer.from(body, 'latin1').toString('hex')}` : body };
}

/** Types of an argument that takes a body of another kind than JSON whole. */
const wholeTypes: Readonly<Record<string, string>> = {
  'text/plain': 'text',
  'text/xml': 'xml',
  'application/octet-stream': 'bytea',
};

/** The first of several objects. */
function firstOf({ json, keys }: Payload): { readonly json: string; readonly keys: readonly string[] } {
  const [first = {}] = JSON.parse(json) as unknown[];
  return { json: JSON.stringify(first), keys };
}

/** With `columns` only these keys of the body are arguments. Of several objects the first counts. */
function fromBody({ request }: Call, body: string, columns: readonly string[] | undefined): Sent {
  const media = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? 'application/json';
  if (media === 'application/x-www-form-urlencoded') return fromQuery([...new URLSearchParams(body)]);
  const whole = findOwn(wholeTypes, media);
  if (whole !== undefined) return { sent: { kind: 'body', text: body }, names: [], wholeBody: [whole] };
  if (media === 'text/csv') {
    const { json, keys } = firstOf(parsePayload(media, body, columns));
    const names = columns ?? keys;
    return { sent: { kind: 'object', json, names }, names, wholeBody: [] };
  }
  if (media !== 'application/json') throw new RestError(415, 'PGRST102', `Content-Type not acceptable: ${media}`);
  const value: unknown = body.trim() === '' ? {} : parseJson(body);
  const isObject = (it: unknown): it is object => typeof it === 'object' && it !== null && !Array.isArray(it);
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  // The body itself where it is an object: numbers stay as they were sent.
  const json = isObject(value) ? body.trim() || '{}' : isObject(first) ? JSON.stringify(first) : '{}';
  const sentNames = isObject(value) ? Object.keys(value) : isObject(first) ? Object.keys(first) : [];
  const names = columns ?? sentNames;
  return { sent: { kind: 'object', json, names }, names, wholeBody: ['json', 'jsonb'] };
}
