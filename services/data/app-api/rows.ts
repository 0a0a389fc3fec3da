import pg from 'pg';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataRowsApi, type DataColumn, type DataCondition } from '../../contracts/data/rows.ts';
import { Problem } from '../../contracts/problem.ts';
import { inTransaction, type Database } from '../engine/database.ts';
import type { Settings } from '../settings.ts';
import { quote } from '../postgrest-api/statement/sql.ts';
import { readTableShape, type TableShape } from './table-shape.ts';

/** Maximum length of a value in a list, characters. Key values are complete, because they identify rows. */
const maxValueLength = 300;
const asText = { getTypeParser: () => (text: string) => text };
type Values = Readonly<Record<string, string | null>>;

interface RowRouteOptions {
  readonly database: Database;
  readonly settings: Pick<Settings, 'schemas'>;
}

/** Creates the routes that list and change rows. */
export function createRowRoutes({ database, settings }: RowRouteOptions): readonly ApiHandler[] {
  const readShape = (params: Params): Promise<TableShape> =>
    database.withCatalogue((pool) => readTableShape(pool, settings.schemas, params));
  const withTable = async <T>(params: Params, work: TableWork<T>): Promise<T> => {
    const shape = await readShape(params);
    return database.asOwner((pool) =>
      inTransaction(pool, async (client) => {
        await client.query(`set local statement_timeout = '30s'`);
        return work(client, shape);
      }),
    );
  };
  return [
    implement(dataRowsApi.shape, async ({ params }) => {
      const { columns, policies, isProtected, isView } = await readShape(params);
      return { columns: [...columns], policies: [...policies], isProtected, isView };
    }),
    implement(dataRowsApi.list, ({ params, query }) =>
      withTable(params, (client, shape) => listRows(client, shape, query)),
    ),
    implement(dataRowsApi.read, ({ params, body: { key } }) =>
      withTable(params, async (client, shape) => ({ values: await readRow(client, shape, key) })),
    ),
    implement(dataRowsApi.insert, ({ params, body: { values } }) =>
      withTable(params, async (client, shape) => {
        await insertRow(client, shape, values);
        return { ok: true as const };
      }),
    ),
    implement(dataRowsApi.change, ({ params, body: { key, values } }) =>
      withTable(params, async (client, shape) => {
        await changeRow(client, shape, key, values);
        return { ok: true as const };
      }),
    ),
    implement(dataRowsApi.remove, ({ params, body: { keys } }) =>
      withTable(params, async (client, shape) => ({ removed: await removeRows(client, shape, keys) })),
    ),
  ];
}

type Params = Readonly<Record<string, string>>;
type TableWork<T> = (client: pg.PoolClient, shape: TableShape) => Promise<T>;

/** Lists a page of rows, with truncated values, and counts all matching ones on request. */
async function listRows(
  client: pg.ClientBase,
  shape: TableShape,
  query: RowQuery & { readonly limit: number; readonly offset: number; readonly count: boolean },
): Promise<{ rows: (string | null)[][]; total: number | null }> {
  const values: string[] = [];
  const where = buildWhere(shape, query, values);
  const selected = shape.columns.map(({ name, isKey }) => {
    const text = `t.${quote(name)}::text`;
    return `${isKey ? text : `left(${text}, ${maxValueLength})`} as ${quote(name)}`;
  });
  const source = `${shape.reference} t${where}${buildOrder(shape, query)}`;
  const text = `select ${selected.join(', ')} from ${source} limit ${query.limit} offset ${query.offset}`;
  const { rows } = await client
    .query<(string | null)[]>({ text, values, rowMode: 'array', types: asText })
    .catch((error: unknown) => {
      if (!(error instanceof pg.DatabaseError) || !/^(?:22|42)/.test(error.code ?? '')) throw error;
      throw new Problem('data.bad_filter', 400, formatRefusal(error), { cause: error });
    });
  const countText = `select count(*)::float8 as count from ${shape.reference} t${where}`;
  return { rows, total: query.count ? await countRows(client, countText, values) : null };
}

/** Reads the complete values of a row. @throws Problem `data.unknown_row` (404). */
async function readRow(client: pg.ClientBase, shape: TableShape, key: Values): Promise<Record<string, string | null>> {
  const values: (string | null)[] = [];
  const where = buildKeyCondition(shape, key, values);
  const selected = shape.columns.map(({ name }) => `${quote(name)}::text as ${quote(name)}`).join(', ');
  const { rows } = await withRefusals(client, shape, {}, () =>
    client.query<Record<string, string | null>>({
      text: `select ${selected} from ${shape.reference} where ${where}`,
      values,
      types: asText,
    }),
  );
  if (rows[0] === undefined) throw createUnknownRowError();
  return rows[0];
}

async function insertRow(client: pg.ClientBase, shape: TableShape, values: Values): Promise<void> {
  const names = getWritableNames(shape, values);
  const placeholders = names.map((_, index) => `$${index + 1}`).join(', ');
  const text = names.length === 0 ? 'default values' : `(${names.map(quote).join(', ')}) values (${placeholders})`;
  await withRefusals(client, shape, values, () =>
    client.query(
      `insert into ${shape.reference} ${text}`,
      names.map((name) => values[name] ?? null),
    ),
  );
}

