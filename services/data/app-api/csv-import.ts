import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataCsvApi, DataCsvType, maxCsvBytes, type DataCsvPreview } from '../../contracts/data/csv.ts';
import { Problem } from '../../contracts/problem.ts';
import { columnNames, guessSeparator, TypeGuess } from '../csv/type-inference.ts';
import { CsvError, csvRows } from '../csv/parse.ts';
import { inTransaction, type Database } from '../engine/database.ts';
import type { Settings } from '../settings.ts';
import { readBody } from '../http/body.ts';
import { toArrayLiteral, quote } from '../postgrest-api/statement/sql.ts';
import { refusalText } from './rows.ts';
import { shapeOf } from './table-shape.ts';

/** Number of rows per insert. Other work of the process continues between two inserts. */
const together = 2000;
const shown = 20;

interface CsvParts {
  readonly database: Database;
  readonly settings: Pick<Settings, 'schemas'>;
}

/** Creates the routes that preview and import CSV files. */
export function csvRoutes({ database, settings }: CsvParts): readonly ApiHandler[] {
  return [
    implement(dataCsvApi.preview, async ({ incoming }) => {
      const text = await textOf(incoming);
      const preview: DataCsvPreview = { columns: [], rows: [], count: 0 };
      let guesses: TypeGuess[] = [];
      let names: readonly string[] = [];
      for await (const { header, rows } of lines(text)) {
        new TypeGuess())]; => if (guesses.length === 0) {
          names = columnNames(header);
          guesses = header.map(() => new TypeGuess());
        } => new TypeGuess())];
        for (const { fields } of rows) {
          guesses.forEach((guess, at) => guess.look(fields[at] ?? ''));
          if (preview.rows.length < shown) preview.rows.push(fields.map((field) => field.slice(0, 200)));
        }
        preview.count += rows.length;
      }
      return { ...preview, columns: names.map((name, at) => ({ name, type: guesses[at]?.type ?? 'text' })) };
    }),
    implement(dataCsvApi.load, async ({ incoming, query: { schema, table, columns, types } }) => {
      if (!settings.schemas.includes(schema)) throw new Problem('data.unknown_schema', 404, 'There is no such schema.');
      const wanted = parsed(z.array(z.string().max(63)), columns);
      const made = types === '' ? undefined : parsed(z.array(DataCsvType), types);
      const text = await textOf(incoming);
      const rows = await database.asOwner((pool) =>
        inTransaction(pool, async (client) => {
          const reference = `${quote(schema)}.${quote(table)}`;
          if (made !== undefined) await make(client, reference, wanted, made);
          const shape = await shapeOf(client, settings.schemas, { schema, name: table });
          const targets = wanted.flatMap((name, at) => {
            if (name === '') return [];
            const column = shape.columns.find((each) => each.name === name);
            if (column === undefined) throw new Problem('data.unknown_column', 404, `There is no column ${name}.`);
            return [{ at, ...column }];
          });
          if (targets.length === 0) throw new Problem('data.no_columns', 422, 'Choose at least one column.');
          return fill(client, reference, targets, text);
        }),
      );
      return { rows };
    }),
  ];
}

interface Target {
  /** Index of the field in the file. */
  readonly at: number;
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
}

async function fill(client: pg.ClientBase, table: string, targets: readonly Target[], text: string): Promise<number> {
  const names = targets.map(({ name }) => quote(name));
  const values = targets.map(({ type, isNullable }, at) => {
    const field = `c${at}`;
    // An empty field is NULL; in text columns that are not nullable it is an empty text.
    return isNullable || !/^(?:text|character)/.test(type) ? `nullif(${field}, '')::${type}` : `${field}::${type}`;
  });
  const arrays = targets.map((_, at) => `$${at + 1}::text[]`);
  const fields = targets.map((_, at) => `c${at}`);
  const source = `unnest(${arrays.join(', ')}) as f(${fields.join(', ')})`;
  const statement = `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${source}`;
  const insert = (rows: readonly CsvLine[]): Promise<unknown> =>
    client.query(
      statement,
      targets.map(({ at }) => toArrayLiteral(rows.map((row) => row.fields[at] ?? ''))),
    );
  let count = 0;
  for await (const { rows } of lines(text)) {
    await client.query('savepoint lines');
    try {
      await insert(rows);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      throw await firstWrong(client, insert, rows, error);
    }
    count += rows.length;
  }
  return count;
}

/** Finds the line that PostgreSQL refuses by bisection. */
async function firstWrong(
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
  const detail = `Line ${rows[0]?.line ?? '?'} of the file does not fit: ${refusalText(error)} Nothing was imported.`;
  return new Problem('data.refused', 409, detail, { cause: error });
}

async function make(
  client: pg.ClientBase,
  table: string,
  names: readonly string[],
  types: readonly DataCsvType[],
): Promise<void> {
  const columns = names.flatMap((name, at) => (name === '' ? [] : [`${quote(name)} ${types[at] ?? 'text'}`]));
  const hasId = names.includes('id');
  // The editor needs a primary key, and rows are private until a policy allows access.
  const key = hasId ? 'primary key ("id")' : undefined;
  const all = [
    ...(hasId ? [] : ['"id" bigint generated by default as identity primary key']),
    ...columns,
    ...(key === undefined ? [] : [key]),
  ];
  try {
    await client.query(`create table ${table} (${all.join(', ')})`);
    await client.query(`alter table ${table} enable row level security`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const fields = error.code === '42P07' ? { table: 'There is a table of this name already.' } : {};
    throw new Problem('data.refused', 409, `PostgreSQL refuses it: ${refusalText(error)}`, { fields, cause: error });
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
async function* lines(text: string): AsyncGenerator<{ readonly header: readonly string[]; readonly rows: CsvLine[] }> {
  let header: readonly string[] | undefined;
  let rows: CsvLine[] = [];
  let line = 0;
  try {
    for (const fields of csvRows(text, guessSeparator(text))) {
      line += 1;
      if (header === undefined) {
        header = fields;
        continue;
      }
      if (fields.length === 1 && fields[0] === '') continue;
      if (fields.length !== header.length) {
        throw new CsvError(line, `It has ${fields.length} fields, and the first line has ${header.length}.`);
      }
      if (fields.some((field) => field.includes('\0')))
        throw new CsvError(line, 'It has a letter that no text can have.');
      rows.push({ line, fields });
      if (rows.length < together) continue;
      yield { header, rows };
      rows = [];
      await turn();
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new Problem('data.bad_csv', 422, `Line ${error.line} cannot be read. ${error.message}`, { cause: error });
  }
  if (header === undefined) throw new Problem('data.empty_csv', 422, 'The file is empty.');
  yield { header, rows };
}

async function textOf(incoming: IncomingMessage | undefined): Promise<string> {
  if (incoming === undefined) throw new Problem('data.no_file', 400, 'There is no file in this request.');
  const bytes = await readBody(incoming, maxCsvBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Spreadsheet programs on Windows write this encoding.
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function parsed<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new Problem('data.bad_columns', 400, 'The list of columns cannot be read.', { cause: error });
  }
}
