import type { RestResponse } from './response.ts';
import {
  buildCommonHeaders,
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
import { parsePayload, type Payload } from './parse/body.ts';
import type { Preferences } from './parse/preferences.ts';
import { parseQuery, type Query } from './parse/query.ts';
import type { SelectItem } from './parse/select.ts';
import { findTable } from './plan/relationships.ts';
import { planTree, type ReadNode } from './plan/tree.ts';
import { readOptions, tableName } from './read.ts';
import type { Catalogue, Table } from './schema/catalogue.ts';
import { buildWhere } from './statement/conditions.ts';
import { buildReadStatement, getTypedRows } from './statement/read.ts';
import { quote, Values } from './statement/sql.ts';
import { wrapStatement } from './statement/wrap.ts';
import { buildDelete, insertedRowsColumn, buildInsert, buildUpdate, type WriteInput } from './statement/write.ts';
import type { Result, Run, Transaction } from './transaction.ts';

const emptyPayload: Payload = { json: '[]', keys: [], count: 0, isList: true };

/** Handles `POST`, `PATCH`, `PUT` and `DELETE` of a table. */
export async function handleWrite(
  run: Run,
  catalogue: Catalogue,
  context: RequestContext,
  body: string,
): Promise<RestResponse> {
  const { method, media } = context;
  const name = tableName(context.path);
  const query = parseQuery(context.query, false);
  const key = findTable(catalogue, context.schema, name);
  const table = catalogue.tables.get(key);
  if (table === undefined) throw new Error('the schema cache lacks a resolved table');
  const payload = parseWritePayload(context, body, query);
  const root = planTree(catalogue, context.schema, name, key, query);
  if (method === 'PUT') checkPut(table, query, payload);
  if (context.settings.writesNeedFilter) checkFiltered(method, root);

  const values = new Values();
  const applied = getAppliedPreferences(context, table, query);
  const hasRepresentation = applied.return === 'representation';
  const isUpsert = method === 'PUT' || applied.resolution !== undefined;
  const responseNode = getResponseNode(root, table, applied);
  const returning = hasRepresentation ? buildReturning(root, table) : buildKeyReturning(table, applied);
  const write = {
    table,
    payload,
    columns: query.columns,
    conditions: root.scope.conditions,
    preferences: applied,
    values,
    returning,
  };
  const source = buildSource(context, write, root, query);
  const statement = wrapStatement({
    media,
    source: source ?? `SELECT ${buildEmptyRow(table)} WHERE false`,
    read:
      responseNode === undefined
        ? undefined
        : buildReadStatement(
            responseNode,
            getTypedRows(name, isWholeRow(root, table) ? table : undefined),
            { limit: undefined, offset: undefined },
            { ...readOptions(context, values), maxEmbedRows: undefined },
          ),
    count: undefined,
    more: isUpsert && source !== undefined ? [insertedRowsColumn] : [],
  });
  const transaction = {
    identity: context.identity,
    settings: getTransactionSettings(context),
    before: getPreRequest(context),
    isReadOnly: false,
    statement,
    values: values.all,
  };
  if (media.kind === 'plan') return createPlanResponse(run, context, transaction);
  const result = await run({ ...transaction, end: getEnd(context) });
  return applyResponseSettings(createWriteResponse(context, table, applied, result), result);
}

/**
 * Refuses to change all rows of a table.
 *
 * @throws RestError 21000, as the extension safeupdate does that Supabase uses
 */
function checkFiltered(method: string, { scope }: ReadNode): void {
  const verb = method === 'PATCH' ? 'UPDATE' : method;
  if ((verb !== 'UPDATE' && verb !== 'DELETE') || scope.conditions.length > 0 || scope.limit !== undefined) return;
  throw new RestError(400, '21000', `${verb} requires a WHERE clause`);
}

/** Parses the body; a `DELETE` has none, and a `PUT` writes one row only. */
function parseWritePayload({ method, request }: RequestContext, body: string, { columns }: Query): Payload {
  if (method === 'DELETE') return emptyPayload;
  const payload = parsePayload(request.headers['content-type'], body, columns);
  return method === 'PUT' ? limitToFirst(payload) : payload;
}

/** Limits the payload of a `PUT` to its first row. */
function limitToFirst(payload: Payload): Payload {
  if (payload.count < 2) return payload;
  const [first] = JSON.parse(payload.json) as unknown[];
  return { ...payload, json: JSON.stringify([first]), count: 1 };
}

/**
 * Checks that a `PUT` addresses exactly one row by its primary key.
 *
 * @throws RestError PGRST114, PGRST105, PGRST115
 */
function checkPut(table: Table, query: Query, payload: Payload): void {
  const scope = query.scopes.get('');
  if (scope?.limit !== undefined || scope?.offset !== undefined) {
    throw new RestError(400, 'PGRST114', 'limit/offset querystring parameters are not allowed for PUT');
  }
  const equal = new Map<string, string>();
  for (const condition of scope?.conditions ?? []) {
    const isEqual =
      condition.kind === 'filter' &&
      !condition.not &&
      condition.field.path.length === 0 &&
      condition.operation.kind === 'compare' &&
      condition.operation.operator === '=' &&
      condition.operation.quantifier === undefined;
    if (isEqual && condition.operation.kind === 'compare') equal.set(condition.field.name, condition.operation.value);
    else equal.set('', '');
  }
  const { primaryKey } = table;
  if (primaryKey.length === 0 || equal.size !== primaryKey.length || !primaryKey.every((column) => equal.has(column))) {
    throw new RestError(405, 'PGRST105', "Filters must include all and only primary key columns with 'eq' operators");
  }
  const [row = {}] = JSON.parse(payload.json) as Record<string, unknown>[];
  if (!primaryKey.every((column) => toFilterText(row[column]) === equal.get(column))) {
    throw new RestError(400, 'PGRST115', 'Payload values do not match URL in primary key column(s)');
  }
}

function toFilterText(value: unknown): string | undefined {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : undefined;
}

function buildSource(context: RequestContext, write: WriteInput, root: ReadNode, query: Query): string | undefined {
  const { method } = context;
  const { table, preferences } = write;
  if (method === 'POST') return buildInsert({ ...write, conditions: [] }, conflictColumns(table, query, preferences));
  if (method === 'PUT') {
    const merging: WriteInput = {
      ...write,
      conditions: [],
      preferences: { ...preferences, resolution: 'merge-duplicates' },
    };
    return buildInsert(merging, table.primaryKey);
  }
  const limitedRows = buildLimitedRows(root, table, write.values);
  return method === 'PATCH' ? buildUpdate(write, limitedRows) : buildDelete(write, limitedRows);
}

function conflictColumns(table: Table, query: Query, { resolution }: Preferences): readonly string[] | undefined {
  if (resolution === undefined) return undefined;
  return query.onConflict ?? (table.primaryKey.length > 0 ? table.primaryKey : undefined);
}

/** Builds the subselect that finds the rows of a limited update or delete. */
function buildLimitedRows({ scope }: ReadNode, table: Table, values: Values): string | undefined {
  if (scope.limit === undefined && scope.offset === undefined) return undefined;
  const target = `${quote(table.schema)}.${quote(table.name)}`;
  const subject = { reference: target, columns: table.columns, embed: () => undefined };
  const where = buildWhere(scope.conditions, subject, values);
  const write = scope.order.map(
    ({ field, direction }) => `${target}.${quote(field.name)}${direction === 'desc' ? ' DESC' : ''}`,
  );
  return [
    `SELECT ${target}.ctid FROM ${target}`,
    ...(where === undefined ? [] : [`WHERE ${where}`]),
    ...(write.length > 0 ? [`ORDER BY ${write.join(', ')}`] : []),
    ...(scope.limit === undefined ? [] : [`LIMIT ${scope.limit}`]),
    ...(scope.offset === undefined ? [] : [`OFFSET ${scope.offset}`]),
  ].join(' ');
}

/** Returns true when a statement must return all columns: for `*`, for computed fields and for unknown columns. */
function isWholeRow(root: ReadNode, table: Table): boolean {
  const names = neededColumns(root);
  return names === undefined || names.some((name) => !table.columns.has(name));
}

/**
 * Returns the RETURNING list. It names only requested columns, since the role may not have the right to read the
 * others.
 */
function buildReturning(root: ReadNode, table: Table): string {
  const target = `${quote(table.schema)}.${quote(table.name)}`;
  if (isWholeRow(root, table)) return `${target}.*`;
  const names = [...new Set(neededColumns(root))];
  return names.length === 0 ? '1 AS "pgrst_one"' : names.map((name) => `${target}.${quote(name)}`).join(', ');
}

/** Returns the columns that the response needs; undefined for all. */
function neededColumns({ items, scope, embeds }: ReadNode): readonly string[] | undefined {
  if (
    items.some(({ kind }) => kind === 'star') ||
    embeds.some(({ relationship }) => relationship.routine !== undefined)
  ) {
    return undefined;
  }
  const fields = items.flatMap((item) => (item.kind === 'field' && item.field !== undefined ? [item.field.name] : []));
  const ordered = scope.order.flatMap(({ relation, field }) => (relation === undefined ? [field.name] : []));
  const keys = embeds.flatMap(({ relationship: { columns, junction } }) => [
    ...columns.map(([column]) => column),
    ...(junction?.near.map(([column]) => column) ?? []),
  ]);
  return [...fields, ...ordered, ...keys];
}

/** Returns the node of the rows in the response; undefined for a response without rows. */
function getResponseNode(root: ReadNode, table: Table, applied: Preferences): ReadNode | undefined {
  const scope = { ...root.scope, conditions: [], limit: undefined, offset: undefined };
  if (applied.return === 'representation') {
    // Further columns that the statement returns are not part of the response.
    const items = root.items.flatMap((item): readonly SelectItem[] =>
      item.kind === 'star' ? [...table.columns.keys()].map(toFieldItem) : [item],
    );
    return { ...root, items, scope };
  }
  if (applied.return !== 'headers-only' || table.primaryKey.length === 0) return undefined;
  const items = table.primaryKey.map((name) => ({ ...toFieldItem(name), cast: 'text' }));
  return { table, items, scope: { ...scope, order: [] }, embeds: [] };
}

function toFieldItem(name: string): SelectItem & { readonly kind: 'field' } {
  return {
    kind: 'field',
    field: { name, path: [] },
    alias: name,
    cast: undefined,
    aggregate: undefined,
    aggregateCast: undefined,
  };
}

/**
 * Returns the RETURNING list of a write without a representation: a role that may insert may not have the right to
 * read.
 */
function buildKeyReturning(table: Table, applied: Preferences): string {
  return applied.return === 'headers-only' && table.primaryKey.length > 0
    ? table.primaryKey.map(quote).join(', ')
    : '1 AS "pgrst_one"';
}

function buildEmptyRow(table: Table): string {
  return [...table.columns.values()].map(({ name, type }) => `null::${type} AS ${quote(name)}`).join(', ') || '1';
}

function getEnd(context: RequestContext): Transaction['end'] {
  const { preferences, media } = context;
  const { maxAffected, handling } = preferences;
  const hasMaxAffected =
    maxAffected !== undefined && handling === 'strict' && context.method !== 'POST' && context.method !== 'PUT';
  if (media.kind !== 'object' && !hasMaxAffected) return preferences.tx === 'rollback' ? 'rollback' : 'commit';
  return {
    decide(result) {
      requireSingleRow(context, result);
      if (hasMaxAffected) requireMaxAffected(maxAffected, result);
      return preferences.tx === 'rollback' ? 'rollback' : 'commit';
    },
  };
}

/** Returns the preferences that apply to this request. */
function getAppliedPreferences({ method, preferences }: RequestContext, table: Table, query: Query): Preferences {
  const { resolution, missing, return: returnPreference, count, tx, handling, timezone, maxAffected } = preferences;
  const canConflict = method === 'POST' && (table.primaryKey.length > 0 || query.onConflict !== undefined);
  return {
    ...(resolution !== undefined && canConflict ? { resolution } : {}),
    ...(missing !== undefined && method !== 'DELETE' ? { missing } : {}),
    ...(returnPreference === undefined || (returnPreference === 'headers-only' && method !== 'POST')
      ? {}
      : { return: returnPreference }),
    ...(count === undefined ? {} : { count }),
    ...(tx === undefined ? {} : { tx }),
    ...(handling === undefined ? {} : { handling }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(maxAffected !== undefined && handling === 'strict' && (method === 'PATCH' || method === 'DELETE')
      ? { maxAffected }
      : {}),
  };
}

function createWriteResponse(
  context: RequestContext,
  table: Table,
  applied: Preferences,
  result: Result,
): RestResponse {
  const { method, settings, schema } = context;
  const page = Number(result.page);
  const total = applied.count === undefined ? null : result.page;
  const hasRepresentation = applied.return === 'representation';
  const common = buildCommonHeaders(settings, schema, applied);
  if (method === 'POST' || method === 'PUT') {
    const isSkipped = page === 0 && applied.resolution === 'ignore-duplicates';
    const isNew = result.inserted === undefined || result.inserted !== '0' || isSkipped;
    const status = method === 'PUT' ? (isNew ? 201 : hasRepresentation ? 200 : 204) : isNew ? 201 : 200;
    if (hasRepresentation)
      return {
        status,
        headers: { ...buildRowHeaders(context, { offset: 0, page: 0, total }, applied) },
        body: result.body,
      };
    const location = applied.return === 'headers-only' ? getInsertedLocation(table, page, result.body) : undefined;
    const range = `*/${total ?? '*'}`;
    return {
      status,
      headers: { ...common, 'Content-Range': range, ...(location === undefined ? {} : { Location: location }) },
      body: undefined,
    };
  }
  const headers = buildRowHeaders(context, { offset: 0, page: method === 'DELETE' ? 0 : page, total }, applied);
  if (hasRepresentation) return { status: 200, headers, body: result.body };
  return { status: 204, headers: { ...common, 'Content-Range': headers['Content-Range'] ?? '' }, body: undefined };
}

/** Returns the path of a single inserted row; undefined for a table or view without a primary key. */
function getInsertedLocation(table: Table, page: number, body: string): string | undefined {
  if (page !== 1 || table.primaryKey.length === 0) return undefined;
  const [row = {}] = JSON.parse(body === '' ? '[]' : body) as Record<string, string | null>[];
  const filters = Object.entries(row).map(
    ([name, value]) => `${encodeURIComponent(name)}=${value === null ? 'is.null' : `eq.${encodeURIComponent(value)}`}`,
  );
  return `/${encodeURIComponent(table.name)}?${filters.join('&')}`;
}
