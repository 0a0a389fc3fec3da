/** A policy's condition as it was written: PostgreSQL names the column of a `select` that has no name. */
export function asWritten(condition: string): string {
  return condition.replaceAll(/\( SELECT (auth\.\w+\(\)) AS \w+\)/g, '(select $1)');
}
