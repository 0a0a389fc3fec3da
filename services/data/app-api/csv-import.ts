import * as m from '#messages/data-problems';
import type { IncomingMessage } from 'node:http';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataCsvApi, DataCsvType, maxCsvBytes, type DataCsvPreview } from '../../contracts/data/csv.ts';
import { Problem } from '../../contracts/problem.ts';
import { toColumnNames, detectSeparator, TypeInference } from '../csv/type-inference.ts';
import { CsvError, parseCsvRows } from '../csv/parse.ts';
import { inTransaction, type Database } from '../engine/database.ts';
import type { Settings } from '../settings.ts';
import { readBody } from '../http/body.ts';
import { toArrayLiteral, quote } from '../postgrest-api/statement/sql.ts';
import { formatRefusal } from '../schema/refusal.ts';
import { readTableShape } from './table-shape.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/** Number of rows per insert. Other work of the process continues between two inserts. */
const rowsPerInsert = 2000;
const maxPreviewRows = 20;

interface CsvRouteOptions {
  readonly database: Database;
  readonly settings: Pick<Settings, 'schemas'>;
}

/** Creates the routes that preview and import CSV files. */
export function createCsvImportRoutes({ database, settings }: CsvRouteOptions): readonly ApiHandler[] {
  return [
    implement(dataCsvApi.preview, async ({ incoming }) => {
      const text = await readText(incoming);
      const preview: DataCsvPreview = { columns: [], rows: [], count: 0 };
      let guesses: TypeInference[] = [];
      let names: readonly string[] = [];
      for await (const { header, rows } of readChunks(text)) {
        if (guesses.length === 0) {
          names = toColumnNames(header);
          guesses = header.map(() => new TypeInference());
        }
        for (const { fields } of rows) {
          guesses.forEach((guess, index) => guess.add(fields[index] ?? ''));
          if (preview.rows.length < maxPreviewRows) preview.rows.push(fields.map((field) => field.slice(0, 200)));
        }
        preview.count += rows.length;
      }
      return { ...preview, columns: names.map((name, index) => ({ name, type: guesses[index]?.type ?? 'text' })) };
    }),
    implement(dataCsvApi.load, async ({ incoming, query: { schema, table, columns, types } }) => {
      if (!settings.schemas.includes(schema)) throw new Problem('data.unknown_schema', 404, m.schemaNotFound());
      const columnNames = parseList(z.array(z.string().max(63)), columns);
      const newTypes = types === '' ? undefined : parseList(z.array(DataCsvType), types);
      const text = await readText(incoming);
      const rows = await database.asOwner((pool) =>
        inTransaction(pool, async (client) => {
          const reference = `${quote(schema)}.${quote(table)}`;
          if (newTypes !== undefined) await createTable(client, reference, columnNames, newTypes);
          const shape = await readTableShape(client, settings.schemas, { schema, name: table });
          const targets = columnNames.flatMap((name, index) => {
            if (name === '') return [];
            const column = shape.columns.find((each) => each.name === name);
            if (column === undefined) throw new Problem('data.unknown_column', 404, m.columnNotFound({ name }));
            return [{ fieldIndex: index, ...column }];
          });
          if (targets.length === 0) throw new Problem('data.no_columns', 422, m.columnsRequired());
          return insertRows(client, reference, targets, text);
        }),
      );
      return { rows };
    }),
  ];
}

interface TargetColumn {
  /** Index of the field in the file. */
  readonly fieldIndex: number;
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
}

async function insertRows(
  client: pg.ClientBase,
  table: string,
  targets: readonly TargetColumn[],
  text: string,
): Promise<number> {
  const names = targets.map(({ name }) => quote(name));
  const values = targets.map(({ type, isNullable }, index) => {
    const field = `c${index}`;
    // An empty field is NULL; in text columns that are not nullable it is an empty text.
    return isNullable || !/^(?:text|character)/.test(type) ? `nullif(${field}, '')::${type}` : `${field}::${type}`;
  });
  const arrays = targets.map((_, index) => `$${index + 1}::text[]`);
  const fields = targets.map((_, index) => `c${index}`);
  const source = `unnest(${arrays.join(', ')}) as f(${fields.join(', ')})`;
  const statement = `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${source}`;
  const insert = (rows: readonly CsvLine[]): Promise<unknown> =>
    client.query(
      statement,
      targets.map(({ fieldIndex: index }) => toArrayLiteral(rows.map((row) => row.fields[index] ?? ''))),
    );
  let count = 0;
  for await (const { rows } of readChunks(text)) {
    await client.query('savepoint lines');
    try {
      await insert(rows);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      throw await findRefusedLine(client, insert, rows, error);
    }
    count += rows.length;
  }
  return count;
}

