const readyMessage = 'database system is ready to accept connections';

/** Returns true if the output of a PostgreSQL server reports that it accepts connections. */
export function reportsReady(output: string): boolean {
  return output.includes(readyMessage);
}

/** Returns true if the output of a PostgreSQL server contains an error that ends a connection or the server. */
export function reportsFatalError(output: string): boolean {
  return /\b(?:FATAL|PANIC)\b/.test(output);
}
