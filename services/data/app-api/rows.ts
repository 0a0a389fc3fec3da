import pg from 'pg';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataRowsApi, type DataCondition } from '../../contracts/data/rows.ts';
import { Problem } from '../../contracts/problem.ts';
import { inTransaction, type Database } from '../engine/database.ts';
import type { Settings } from '../settings.ts';
import { quote } from '../postgrest-api/statement/sql.ts';
import { formatRefusal } from '../schema/refusal.ts';
import { findReferences } from './references.ts';
import { asText, buildListColumns, getColumn, readRow } from './row-statements.ts';
import { changeRow, insertRow, removeRows } from './row-writes.ts';
import { readTableShape, type TableShape } from './table-shape.ts';

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
    implement(dataRowsApi.change, ({ params, body }) =>
      withTable(params, async (client, shape) => ({ ok: true as const, row: await changeRow(client, shape, body) })),
    ),
    implement(dataRowsApi.references, ({ params, query }) =>
      withTable(params, async (client, shape) => {
        await client.query(`set local statement_timeout = '5s'`);
        return findReferences(client, shape, query);
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
  const source = `${shape.reference} t${where}${buildOrder(shape, query)}`;
  const text = `select ${buildListColumns(shape)} from ${source} limit ${query.limit} offset ${query.offset}`;
  const { rows } = await client
    .query<(string | null)[]>({ text, values, rowMode: 'array', types: asText })
    .catch((error: unknown) => {
      if (!(error instanceof pg.DatabaseError) || !/^(?:22|42)/.test(error.code ?? '')) throw error;
      throw new Problem('data.bad_filter', 400, formatRefusal(error), { cause: error });
    });
  const countText = `select count(*)::float8 as count from ${shape.reference} t${where}`;
  return { rows, total: query.count ? await countRows(client, countText, values) : null };
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
