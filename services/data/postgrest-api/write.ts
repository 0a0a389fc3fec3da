import type { Answer } from './response.ts';
import { commonHeaders, rowHeaders, beforeOf, settingsOf, wantFew, wantOne, withSettings, type Call } from './request-context.ts';
import { RestError } from './errors.ts';
import { planAnswer } from './explain.ts';
import { parsePayload, type Payload } from './parse/body.ts';
import type { Preferences } from './parse/preferences.ts';
import { parseQuery, type Query } from './parse/query.ts';
import type { SelectItem } from './parse/select.ts';
import { findTable } from './plan/relationships.ts';
import { planTree, type ReadNode } from './plan/tree.ts';
import { readOptions, tableName } from './read.ts';
import type { Catalogue, Table } from './schema/catalogue.ts';
import { whereOf } from './statement/conditions.ts';
import { readStatement, rowsOf } from './statement/read.ts';
import { quote, Values } from './statement/sql.ts';
import { wrap } from './statement/wrap.ts';
import { deleteStatement, insertedRows, insertStatement, updateStatement, type Write } from './statement/write.ts';
import type { Result, Run, Transaction } from './transaction.ts';

const empty: Payload = { json: '[]', keys: [], count: 0, isList: true };

/** `POST`, `PATCH`, `PUT` and `DELETE` of a table. */
export async function write(run: Run, catalogue: Catalogue, call: Call, body: string): Promise<Answer> {
  const { method, media } = call;
  const name = tableName(call.path);
  const query = parseQuery(call.query, false);
  const key = findTable(catalogue, call.schema, name);
  const table = catalogue.tables.get(key);
  if (table === undefined) throw new Error('a table that was found is not there');
  const sent = method === 'DELETE' ? empty : parsePayload(call.request.headers['content-type'], body, query.columns);
  const payload = method === 'PUT' ? firstOf(sent) : sent;
  const root = planTree(catalogue, call.schema, name, key, query);
  if (method === 'PUT') checkPut(table, query, payload);
  if (call.settings.writesNeedFilter) checkFiltered(method, root);

  const values = new Values();
  const applied = appliedTo(call, table, query);
  const isShown = applied.return === 'representation';
  const isUpsert = method === 'PUT' || applied.resolution !== undefined;
  const shown = shownNode(root, table, applied);
  const returning = isShown ? returningOf(root, table) : keysOf(table, applied);
  const order = {
    table,
    payload,
    columns: query.columns,
    conditions: root.scope.conditions,
    preferences: applied,
    values,
    returning,
  };
  const source = sourceOf(call, order, root, query);
  const statement = wrap({
    media,
    source: source ?? `SELECT ${emptyRow(table)} WHERE false`,
    read:
      shown === undefined
        ? undefined
        : readStatement(
            shown,
            rowsOf(name, isWholeRow(root, table) ? table : undefined),
            { limit: undefined, offset: undefined },
            { ...readOptions(call, values), mostRows: undefined },
          ),
    count: undefined,
    more: isUpsert && source !== undefined ? [insertedRows] : [],
  });
  const transaction = {
    identity: call.identity,
    settings: settingsOf(call),
    before: beforeOf(call),
    isReadOnly: false,
    statement,
    values: values.all,
  };
  if (media.kind === 'plan') return planAnswer(run, call, transaction);
  const result = await run({ ...transaction, end: endOf(call) });
  return withSettings(answerOf(call, table, applied, result), result);
}

/** @throws RestError 21000 as the extension safeupdate does, which Supabase uses */
function checkFiltered(method: string, { scope }: ReadNode): void {
  const verb = method === 'PATCH' ? 'UPDATE' : method;
  if ((verb !== 'UPDATE' && verb !== 'DELETE') || scope.conditions.length > 0 || scope.limit !== undefined) return;
  throw new RestError(400, '21000', `${verb} requires a WHERE clause`);
}

/** `PUT` is of one row: of several that are sent the first counts. */
function firstOf(payload: Payload): Payload {
  if (payload.count < 2) return payload;
  const [first] = JSON.parse(payload.json) as unknown[];
  return { ...payload, json: JSON.stringify([first]), count: 1 };
}

