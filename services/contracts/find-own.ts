/**
 * Returns the value that a table has under a name. Names that every object inherits, such as `constructor`, have none, so
 * use it wherever the name comes from a client or another program.
 */
export function findOwn<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