/** Finds the line that PostgreSQL refuses by bisection. */
async function findRefusedLine(
  client: pg.ClientBase,
  insert: (rows: readonly CsvLine[]) => Promise<unknown>,
  all: readonly CsvLine[],
  first: pg.DatabaseError,
): Promise<Problem> {
  let [rows, error] = [all, first];
  await client.query('rollback to savepoint lines');
  while (rows.length > 1) {
    const half = rows.slice(0, Math.ceil(rows.length / 2));
    try {
      await insert(half);
      // Accepted rows stay until the rollback, because later rows may collide with them.
      await client.query('savepoint lines');
      rows = rows.slice(half.length);
    } catch (failure) {
      if (!(failure instanceof pg.DatabaseError)) throw failure;
      await client.query('rollback to savepoint lines');
      [rows, error] = [half, failure];
    }
  }
  const detail = m.lineRejected({ line: rows[0]?.line ?? '?', reason: formatRefusal(error) });
  return new Problem('data.refused', 409, detail, { cause: error });
}

async function createTable(
  client: pg.ClientBase,
  table: string,
  names: readonly string[],
  types: readonly DataCsvType[],
): Promise<void> {
  const columns = names.flatMap((name, index) => (name === '' ? [] : [`${quote(name)} ${types[index] ?? 'text'}`]));
  const hasId = names.includes('id');
  // The editor needs a primary key, and rows are private until a policy allows access.
  const key = hasId ? 'primary key ("id")' : undefined;
  const definitions = [
    ...(hasId ? [] : ['"id" bigint generated by default as identity primary key']),
    ...columns,
    ...(key === undefined ? [] : [key]),
  ];
  try {
    await client.query(`create table ${table} (${definitions.join(', ')})`);
    await client.query(`alter table ${table} enable row level security`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const fields = error.code === '42P07' ? { table: m.tableExists() } : {};
    throw new Problem('data.refused', 409, m.rejectedByPostgres({ reason: formatRefusal(error) }), {
      fields,
      cause: error,
    });
  }
}

interface CsvLine {
  /** Line number in the file; inaccurate after fields with line breaks. */
  readonly line: number;
  readonly fields: readonly string[];
}

/**
 * Reads the lines of a file in chunks and yields to the event loop between them.
 *
 * @throws Problem `data.bad_csv`
 */
async function* readChunks(
  text: string,
): AsyncGenerator<{ readonly header: readonly string[]; readonly rows: CsvLine[] }> {
  let header: readonly string[] | undefined;
  let rows: CsvLine[] = [];
  let line = 0;
  try {
    for (const fields of parseCsvRows(text, detectSeparator(text))) {
      line += 1;
      if (header === undefined) {
        header = fields;
        continue;
      }
      if (fields.length === 1 && fields[0] === '') continue;
      if (fields.length !== header.length) {
        throw new CsvError(m.csvFieldCountDiffers({ line, count: fields.length, expected: header.length }));
      }
      if (fields.some((field) => field.includes('\0'))) throw new CsvError(m.csvLineWithNul({ line }));
      rows.push({ line, fields });
      if (rows.length < rowsPerInsert) continue;
      yield { header, rows };
      rows = [];
      await yieldToEventLoop();
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Problem('data.bad_csv', 422, error.message, { cause: error });
  }
  if (header === undefined) throw new Problem('data.empty_csv', 422, m.fileEmpty());
  yield { header, rows };
}

async function readText(incoming: IncomingMessage | undefined): Promise<string> {
  if (incoming === undefined) throw new Problem('data.no_file', 400, m.fileMissing());
  const bytes = await readBody(incoming, maxCsvBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Spreadsheet programs on Windows write this encoding.
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function parseList<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(parseJson(text));
  } catch (error) {
    throw new Problem('data.bad_columns', 400, m.columnListInvalid(), { cause: error });
  }
}
