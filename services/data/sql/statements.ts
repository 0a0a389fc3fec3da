import type pg from 'pg';

/** Carries out `work`, which runs on this connection. */
export type Around = <T>(client: pg.ClientBase, work: () => Promise<T>) => Promise<T>;

interface RunOptions {
  readonly types?: pg.CustomTypesConfig;
  readonly around?: Around;
}

/** Runs statements as they were typed, in one transaction unless they say otherwise; answers the result of each. */
export async function runStatements(
  pool: pg.Pool,
  text: string,
  { types, around = (_, work) => work() }: RunOptions = {},
): Promise<readonly pg.QueryResult[]> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    const results: pg.QueryResult | pg.QueryResult[] = await around(client, () =>
      client.query({ text, ...(types === undefined ? {} : { types }) }),
    );
    return Array.isArray(results) ? results : [results];
  } finally {
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