/** @throws RestError PGRST114, PGRST105, PGRST115 */
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
  if (!primaryKey.every((column) => textOf(row[column]) === equal.get(column))) {
    throw new RestError(400, 'PGRST115', 'Payload values do not match URL in primary key column(s)');
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : undefined;
}

function sourceOf(call: Call, order: Write, root: ReadNode, query: Query): string | undefined {
  const { method } = call;
  const { table, preferences } = order;
  if (method === 'POST')
    return insertStatement({ ...order, conditions: [] }, conflictColumns(table, query, preferences));
  if (method === 'PUT') {
    const merging: Write = {
      ...order,
      conditions: [],
      preferences: { ...preferences, resolution: 'merge-duplicates' },
    };
    return insertStatement(merging, table.primaryKey);
  }
  const limited = limitedTo(root, table, order.values);
  return method === 'PATCH' ? updateStatement(order, limited) : deleteStatement(order, limited);
}

function conflictColumns(table: Table, query: Query, { resolution }: Preferences): readonly string[] | undefined {
  if (resolution === undefined) return undefined;
  return query.onConflict ?? (table.primaryKey.length > 0 ? table.primaryKey : undefined);
}

/** Only the first rows are meant: they are found before. */
function limitedTo({ scope }: ReadNode, table: Table, values: Values): string | undefined {
  if (scope.limit === undefined && scope.offset === undefined) return undefined;
  const target = `${quote(table.schema)}.${quote(table.name)}`;
  const subject = { reference: target, columns: table.columns, embed: () => undefined };
  const where = whereOf(scope.conditions, subject, values);
  const order = scope.order.map(
    ({ field, direction }) => `${target}.${quote(field.name)}${direction === 'desc' ? ' DESC' : ''}`,
  );
  return [
    `SELECT ${target}.ctid FROM ${target}`,
    ...(where === undefined ? [] : [`WHERE ${where}`]),
    ...(order.length > 0 ? [`ORDER BY ${order.join(', ')}`] : []),
    ...(scope.limit === undefined ? [] : [`LIMIT ${scope.limit}`]),
    ...(scope.offset === undefined ? [] : [`OFFSET ${scope.offset}`]),
  ].join(' ');
}

/**
 * Whether a statement has to answer all columns: for `*`, for a function of the row, and where a column is not known.
 */
function isWholeRow(root: ReadNode, table: Table): boolean {
  const names = neededColumns(root);
  return names === undefined || names.some((name) => !table.columns.has(name));
}

/**
 * The columns that come back of a write. Only those that are asked for: a role may have no right to read the others.
 */
function returningOf(root: ReadNode, table: Table): string {
  const target = `${quote(table.schema)}.${quote(table.name)}`;
  if (isWholeRow(root, table)) return `${target}.*`;
  const names = [...new Set(neededColumns(root))];
  return names.length === 0 ? '1 AS "pgrst_one"' : names.map((name) => `${target}.${quote(name)}`).join(', ');
}

/** Columns that the answer is made of; undefined: all. */
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
    ...columns.map(([here]) => here),
    ...(junction?.near.map(([here]) => here) ?? []),
  ]);
  return [...fields, ...ordered, ...keys];
}

/** The rows that come back; undefined: none. */
function shownNode(root: ReadNode, table: Table, applied: Preferences): ReadNode | undefined {
  const scope = { ...root.scope, conditions: [], limit: undefined, offset: undefined };
  if (applied.return === 'representation') {
    // What else the statement answers of a row is not for the client.
    const items = root.items.flatMap((item): readonly SelectItem[] =>
      item.kind === 'star' ? [...table.columns.keys()].map(fieldItem) : [item],
    );
    return { ...root, items, scope };
  }
  if (applied.return !== 'headers-only' || table.primaryKey.length === 0) return undefined;
  const items = table.primaryKey.map((name) => ({ ...fieldItem(name), cast: 'text' }));
  return { table, items, scope: { ...scope, order: [] }, embeds: [] };
}

