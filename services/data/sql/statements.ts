import type { EventEmitter } from 'node:events';
import pg from 'pg';

/** Carries out `work`, which runs on this connection. */
export type Around = <T>(client: pg.ClientBase, work: () => Promise<T>) => Promise<T>;

interface RunOptions {
  readonly types?: pg.CustomTypesConfig;
  readonly around?: Around;
}

const copyHint =
  'The rows of COPY … FROM stdin cannot be sent here. Load them with psql on the port for psql of the settings, or use INSERT.';

/** Runs statements as they were typed, in one transaction unless they say otherwise; answers the result of each. */
export async function runStatements(
  pool: pg.Pool,
  text: string,
  { types, around = (_, work) => work() }: RunOptions = {},
): Promise<readonly pg.QueryResult[]> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const { connection } = client as pg.PoolClient & { readonly connection: EventEmitter };
  let isCopy = false;
  const noteCopy = (): void => void (isCopy = true);
  connection.on('copyInResponse', noteCopy);
  try {
    const results: pg.QueryResult | pg.QueryResult[] = await around(client, () =>
      client.query({ text, ...(types === undefined ? {} : { types }) }),
    );
    return Array.isArray(results) ? results : [results];
  } catch (error) {
    if (isCopy && error instanceof pg.DatabaseError) error.hint ??= copyHint;
    throw error;
  } finally {
    connection.off('copyInResponse', noteCopy);
    // What they set or left open must not meet who gets the connection next.
    try {
      await client.query('rollback');
      await client.query('discard all');
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error));
    }
    client.release(broken);
  }
}
