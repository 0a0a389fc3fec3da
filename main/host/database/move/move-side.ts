import type { MovedRow, MovedTable } from './moved-table.ts';

/** Highest number that each table with automatic numbers has assigned. */
export type Sequences = ReadonlyMap<string, bigint>;

/** Tables of one service on one side of a move. */
export interface MoveSide extends AsyncDisposable {
  /** Tables without that of the migrations. */
  listTables(): Promise<readonly MovedTable[]>;
  /** Reads all rows of a table, in batches. */
  readRows(table: MovedTable): AsyncIterable<readonly MovedRow[]>;
  readSequences(): Promise<Sequences>;
  /**
   * Replaces the rows of all tables in one transaction. Triggers do not run, and references between tables are checked at
   * the end.
   */
  replaceRows(tables: readonly MovedTable[], write: (writer: RowWriter) => Promise<void>): Promise<void>;
}

/** Writes rows within the transaction of {@link MoveSide.replaceRows}. */
export interface RowWriter {
  insert(table: MovedTable, rows: readonly MovedRow[]): Promise<void>;
  setSequences(sequences: Sequences): Promise<void>;
}

/** Table that lists the applied migrations. Both sides have the same ones. */
export const migrationsTable = 'migrations';

/** Quotes the name of a table or column, in either dialect. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
