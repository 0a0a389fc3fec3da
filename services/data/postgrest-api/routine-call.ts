import { findOwn } from '../../contracts/find-own.ts';
import type { RestResponse } from './response.ts';
import {
  getRange,
  buildRowHeaders,
  getPreRequest,
  getTransactionSettings,
  requireMaxAffected,
  requireSingleRow,
  applyResponseSettings,
  type RequestContext,
} from './request-context.ts';
import { RestError } from './errors.ts';
import { createPlanResponse } from './explain.ts';
import { parseJsonPayload, parsePayload, type Payload } from './parse/body.ts';
import { parseQuery } from './parse/query.ts';
import type { Preferences } from './parse/preferences.ts';
import { findRoutine } from './plan/routines.ts';
import { planTree, type ReadNode } from './plan/tree.ts';
import { getAppliedReadPreferences, buildCount, createPageResponse, readOptions, tableName } from './read.ts';
import type { Catalogue, Routine } from './schema/catalogue.ts';
import { buildCallStatement, type Arguments } from './statement/call.ts';
import { buildReadStatement, getTypedRows, type Range } from './statement/read.ts';
import { Values } from './statement/sql.ts';
import { wrapStatement } from './statement/wrap.ts';
import type { Result, Run, Transaction } from './transaction.ts';
import { isRecord } from '../../contracts/is-record.ts';

/** Handles `/rpc/{function}`. */
export async function handleRoutineCall(
  run: Run,
  catalogue: Catalogue,
  context: RequestContext,
  body: string,
): Promise<RestResponse> {
  const { method, schema, preferences } = context;
  const isRead = method === 'GET' || method === 'HEAD';
  const name = tableName(context.path.slice('/rpc'.length));
  const query = parseQuery(context.query, isRead);
  const {
    args: sent,
    names,
    bodyTypes: wholeBody,
  } = isRead ? parseQueryInput(query.parameters) : parseBodyInput(context, body, query.columns);
  const { routine, takesBody } = findRoutine(catalogue, schema, name, names, wholeBody);
  const values = new Values();
  const source = buildCallStatement(routine, takesBody ? getBodyArgument(context, body) : sent, values);
  const transaction = {
    identity: context.identity,
    settings: getTransactionSettings(context),
    before: getPreRequest(context),
    isReadOnly: isRead || !routine.isVolatile,
  };
  const end = preferences.tx === 'rollback' ? 'rollback' : 'commit';
  const applied: Preferences = {
    ...getAppliedReadPreferences(preferences),
    ...(preferences.tx === undefined ? {} : { tx: preferences.tx }),
  };
  const maxAffected = preferences.handling === 'strict' && !isRead ? preferences.maxAffected : undefined;
  if (maxAffected !== undefined && !routine.isSet) {
    const message = 'Function must return SETOF or TABLE when max-affected preference is used with handling=strict';
    throw new RestError(400, 'PGRST128', message);
  }

  const call: RoutineCall = { routine, source, values, transaction, end, applied, maxAffected };
  if (routine.returns === 'void') return callWithoutResult(run, context, call);
  const range = getRange(context, query.scopes.get(''));
  const root = planTree(catalogue, schema, name, routine.table, query);
  const rows = getTypedRows(name, routine.table === undefined ? undefined : catalogue.tables.get(routine.table));
  return callWithResult(run, context, call, { root, rows, range });
}

/** Call of a routine within a request. */
interface RoutineCall {
  readonly routine: Routine;
  /** Statement that calls the routine. */
  readonly source: string;
  readonly values: Values;
  readonly transaction: Omit<Transaction, 'statement' | 'values' | 'end'>;
  readonly end: 'commit' | 'rollback';
  /** Preferences that apply to this request. */
  readonly applied: Preferences;
  readonly maxAffected: number | undefined;
}

/** Part of the result that the client reads. */
interface RoutineSelection {
  readonly root: ReadNode;
  readonly rows: ReturnType<typeof getTypedRows>;
  readonly range: Range;
}

/** Calls a routine that returns nothing. */
async function callWithoutResult(
  run: Run,
  context: RequestContext,
  { source, values, transaction, end }: RoutineCall,
): Promise<RestResponse> {
  const { media } = context;
  // PostgreSQL does not call a function whose result is not used, unless it is volatile.
  const more = ['count(pgrst_t.pgrst_scalar)::text AS called'];
  const statement = wrapStatement({ media, source, read: undefined, count: undefined, more });
  if (media.kind === 'plan') return createPlanResponse(run, context, { ...transaction, statement, values: values.all });
  const result = await run({ ...transaction, statement, values: values.all, end });
  return applyResponseSettings({ status: 204, headers: {}, body: undefined }, result);
}

