import Sqlite from 'better-sqlite3';
import { toMovedValue, wordColumns, type ColumnType, type MovedRow, type MovedTable } from './moved-table.ts';
import { migrationsTable, quote, type MoveSide, type RowWriter, type Sequences } from './move-side.ts';

const batchSize = 500;

interface SchemaObject {
  readonly name: string;
  readonly sql: string;
}

/** Opens the SQLite file of a service for a move. */
export function openSqliteSide(file: string, { readOnly }: { readonly readOnly: boolean }): MoveSide {
  const database = new Sqlite(file, { readonly: readOnly, fileMustExist: true, timeout: 5000 });
  database.defaultSafeIntegers(true);
  if (!readOnly) database.pragma('foreign_keys = ON');
  return new SqliteSide(database);
}

class SqliteSide implements MoveSide {
  readonly #database: Sqlite.Database;

  constructor(database: Sqlite.Database) {
    this.#database = database;
  }

  listTables(): Promise<readonly MovedTable[]> {
    const tables = this.#database
      .prepare<[], { name: string; type: string }>(
        `select name, type from pragma_table_list
         where schema = 'main' and type in ('table', 'virtual') and name not like 'sqlite\\_%' escape '\\' order by name`,
      )
      .all();
    return Promise.resolve(
      tables
        .filter(({ name }) => name !== migrationsTable)
        .map(({ name, type }) =>
          type === 'virtual'
            ? { name, kind: 'words', columns: wordColumns }
            : { name, kind: 'rows', columns: this.#listColumns(name) },
        ),
    );
  }

  #listColumns(table: string): MovedTable['columns'] {
    return this.#database
      .prepare<[string], { name: string; type: string; hidden: bigint }>(
        'select name, type, hidden from pragma_table_xinfo(?)',
      )
      .all(table)
      .filter(({ hidden }) => hidden === 0n)
      .map(({ name, type }) => ({ name, type: toColumnType(type) }));
  }

  async *readRows(table: MovedTable): AsyncGenerator<readonly MovedRow[]> {
    let batch: MovedRow[] = [];
    for (const values of table.kind === 'words' ? this.#readWords(table.name) : this.#readValues(table)) {
      batch.push(table.columns.map((column, index) => toMovedValue(values[index], column, table.name)));
      if (batch.length < batchSize) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  #readValues(table: MovedTable): IterableIterator<readonly unknown[]> {
    const columns = table.columns.map(({ name }) => quote(name)).join(', ');
    return this.#database
      .prepare<[], unknown[]>(`select ${columns} from ${quote(table.name)}`)
      .raw()
      .iterate();
  }

  /** Reads the words of each row from the index, since the table does not store its content. */
  *#readWords(table: string): Generator<readonly unknown[]> {
    const vocabulary = quote(`${table}_move`);
    this.#database.exec(`create virtual table temp.${vocabulary} using fts5vocab(main, ${quote(table)}, instance)`);
    const entries = this.#database
      .prepare<[], [bigint, string]>(`select doc, term from temp.${vocabulary} order by doc, offset`)
      .raw()
      .iterate();
    let number: bigint | undefined;
    let terms: string[] = [];
    for (const [doc, term] of entries) {
      if (number !== undefined && doc !== number) {
        yield [number, terms.join(' ')];
        terms = [];
      }
      number = doc;
      terms.push(term);
    }
    if (number !== undefined) yield [number, terms.join(' ')];
    this.#database.exec(`drop table temp.${vocabulary}`);
  }

  readSequences(): Promise<Sequences> {
    const exists = this.#database.prepare(`select 1 from sqlite_master where name = 'sqlite_sequence'`).get();
    const rows =
      exists === undefined
        ? []
        : this.#database.prepare<[], [string, bigint]>('select name, seq from sqlite_sequence').raw().all();
    return Promise.resolve(new Map(rows));
  }

  async replaceRows(tables: readonly MovedTable[], write: (writer: RowWriter) => Promise<void>): Promise<void> {
    const database = this.#database;
    database.exec('begin immediate');
    try {
      database.pragma('defer_foreign_keys = ON');
      const triggers = database
        .prepare<[], SchemaObject>(`select name, sql from sqlite_master where type = 'trigger'`)
        .all();
      for (const { name } of triggers) database.exec(`drop trigger ${quote(name)}`);
      for (const { name, kind } of tables)
        database.exec(
          kind === 'rows'
            ? `delete from ${quote(name)}`
            : `insert into ${quote(name)} (${quote(name)}) values ('delete-all')`,
        );
      await write(new SqliteWriter(database));
      for (const { sql } of triggers) database.exec(sql);
      database.exec('commit');
    } catch (error) {
      if (database.inTransaction) database.exec('rollback');
      throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }
}

class SqliteWriter implements RowWriter {
  readonly #database: Sqlite.Database;

  constructor(database: Sqlite.Database) {
    this.#database = database;
  }

  insert(table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
    const names = table.kind === 'words' ? ['rowid', 'words'] : table.columns.map(({ name }) => name);
    const values = names.map(() => '?').join(', ');
    const statement = this.#database.prepare(
      `insert into ${quote(table.name)} (${names.map(quote).join(', ')}) values (${values})`,
    );
    for (const row of rows) statement.run(...row);
    return Promise.resolve();
  }

  setSequences(sequences: Sequences): Promise<void> {
    const numbered = new Set(
      this.#database
        .prepare<[], string>(`select name from sqlite_master where type = 'table' and sql like '%autoincrement%'`)
        .pluck()
        .all(),
    );
    for (const [table, value] of sequences) {
      if (!numbered.has(table)) continue;
      const { changes } = this.#database
        .prepare('update sqlite_sequence set seq = max(seq, ?) where name = ?')
        .run(value, table);
      if (changes === 0)
        this.#database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, value);
    }
    return Promise.resolve();
  }
}

function toColumnType(declared: string): ColumnType {
  const type = declared.toLowerCase();
  if (type.includes('int')) return 'integer';
  if (type === 'text' || type === 'blob' || type === 'real') return type;
  throw new Error(`the column type "${declared}" cannot be moved`);
}
