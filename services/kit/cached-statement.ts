import type { CompiledQuery, Kysely, QueryResult, RootOperationNode } from 'kysely';

/** Maximum number of cached statements per database; the oldest is evicted. */
const maxShapes = 100;
/** Maximum number of parameters of a cached statement. */
const maxCachedValues = 1000;

/** Keyed by adapter, which a database shares with all its transactions, since the text depends on the dialect. */
const statementsByAdapter = new WeakMap<object, Map<string, CompiledQuery>>();

/** Runs a statement synchronously. */
export type SynchronousRunner = (text: string, values: readonly unknown[]) => QueryResult<unknown>;

const synchronousRunners = new WeakMap<Kysely<any>, SynchronousRunner>();

/**
 * Sets the runner for cached statements in a transaction of a synchronous database that has the connection to itself.
 * Kysely's executors take three times as long as such a statement. Undefined removes the runner.
 */
export function setSynchronousRunner(transaction: Kysely<any>, run: SynchronousRunner | undefined): void {
  if (run === undefined) synchronousRunners.delete(transaction);
  else synchronousRunners.set(transaction, run);
}

/**
 * Runs a frequently written statement with a cached text. Building a statement for twenty rows of ten columns in
 * Kysely costs more than running it.
 * @param shape identifies the statement and everything its text depends on, such as the number of rows
 * @param build builds the statement on first use
 * @throws Error when `values` are not in the order of the built statement, or the database's error.
 */
export async function executeCached<Row>(
  db: Kysely<any>,
  shape: string,
  values: readonly unknown[],
  build: () => CompiledQuery<Row>,
): Promise<QueryResult<Row>> {
  const { adapter } = db.getExecutor();
  let shapes = statementsByAdapter.get(adapter);
  if (shapes === undefined) statementsByAdapter.set(adapter, (shapes = new Map<string, CompiledQuery>()));
  const statement = (shapes.get(shape) ?? cacheStatement(shapes, shape, values, build())) as CompiledQuery<Row>;
  const run = synchronousRunners.get(db) as
    ((text: string, values: readonly unknown[]) => QueryResult<Row>) | undefined;
  return run === undefined ? db.executeQuery({ ...statement, parameters: values }) : run(statement.sql, values);
}

/** Splits rows into chunks of 64, 32, …, 1, so that statements for any number of rows have few shapes. */
export function* chunkRows<T>(rows: readonly T[]): Generator<readonly T[]> {
  let size = 64;
  for (let start = 0; start < rows.length; start += size) {
    while (size > rows.length - start) size /= 2;
    yield rows.slice(start, start + size);
  }
}

function cacheStatement(
  shapes: Map<string, CompiledQuery>,
  shape: string,
  values: readonly unknown[],
  built: CompiledQuery,
): CompiledQuery {
  if (built.parameters.length !== values.length || built.parameters.some((value, index) => value !== values[index])) {
    throw new Error(`values of statement ${shape} do not match the built statement`);
  }
  // The original nodes contain the first values, which may be secrets; executors only read their kind.
  const query = { kind: built.query.kind } as RootOperationNode;
  const statement = { ...built, query, parameters: [] };
  if (values.length > maxCachedValues) return statement;
  shapes.set(shape, statement);
  const [oldest] = shapes.keys();
  if (shapes.size > maxShapes && oldest !== undefined) shapes.delete(oldest);
  return statement;
}
