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
import { namingFaults } from '../faults.ts';
import { closedProblem, type ReadThread } from './thread.ts';

/**
 * A Kysely that only reads, on the thread beside the event loop. Each statement sees all that was committed before it was
 * asked; there are no transactions, since others use the same connection in between. Destroying it lets go of the file.
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

/** The line is the thread's, so that what nobody waits for any more can leave it. */
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
    // It is everybody's.
  }
  async beginTransaction(): Promise<void> {
    throw new Error('context.reads has no transactions');
  }
  async commitTransaction(): Promise<void> {
    throw new Error('context.reads has no transactions');
  }
  async rollbackTransaction(): Promise<void> {
    // None was begun.
  }
  async destroy(): Promise<void> {
    // What has the connection already would have the thread open the file once more.
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
    if (this.isClosed) throw closedProblem();
    const rows = await namingFaults(() => this.#thread.read(this.#file, sql, parameters, requestSignal.getStore()));
    return { rows: rows as Row[] };
  }
  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('context.reads is read in pages');
  }
}
