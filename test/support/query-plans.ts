import { CompiledQuery, sql, type Kysely } from 'kysely';

/**
 * Returns the plans of all queries that `work` makes: lines such as `SEARCH t USING INDEX i` (SQLite) or `Index Scan
 * using i on t` (PostgreSQL). `SCAN t` and `Seq Scan` read a whole table.
 */
export async function collectPlans(
  dialect: 'sqlite' | 'postgres',
  db: Kysely<any>,
  work: (db: Kysely<any>) => Promise<unknown>,
): Promise<string> {
  if (dialect === 'postgres') await sql`vacuum analyze`.execute(db);
  const queries: CompiledQuery[] = [];
  const explainedDatabase = db.withPlugin({
    transformQuery({ node, queryId }) {
      queries.push(db.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  await work(explainedDatabase);
  const plans: string[] = [];
  for (const query of queries) {
    const ask = dialect === 'sqlite' ? 'explain query plan ' : 'explain ';
    const { rows } = await db.executeQuery<Record<string, unknown>>(
      CompiledQuery.raw(ask + query.sql, [...query.parameters]),
    );
    plans.push(...rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])));
  }
  return plans.join('\n');
}
