import pg from 'pg';

/**
 * Creates a class of clients whose connection is closed when a query takes longer than `timeoutMs`. A query over a dead
 * connection would otherwise wait until the operating system gives up, and further queries behind it.
 */
export function createBoundedClient(timeoutMs: number): typeof pg.Client {
  return class BoundedClient extends pg.Client {
    override query(...values: readonly unknown[]): any {
      const query = super.query.bind(this) as (...values: readonly unknown[]) => unknown;
      const result = query(...values);
      if (!(result instanceof Promise)) return result;
      const timer = setTimeout(() => this.connection.stream.destroy(), timeoutMs);
      return result.finally(() => clearTimeout(timer));
    }
  };
}
