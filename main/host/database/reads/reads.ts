import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from 'kysely';
import { requestSignal } from '../../runtime/request-signal.ts';
import { withDatabaseErrors } from '../faults.ts';
import { buildClosedProblem, type ReadThread } from './thread.ts';

/**
 * Creates a read-only Kysely that runs on the read thread. Each statement sees everything committed before the call;
 * there are no transactions, since callers share the connection. Destroying it closes the file.
 */
export function openReads(thread: ReadThread, file: string): Kysely<any> {
  return new Kysely<any>({
    dialect: {
      createDriver: () => new ReadDriver(thread, file),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createAdapter: () => new ReadAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
    },
  });
}

/** The thread has the queue, so that cancelled reads can leave it. */
class ReadAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class ReadDriver implements Driver {
  readonly #thread: ReadThread;
  readonly #file: string;
  readonly #connection: ReadConnection;
  constructor(thread: ReadThread, file: string) {
    this.#thread = thread;
    this.#file = file;
    this.#connection = new ReadConnection(thread, file);
  }
  async init(): Promise<void> {
    // The thread opens the file with the first read.
  }
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
  async releaseConnection(): Promise<void> {
    // The connection is shared.
  }
  async beginTransaction(): Promise<void> {
    throw new Error('context.reads has no transactions');
  }
  async commitTransaction(): Promise<void> {
    throw new Error('context.reads has no transactions');
  }
  async rollbackTransaction(): Promise<void> {
    // There is no transaction.
  }
  async destroy(): Promise<void> {
    // Otherwise a caller that already has the connection would make the thread open the file again.
    this.#connection.isClosed = true;
    await this.#thread.release(this.#file);
  }
}

class ReadConnection implements DatabaseConnection {
  isClosed = false;
  readonly #thread: ReadThread;
  readonly #file: string;
  constructor(thread: ReadThread, file: string) {
    this.#thread = thread;
    this.#file = file;
  }
  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.isClosed) throw buildClosedProblem();
    const rows = await withDatabaseErrors(() =>
      this.#thread.read(this.#file, sql, parameters, requestSignal.getStore()),
    );
    return { rows: rows as Row[] };
  }
  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('context.reads is read in pages');
  }
}