/** Calls a routine that returns a value, a row or a set of them. */
async function callWithResult(
  run: Run,
  context: RequestContext,
  call: RoutineCall,
  { root, rows, range }: RoutineSelection,
): Promise<RestResponse> {
  const { media, preferences } = context;
  const { routine, source, values, transaction, end, applied, maxAffected } = call;
  const isRows = routine.returns === 'composite';
  const read = isRows ? buildReadStatement(root, rows, range, readOptions(context, values)) : scalarStatement(range);
  const scalarCount = preferences.count === undefined ? undefined : 'SELECT 1 FROM pgrst_source';
  const statement = wrapStatement({
    media,
    source,
    read,
    isScalar: !isRows,
    isOne: !routine.isSet,
    count: isRows ? buildCount(context, root, rows, values) : scalarCount,
  });
  if (media.kind === 'plan') return createPlanResponse(run, context, { ...transaction, statement, values: values.all });
  const decide = (result: Result): 'commit' | 'rollback' => {
    requireSingleRow(context, result);
    if (maxAffected !== undefined) requireMaxAffected(maxAffected, result);
    return end;
  };
  const result = await run({
    ...transaction,
    statement,
    values: values.all,
    end: media.kind === 'object' || maxAffected !== undefined ? { decide } : end,
  });
  if (!routine.isSet && media.kind !== 'object') {
    const headers = buildRowHeaders(context, { offset: 0, page: 1, total: result.total }, applied);
    return applyResponseSettings({ status: 200, headers, body: result.body }, result);
  }
  return applyResponseSettings(createPageResponse(context, range, result, result.total, applied), result);
}

function scalarStatement({ limit, offset }: Range): string {
  const limitClause = limit === undefined ? '' : ` LIMIT ${limit}`;
  return `SELECT pgrst_scalar FROM pgrst_source${limitClause}${offset === undefined ? '' : ` OFFSET ${offset}`}`;
}

interface RoutineInput {
  readonly args: Arguments;
  readonly names: readonly string[];
  /** Types of a single unnamed argument that may receive the entire body. */
  readonly bodyTypes: readonly string[];
}

function parseQueryInput(parameters: readonly (readonly [string, string])[]): RoutineInput {
  const texts = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const all = texts.get(name);
    if (all === undefined) texts.set(name, [value]);
    else all.push(value);
  }
  return { args: { kind: 'texts', texts }, names: [...texts.keys()], bodyTypes: [] };
}

/** Returns the entire body as one argument, bytes as a `bytea` literal. */
function getBodyArgument({ request }: RequestContext, body: string): Arguments {
  const isBytes = request.headers['content-type']?.startsWith('application/octet-stream') === true;
  return { kind: 'body', text: isBytes ? `\\x${Buffer.from(body, 'latin1').toString('hex')}` : body };
}

/** Argument types by content type, for bodies that are not JSON. */
const bodyTypeByMedia: Readonly<Record<string, string>> = {
  'text/plain': 'text',
  'text/xml': 'xml',
  'application/octet-stream': 'bytea',
};

/** Returns the first of several objects. */
function getFirstObject({ json, keys }: Payload): { readonly json: string; readonly keys: readonly string[] } {
  const [first = {}] = JSON.parse(json) as unknown[];
  return { json: JSON.stringify(first), keys };
}

/** Parses the arguments of a body. `columns` limits the keys; of several objects the first is used. */
function parseBodyInput(
  { request }: RequestContext,
  body: string,
  columns: readonly string[] | undefined,
): RoutineInput {
  const media = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? 'application/json';
  if (media === 'application/x-www-form-urlencoded') return parseQueryInput([...new URLSearchParams(body)]);
  const bodyType = findOwn(bodyTypeByMedia, media);
  if (bodyType !== undefined) return { args: { kind: 'body', text: body }, names: [], bodyTypes: [bodyType] };
  if (media === 'text/csv') {
    const { json, keys } = getFirstObject(parsePayload(media, body, columns));
    const names = columns ?? keys;
    return { args: { kind: 'object', json, names }, names, bodyTypes: [] };
  }
  if (media !== 'application/json') throw new RestError(415, 'PGRST102', `Content-Type not acceptable: ${media}`);
  const value: unknown = body.trim() === '' ? {} : parseJsonPayload(body);
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  // An object is passed on unchanged, so that numbers keep their precision.
  const json = isRecord(value) ? body.trim() || '{}' : isRecord(first) ? JSON.stringify(first) : '{}';
  const sentNames = isRecord(value) ? Object.keys(value) : isRecord(first) ? Object.keys(first) : [];
  const names = columns ?? sentNames;
  return { args: { kind: 'object', json, names }, names, bodyTypes: ['json', 'jsonb'] };
}
