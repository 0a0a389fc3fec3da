import type { CompiledQuery, Kysely, QueryResult, RootOperationNode } from 'kysely';

/** Shapes that are remembered for a database, the newest ones. */
const mostShapes = 100;
/** Values of a statement whose text is worth remembering. */
const mostValues = 1000;

/** By the adapter, of which a database has one for itself and all its transactions: texts are of its dialect. */
const known = new WeakMap<object, Map<string, CompiledQuery>>();

/**
 * Runs a statement that is written often and has many values. Kysely builds a statement anew each time, which for twenty
 * rows of ten columns costs more than running it; here the text of the first of a shape serves all others. `shape` names
 * the statement and all that makes two texts of it differ, such as the number of rows; `build` is asked for the first.
 *
 * @throws Error when the values are not in the order in which the built statement has them; the database's own.
 */
export function executeKnown<Row>(
  db: Kysely<any>,
  shape: string,
  values: readonly unknown[],
  build: () => CompiledQuery<Row>,
): Promise<QueryResult<Row>> {
  const { adapter } = db.getExecutor();
  const shapes = known.get(adapter) ?? new Map<string, CompiledQuery>();
  known.set(adapter, shapes);
  const found = shapes.get(shape) as CompiledQuery<Row> | undefined;
  if (found !== undefined) return db.executeQuery({ ...found, parameters: values });
  const built = build();
  if (built.parameters.length !== values.length || built.parameters.some((value, at) => value !== values[at])) {
    throw new Error(`the values given for ${shape} are not those of the statement`);
  }
  if (values.length > mostValues) return db.executeQuery(built);
  // The nodes it was built from hold the first values, which may be secrets; all that is asked of them is their kind.
  const query = { kind: built.query.kind } as RootOperationNode;
  shapes.set(shape, { ...built, query, parameters: [] });
  const [oldest] = shapes.keys();
  if (shapes.size > mostShapes && oldest !== undefined) shapes.delete(oldest);
  return db.executeQuery(built);
}
