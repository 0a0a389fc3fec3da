/** Messages of the PostgreSQL client `pg`, which throws these errors without a code. */
const lostConnectionPattern =
  /connection terminated|connection error|not queryable|timeout exceeded when trying to connect|client was closed|cannot use a pool after/i;

/** Returns true for an error without a code by which `pg` reports that it has no connection to the server. */
export function isLostConnection(error: Error): boolean {
  return !('code' in error && error.code !== undefined) && lostConnectionPattern.test(error.message);
}
