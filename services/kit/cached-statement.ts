import type { CompiledQuery, Kysely, QueryResult, RootOperationNode } from 'kysely';

/** Shapes that are remembered for a database, the newest ones. */
const maxShapes = 100;
/** Values of a statement whose text is worth remembering. */
const maxCachedValues = 1000;

/** By the adapter, of which a database has one for itself and all its transactions: texts are of its dialect. */
const statementsByAdapter = new WeakMap<object, Map<string, CompiledQuery>>();

/** Runs a statement without waiting for anything. */
export type SynchronousRunner = (text: string, values: readonly unknown[]) => QueryResult<unknown>;

const synchronousRunners = new WeakMap<Kysely<any>, SynchronousRunner>();

/**
 * For a database that answers on the spot: in this transaction, which has the connection to itself, known statements are
 * run by `run`. The way through Kysely's executors takes three times as long as such a statement. Undefined ends that.
 */
export function setSynchronousRunner(transaction: Kysely<any>, run: SynchronousRunner | undefined): void {
  if (run === undefined) synchronousRunners.delete(transaction);
  else synchronousRunners.set(transaction, run);
}

/**
 * Runs a statement that is written often. Kysely builds a statement anew each time, which for twenty rows of ten columns
 * costs more than running it; here the text of the first of a shape serves all others. `shape` names the statement and
 * all that makes two texts of it differ, such as the number of rows; `build` is asked for the first.
 *
 * @throws Error when the values are not in the order in which the built statement has them; the database's own.
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

/** Splits rows into lists of 64, 32, …, 1, so that statements for any number of them have few shapes. */
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
    throw new Error(`the values given for ${shape} are not those of the statement`);
  }
  // The nodes it was built from hold the first values, which may be secrets; all that is asked of them is their kind.
  const query = { kind: built.query.kind } as RootOperationNode;
  const statement = { ...built, query, parameters: [] };
  if (values.length > maxCachedValues) return statement;
  shapes.set(shape, statement);
  const [oldest] = shapes.keys();
  if (shapes.size > maxShapes && oldest !== undefined) shapes.delete(oldest);
  return statement;
}