/** Changes columns of a row. @throws Problem `data.unknown_row` (404). */
async function changeRow(client: pg.ClientBase, shape: TableShape, key: Values, values: Values): Promise<void> {
  const names = getWritableNames(shape, values);
  if (names.length === 0) return;
  const all = names.map((name) => values[name] ?? null);
  const sets = names.map((name, index) => `${quote(name)} = $${index + 1}`).join(', ');
  const where = buildKeyCondition(shape, key, all);
  const { rowCount } = await withRefusals(client, shape, values, () =>
    client.query(`update ${shape.reference} set ${sets} where ${where}`, all),
  );
  if (rowCount !== 1) throw createUnknownRowError();
}

/** Removes rows and returns the number of those that existed. */
async function removeRows(client: pg.ClientBase, shape: TableShape, keys: readonly Values[]): Promise<number> {
  let removed = 0;
  for (const key of keys) {
    const values: (string | null)[] = [];
    const where = buildKeyCondition(shape, key, values);
    const { rowCount } = await withRefusals(client, shape, {}, () =>
      client.query(`delete from ${shape.reference} where ${where}`, values),
    );
    removed += rowCount ?? 0;
  }
  return removed;
}

interface RowQuery {
  readonly column: string;
  readonly condition: DataCondition;
  readonly value: string;
  readonly order: string;
  readonly direction: 'asc' | 'desc';
}

const operators = { eq: '=', neq: '<>', gt: '>', lt: '<' } as const;

function buildWhere({ columns }: TableShape, { column, condition, value }: RowQuery, values: string[]): string {
  if (column === '') return '';
  const name = `t.${quote(getColumn(columns, column).name)}`;
  if (condition === 'null') return ` where ${name} is null`;
  if (condition === 'not_null') return ` where ${name} is not null`;
  if (value === '') return '';
  values.push(value);
  if (condition === 'contains') return ` where strpos(lower(${name}::text), lower($1)) > 0`;
  return ` where ${name} ${operators[condition]} $1`;
}

function buildOrder({ columns }: TableShape, { order, direction }: RowQuery): string {
  const key = columns.filter(({ isKey }) => isKey).map(({ name }) => name);
  const first = order === '' ? [] : [`t.${quote(getColumn(columns, order).name)} ${direction} nulls last`];
  // Without a unique order pages could repeat or omit rows.
  const rest = key
    .filter((name) => name !== order)
    .map((name) => `t.${quote(name)}${order === '' ? ` ${direction}` : ''}`);
  const all = [...first, ...rest];
  return all.length === 0 ? '' : ` order by ${all.join(', ')}`;
}

function getColumn(columns: readonly DataColumn[], name: string): DataColumn {
  const column = columns.find((each) => each.name === name);
  if (column !== undefined) return column;
  throw new Problem('data.unknown_column', 404, `There is no column ${name}.`);
}

/** Counts rows with a short timeout, so that counting does not delay the rows. */
async function countRows(client: pg.ClientBase, text: string, values: readonly string[]): Promise<number | null> {
  await client.query(`savepoint counting; set local statement_timeout = '3s'`);
  try {
    const { rows } = await client.query<{ count: number }>(text, [...values]);
    return rows[0]?.count ?? null;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== '57014') throw error;
    await client.query('rollback to savepoint counting');
    return null;
  }
}

function getWritableNames({ columns, isView }: TableShape, values: Values): readonly string[] {
  if (isView) throw new Problem('data.view', 409, 'Rows of a view are changed in its tables.');
  return Object.keys(values).filter((name) => !getColumn(columns, name).isGenerated);
}

function buildKeyCondition({ columns }: TableShape, key: Values, values: (string | null)[]): string {
  const names = columns.filter(({ isKey }) => isKey).map(({ name }) => name);
  if (names.length === 0) {
    throw new Problem('data.no_key', 409, 'This table has no primary key, so its rows cannot be told apart. Add one.');
  }
  return names
    .map((name) => {
      values.push(key[name] ?? null);
      return `${quote(name)} = $${values.length}`;
    })
    .join(' and ');
}

function createUnknownRowError(): Problem {
  return new Problem('data.unknown_row', 404, 'This row is not there any more.');
}

/** Runs `work` and converts errors of PostgreSQL to problems, with the affected field when it can be determined. */
async function withRefusals<T>(
  client: pg.ClientBase,
  { columns }: TableShape,
  values: Values,
  work: () => Promise<T>,
): Promise<T> {
  await client.query('savepoint writing');
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    await client.query('rollback to savepoint writing');
    const detail = formatRefusal(error);
    const fields: Record<string, string> = {};
    if (error.column !== undefined) fields[error.column] = detail;
    else if (error.code?.startsWith('22') === true) {
      // PostgreSQL does not report the invalid value, so each one is tested separately.
      for (const { name, type } of columns) {
        const value = values[name];
        if (typeof value !== 'string') continue;
        const message = await client.query(`select $1::text::${type}`, [value]).then(
          () => undefined,
          (failure: unknown) => (failure instanceof pg.DatabaseError ? formatRefusal(failure) : undefined),
        );
        if (message === undefined) continue;
        fields[name] = message;
        await client.query('rollback to savepoint writing');
      }
    }
    throw new Problem('data.refused', 409, `PostgreSQL refuses it: ${detail}`, { fields, cause: error });
  }
}

/** Formats an error of PostgreSQL as sentences. */
export function formatRefusal({ message, detail }: pg.DatabaseError): string {
  return [message, ...(detail === undefined ? [] : [detail])]
    .map((text) => (/[.!?]$/.test(text) ? text : `${text}.`))
    .join(' ');
}
