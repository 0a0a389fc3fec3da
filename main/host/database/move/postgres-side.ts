import pg from 'pg';
import { toTsVector } from '../../../../services/kit/word-queries.ts';
import { toMovedValue, wordColumns, type ColumnType, type MovedRow, type MovedTable } from './moved-table.ts';
import { migrationsTable, quote, type MoveSide, type RowWriter, type Sequences } from './move-side.ts';

const batchSize = 500;
/** The protocol allows 65,535 parameters in a statement. */
const maxParameters = 60_000;
/** Lexemes of PostgreSQL are shorter than 2 KiB. */
const maxLexemeBytes = 2046;

/** Name of the connections of a move, which differs from those of hosts. */
const applicationName = 'homeport-move';

/** Connects to PostgreSQL for a move. Values are returned as text, and binary values as bytes. */
export async function connectForMove(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types: { getTypeParser: (oid: number) => (oid === (pg.types.builtins.BYTEA as number) ? parseBytes : keepText) },
  });
  // The pending query rejects as well.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const keepText = (value: string): string => value;

function parseBytes(value: string): Buffer {
  return Buffer.from(value.slice(2), 'hex');
}

/** Opens the schema of a service for a move. */
export async function openPostgresSide(url: string, schema: string): Promise<MoveSide> {
  const client = await connectForMove(url);
  await client.query(`set search_path to ${quote(schema)}`);
  return new PostgresSide(client, schema);
}

class PostgresSide implements MoveSide {
  readonly #client: pg.Client;
  readonly #schema: string;

  constructor(client: pg.Client, schema: string) {
    this.#client = client;
    this.#schema = schema;
  }

  async listTables(): Promise<readonly MovedTable[]> {
    const { rows } = await this.#client.query<{ table_name: string; column_name: string; data_type: string }>(
      `select table_name, column_name, data_type from information_schema.columns
       join information_schema.tables using (table_schema, table_name)
       where table_schema = $1 and table_type = 'BASE TABLE' and is_generated = 'NEVER' and table_name <> $2
       order by table_name, ordinal_position`,
      [this.#schema, migrationsTable],
    );
    const byTable = Map.groupBy(rows, ({ table_name: name }) => name);
    return [...byTable].map(([name, columns]) =>
      columns.some(({ data_type: type }) => type === 'tsvector')
        ? { name, kind: 'words', columns: wordColumns }
        : {
            name,
            kind: 'rows',
            columns: columns.map((column) => ({ name: column.column_name, type: toColumnType(column.data_type) })),
          },
    );
  }

