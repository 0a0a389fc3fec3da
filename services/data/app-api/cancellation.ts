import pg from 'pg';
import type { Database } from '../engine/database.ts';
import type { StatementWrapper } from '../sql/statements.ts';

/** SQLSTATE of cancelled statements. */
export const queryCanceled = '57014';

/** Cancels the statements of one run and no others: their connection may soon serve another caller. */
export class Cancellation {
  readonly #database: Pick<Database, 'cancel'>;
  #isRequested = false;
  /** Server process that runs the statements, while they run. */
  #process: number | undefined;
  #sent: Promise<void> | undefined;
  readonly #cancelledEarly = Promise.withResolvers<never>();

  constructor(database: Pick<Database, 'cancel'>) {
    this.#database = database;
    this.#cancelledEarly.promise.catch(() => undefined);
  }

  /** True after a cancellation was requested. */
  get isRequested(): boolean {
    return this.#isRequested;
  }

  /**
   * Requests the cancellation. Resolves when PostgreSQL has received it, or when no statement runs. It is sent once,
   * unless sending failed.
   */
  async request(): Promise<void> {
    this.#isRequested = true;
    if (this.#process === undefined) this.#cancelledEarly.reject(createCancelledError());
    else this.#sent ??= this.#send(this.#process);
    await this.#sent;
  }

  /**
   * Returns the result of `work`, or rejects immediately when the run is cancelled while it waits for a connection.
   *
   * @throws pg.DatabaseError
   */
  unlessRequested<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#cancelledEarly.promise]);
  }

  /**
   * Runs the statements, unless they were cancelled before.
   *
   * @throws pg.DatabaseError
   */
  readonly wrap: StatementWrapper = async (client, work) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    if (this.#isRequested) throw createCancelledError();
    this.#process = rows[0]?.pid;
    try {
      return await work();
    } finally {
      this.#process = undefined;
      // A cancellation in flight must arrive before the connection runs other statements.
      await this.#sent?.catch(() => undefined);
    }
  };

  async #send(process: number): Promise<void> {
    try {
      await this.#database.cancel(process);
    } catch (error) {
      this.#sent = undefined;
      throw error;
    }
  }
}

/** Builds the error that PostgreSQL reports for cancelled statements. */
function createCancelledError(): pg.DatabaseError {
  const text = 'canceling statement due to user request';
  return Object.assign(new pg.DatabaseError(text, text.length, 'error'), { code: queryCanceled });
}