function fieldItem(name: string): SelectItem & { readonly kind: 'field' } {
  return {
    kind: 'field',
    field: { name, path: [] },
    alias: name,
    cast: undefined,
    aggregate: undefined,
    aggregateCast: undefined,
  };
}

/** Reading back needs a right that who only inserts may lack. */
function keysOf(table: Table, applied: Preferences): string {
  return applied.return === 'headers-only' && table.primaryKey.length > 0
    ? table.primaryKey.map(quote).join(', ')
    : '1 AS "pgrst_one"';
}

function emptyRow(table: Table): string {
  return [...table.columns.values()].map(({ name, type }) => `null::${type} AS ${quote(name)}`).join(', ') || '1';
}

function endOf(call: Call): Transaction['end'] {
  const { preferences, media } = call;
  const { maxAffected, handling } = preferences;
  const isBounded =
    maxAffected !== undefined && handling === 'strict' && call.method !== 'POST' && call.method !== 'PUT';
  if (media.kind !== 'object' && !isBounded) return preferences.tx === 'rollback' ? 'rollback' : 'commit';
  return {
    judge(result) {
      wantOne(call, result);
      if (isBounded) wantFew(maxAffected, result);
      return preferences.tx === 'rollback' ? 'rollback' : 'commit';
    },
  };
}

/** Of what was asked for what counts for this request. */
function appliedTo({ method, preferences }: Call, table: Table, query: Query): Preferences {
  const { resolution, missing, return: back, count, tx, handling, timezone, maxAffected } = preferences;
  const canConflict = method === 'POST' && (table.primaryKey.length > 0 || query.onConflict !== undefined);
  return {
    ...(resolution !== undefined && canConflict ? { resolution } : {}),
    ...(missing !== undefined && method !== 'DELETE' ? { missing } : {}),
    ...(back === undefined || (back === 'headers-only' && method !== 'POST') ? {} : { return: back }),
    ...(count === undefined ? {} : { count }),
    ...(tx === undefined ? {} : { tx }),
    ...(handling === undefined ? {} : { handling }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(maxAffected !== undefined && handling === 'strict' && (method === 'PATCH' || method === 'DELETE')
      ? { maxAffected }
      : {}),
  };
}

function answerOf(call: Call, table: Table, applied: Preferences, result: Result): Answer {
  const { method, settings, schema } = call;
  const page = Number(result.page);
  const total = applied.count === undefined ? null : result.page;
  const isShown = applied.return === 'representation';
  const common = commonHeaders(settings, schema, applied);
  if (method === 'POST' || method === 'PUT') {
    const isSkipped = page === 0 && applied.resolution === 'ignore-duplicates';
    const isNew = result.inserted === undefined || result.inserted !== '0' || isSkipped;
    const status = method === 'PUT' ? (isNew ? 201 : isShown ? 200 : 204) : isNew ? 201 : 200;
    if (isShown)
      return { status, headers: { ...rowHeaders(call, { offset: 0, page: 0, total }, applied) }, body: result.body };
    const location = applied.return === 'headers-only' ? locationOf(table, page, result.body) : undefined;
    const range = `*/${total ?? '*'}`;
    return {
      status,
      headers: { ...common, 'Content-Range': range, ...(location === undefined ? {} : { Location: location }) },
      body: undefined,
    };
  }
  const headers = rowHeaders(call, { offset: 0, page: method === 'DELETE' ? 0 : page, total }, applied);
  if (isShown) return { status: 200, headers, body: result.body };
  return { status: 204, headers: { ...common, 'Content-Range': headers['Content-Range'] ?? '' }, body: undefined };
}

/** Where one row that was put in is found again. */
function locationOf(table: Table, page: number, body: string): string | undefined {
  if (page !== 1) return undefined;
  const [row = {}] = JSON.parse(body === '' ? '[]' : body) as Record<string, string | null>[];
  const filters = Object.entries(row).map(
    ([name, value]) => `${encodeURIComponent(name)}=${value === null ? 'is.null' : `eq.${encodeURIComponent(value)}`}`,
  );
  return `/${encodeURIComponent(table.name)}?${filters.join('&')}`;
}
