import * as m from '#messages/host-problems';
import type { ClientBase } from 'pg';
import { Problem } from '../../../../services/contracts/problem.ts';
import type { Log, Migration } from '../../../../services/contracts/service.ts';
import { lockForMove } from '../hosts-lock.ts';
import { incompleteMove } from '../migrate.ts';
import { openDatabase } from '../open.ts';
import { getAsideSuffix, hostDatabase, type MoveLock, type MovePlace } from './move-place.ts';
import { quote, type MoveSide } from './move-side.ts';
import { connectForMove, openPostgresSide } from './postgres-side.ts';

/** Schemas of a PostgreSQL database. */
export class PostgresPlace implements MovePlace {
  readonly #url: string;
  readonly #log: Log;

  constructor(url: string, log: Log) {
    this.#url = url;
    this.#log = log;
  }

  async lock(): Promise<MoveLock> {
    const client = await connectForMove(this.#url);
    try {
      // Hosts of earlier versions do not have the lock.
      if (!(await lockForMove(client)) || (await countHostConnections(client)) > 0)
        throw new Problem('database.in_use', 409, m.databaseInUse, { retryable: false });
    } catch (error) {
      await client.end();
      throw error;
    }
    return {
      // PostgreSQL has released the lock of a connection that was lost.
      verify: async () => void (await client.query('select 1')),
      [Symbol.asyncDispose]: () => client.end(),
    };
  }

  exists(id: string): Promise<boolean> {
    return this.#check('select 1 from information_schema.schemata where schema_name = $1', id);
  }

  async migrate(id: string, steps: readonly Migration[]): Promise<void> {
    await using database = await openDatabase({ folder: '', schema: id, url: this.#url, isMove: true, log: this.#log });
    await database.migrate(steps);
  }

  open(id: string): Promise<MoveSide> {
    return openPostgresSide(this.#url, id);
  }

  async isIncomplete(): Promise<boolean> {
    const hasTable = await this.#check(`select 1 where to_regclass($1) is not null`, `${hostDatabase}.migrations`);
    return hasTable && (await this.#check('select 1 from host.migrations where name = $1', incompleteMove));
  }

  async complete(): Promise<void> {
    await this.#check('delete from host.migrations where name = $1', incompleteMove);
  }

  async setAside(ids: readonly string[]): Promise<void> {
    const suffix = getAsideSuffix();
    const renames = ids.map((id) => `alter schema ${quote(id)} rename to ${quote(`${id}_${suffix}`)};`);
    const client = await connectForMove(this.#url);
    try {
      // Several statements in one query are one transaction.
      await client.query(renames.join('\n'));
    } finally {
      await client.end();
    }
  }

  /** Runs a statement, and returns whether it returned a row. */
  async #check(statement: string, value: string): Promise<boolean> {
    const client = await connectForMove(this.#url);
    try {
      return (await client.query(statement, [value])).rows.length > 0;
    } finally {
      await client.end();
    }
  }
}

async function countHostConnections(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    `select count(*) from pg_stat_activity
     where datname = current_database() and application_name like 'homeport %'`,
  );
  return Number(rows[0]?.count);
}