  async *readRows(table: MovedTable): AsyncGenerator<readonly MovedRow[]> {
    await this.#client.query('begin isolation level repeatable read read only');
    try {
      await this.#client.query(`declare moved_rows no scroll cursor for ${await this.#buildSelect(table)}`);
      for (;;) {
        const { rows } = await this.#client.query<unknown[]>({
          text: `fetch ${String(batchSize)} from moved_rows`,
          rowMode: 'array',
        });
        if (rows.length === 0) break;
        yield rows.map((row) => table.columns.map((column, index) => toMovedValue(row[index], column, table.name)));
      }
    } finally {
      await this.#client.query('rollback');
    }
  }

  async #buildSelect(table: MovedTable): Promise<string> {
    if (table.kind === 'rows')
      return `select ${table.columns.map(({ name }) => quote(name)).join(', ')} from ${quote(table.name)}`;
    const [number, words] = await findWordColumns(this.#client, this.#schema, table.name);
    return `select ${number}, (
      select coalesce(string_agg(lexeme, ' ' order by position), '')
      from unnest(${words}) as entry, unnest(positions) as position
    ) from ${quote(table.name)} where ${words} <> ''::tsvector`;
  }

  async readSequences(): Promise<Sequences> {
    const sequences = new Map<string, bigint>();
    for (const { table, column } of await listIdentities(this.#client, this.#schema)) {
      const { rows } = await this.#client.query<{ sequence: string }>(
        'select pg_get_serial_sequence($1, $2) as sequence',
        [`${quote(this.#schema)}.${quote(table)}`, column],
      );
      const state = await this.#client.query<{ last_value: string; is_called: string }>(
        `select last_value, is_called from ${rows[0]?.sequence ?? ''}`,
      );
      if (state.rows[0]?.is_called === 't') sequences.set(table, BigInt(state.rows[0].last_value));
    }
    return sequences;
  }

  async replaceRows(tables: readonly MovedTable[], write: (writer: RowWriter) => Promise<void>): Promise<void> {
    const client = this.#client;
    const references = await this.#listReferences();
    await client.query('begin');
    try {
      if (tables.length > 0) await client.query(`truncate ${tables.map(({ name }) => quote(name)).join(', ')}`);
      for (const { name } of tables) await client.query(`alter table ${quote(name)} disable trigger user`);
      for (const each of references) await client.query(`${each} deferrable initially deferred`);
      await write(new PostgresWriter(client, this.#schema));
      await client.query('set constraints all immediate');
      for (const each of references) await client.query(`${each} not deferrable`);
      for (const { name } of tables) await client.query(`alter table ${quote(name)} enable trigger user`);
      await client.query('commit');
    } catch (error) {
      // A lost connection has rolled back.
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  }

  /** Returns the beginnings of statements that change when references between tables are checked. */
  async #listReferences(): Promise<readonly string[]> {
    const { rows } = await this.#client.query<{ table: string; name: string }>(
      `select pg_class.relname as table, conname as name from pg_constraint
       join pg_class on pg_class.oid = conrelid
       where connamespace = $1::regnamespace and contype = 'f' and not condeferrable`,
      [quote(this.#schema)],
    );
    return rows.map(({ table, name }) => `alter table ${quote(table)} alter constraint ${quote(name)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}

class PostgresWriter implements RowWriter {
  readonly #client: pg.Client;
  readonly #schema: string;

  constructor(client: pg.Client, schema: string) {
    this.#client = client;
    this.#schema = schema;
  }

  async insert(table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
    const isWords = table.kind === 'words';
    const columns = isWords
      ? await findWordColumns(this.#client, this.#schema, table.name)
      : table.columns.map(({ name }) => quote(name));
    const size = Math.max(1, Math.floor(maxParameters / columns.length));
    for (let start = 0; start < rows.length; start += size) {
      const part = rows.slice(start, start + size).map((row) => (isWords ? toWordRow(row) : row));
      const values = part.map((_, index) => buildPlaceholders(index * columns.length, columns.length));
      await this.#client.query(
        `insert into ${quote(table.name)} (${columns.join(', ')}) values ${values.join(', ')}`,
        part.flatMap((row) => row.map((value) => (typeof value === 'bigint' ? String(value) : value))),
      );
    }
  }

  async setSequences(sequences: Sequences): Promise<void> {
    for (const { table, column } of await listIdentities(this.#client, this.#schema)) {
      await this.#client.query(
        `select setval(pg_get_serial_sequence($1, $2), greatest(highest, 1), highest > 0)
         from (select greatest($3::bigint, (select max(${quote(column)}) from ${quote(table)}), 0) as highest) as ids`,
        [`${quote(this.#schema)}.${quote(table)}`, column, String(sequences.get(table) ?? 0n)],
      );
    }
  }
}

function buildPlaceholders(offset: number, count: number): string {
  return `(${Array.from({ length: count }, (_, index) => `$${String(offset + index + 1)}`).join(', ')})`;
}

function toWordRow([number, words]: MovedRow): MovedRow {
  const terms = String(words)
    .split(' ')
    .filter((term) => term !== '' && Buffer.byteLength(term) <= maxLexemeBytes);
  return [number ?? null, toTsVector(terms)];
}

/** Returns the quoted names of the columns for the number and the words of a full-text index. */
async function findWordColumns(client: pg.Client, schema: string, table: string): Promise<readonly [string, string]> {
  const { rows } = await client.query<{ column_name: string; data_type: string }>(
    `select column_name, data_type from information_schema.columns where table_schema = $1 and table_name = $2`,
    [schema, table],
  );
  const vectorColumn = rows.find(({ data_type: type }) => type === 'tsvector')?.column_name ?? '';
  const number = rows.find(({ column_name: name }) => name !== vectorColumn)?.column_name ?? '';
  return [quote(number), quote(vectorColumn)];
}

async function listIdentities(
  client: pg.Client,
  schema: string,
): Promise<readonly { readonly table: string; readonly column: string }[]> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `select table_name as table, column_name as column from information_schema.columns
     where table_schema = $1 and is_identity = 'YES'`,
    [schema],
  );
  return rows;
}

function toColumnType(dataType: string): ColumnType {
  if (dataType === 'bigint' || dataType === 'integer' || dataType === 'smallint') return 'integer';
  if (dataType === 'double precision') return 'real';
  if (dataType === 'bytea') return 'blob';
  if (dataType === 'text' || dataType === 'character varying') return 'text';
  throw new Error(`the column type "${dataType}" cannot be moved`);
}
