import pg from 'pg';
import type { Database } from '../engine/database.ts';
import type { StatementWrapper } from '../sql/statements.ts';

/** PostgreSQL's code for statements that were cancelled. */
export const queryCanceled = '57014';

/** The way to cancel statements of one run, and no others: their connection may be somebody else's a moment later. */
export class Cancellation {
  readonly #database: Pick<Database, 'cancel'>;
  #asked = false;
  /** The server's process that runs them, while it does. */
  #process: number | undefined;
  #sent: Promise<void> | undefined;
  readonly #early = Promise.withResolvers<never>();

  constructor(database: Pick<Database, 'cancel'>) {
    this.#database = database;
    this.#early.promise.catch(() => undefined);
  }

  /** Somebody wants them cancelled. */
  get isAsked(): boolean {
    return this.#asked;
  }

  /**
   * Resolves when PostgreSQL was told, or when there is nothing to tell: they have ended, or will not begin. Told only once,
   * unless that failed.
   */
  async ask(): Promise<void> {
    this.#asked = true;
    if (this.#process === undefined) this.#early.reject(cancelled());
    else this.#sent ??= this.#send(this.#process);
    await this.#sent;
  }

  /** What `work` resolves to, but who cancels while it waits for a connection waits no longer. @throws pg.DatabaseError */
  unlessAsked<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#early.promise]);
  }

  /** Runs them, unless they were cancelled before. @throws pg.DatabaseError */
  readonly around: StatementWrapper = async (client, work) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    if (this.#asked) throw cancelled();
    this.#process = rows[0]?.pid;
    try {
      return await work();
    } finally {
      this.#process = undefined;
      // What is on its way arrives before anything else is run there.
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

/** What PostgreSQL would say. */
function cancelled(): pg.DatabaseError {
  const text = 'canceling statement due to user request';
  return Object.assign(new pg.DatabaseError(text, text.length, 'error'), { code: queryCanceled });
}
