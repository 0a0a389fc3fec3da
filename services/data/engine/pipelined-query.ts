import type pg from 'pg';

/** Statement with the text values of its parameters `$1`, `$2`, …. */
export interface Statement {
  readonly text: string;
  readonly values: readonly string[];
}

/** Row in the text format of PostgreSQL. */
export type TextRow = Readonly<Record<string, string | null>>;

/** Maximum number of prepared statements per connection; each uses several kB in PostgreSQL. */
const maxPreparedStatements = 50;
/** Maximum length of a statement that is prepared, characters. */
const maxPreparedLength = 6000;

/** Prepared statements of one connection. */
interface ConnectionStatements {
  generation: number;
  /** Statement names by role and text, most recently used last. */
  readonly names: Map<string, string>;
  /** Names that may still exist on the server and are no longer used. */
  readonly stale: Set<string>;
  count: number;
}

/** Prepared statements of all connections of a pool. */
export class PreparedStatements {
  readonly #connections = new WeakMap<pg.Connection, ConnectionStatements>();
  #generation = 0;

  /**
   * Invalidates all prepared statements. Parameter types are fixed when a statement is prepared and may be outdated
   * after a schema change.
   */
  invalidate(): void {
    this.#generation += 1;
  }

  forConnection(connection: pg.Connection): ConnectionStatements {
    const connectionStatements = this.#connections.get(connection) ?? {
      generation: this.#generation,
      names: new Map<string, string>(),
      stale: new Set<string>(),
      count: 0,
    };
    this.#connections.set(connection, connectionStatements);
    if (connectionStatements.generation !== this.#generation) {
      for (const name of connectionStatements.names.values()) connectionStatements.stale.add(name);
      connectionStatements.names.clear();
      connectionStatements.generation = this.#generation;
    }
    return connectionStatements;
  }
}

/**
 * Sends several statements in one packet and receives their results together. They form one transaction unless one of
 * them begins a longer one. The driver's own pipeline sends a Sync after each statement.
 */
export class PipelinedQuery implements pg.Submittable {
  /** Rows of the last statement. */
  readonly result: Promise<readonly TextRow[]>;
  readonly #statements: readonly Statement[];
  readonly #role: string;
  readonly #prepared: PreparedStatements | undefined;
  readonly #newNames = new Map<string, string>();
  readonly #result = Promise.withResolvers<readonly TextRow[]>();
  #connectionStatements: ConnectionStatements | undefined;
  #columns: readonly string[] = [];
  readonly #rows: TextRow[] = [];
  /** Number of completed statements. */
  #completed = 0;
  #reusesStatement = false;
  #hasBegun = false;

  /**
   * Without `prepared` no statement is reused. Schema privileges are checked only when a statement is prepared, so
   * roles never share prepared statements.
   */
  constructor(statements: readonly Statement[], role: string, prepared: PreparedStatements | undefined) {
    this.#statements = statements;
    this.#role = role;
    this.#prepared = prepared;
    this.result = this.#result.promise;
  }

  /** True when the last statement was prepared earlier and may have outdated parameter types. */
  get reusesStatement(): boolean {
    return this.#reusesStatement;
  }

  /**
   * True when the last statement has begun to run: types and privileges were already checked, so a failure comes from
   * the statement itself.
   */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  submit(connection: pg.Connection): void {
    this.#connectionStatements = this.#prepared?.forConnection(connection);
    connection.stream.cork();
    for (const name of this.#connectionStatements?.stale ?? []) connection.close({ type: 'S', name }, true);
    this.#connectionStatements?.stale.clear();
    for (const [index, { text, values }] of this.#statements.entries()) {
      connection.bind({ statement: this.#prepare(connection, text), values: [...values] }, true);
      // Results of the other statements are not needed.
      if (index === this.#statements.length - 1) connection.describe({ type: 'P' }, true);
      connection.execute(null, true);
    }
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string }[] }): void {
    this.#columns = fields.map(({ name }) => name);
    // PostgreSQL sends the description after it has bound the values and before it runs the statement.
    this.#hasBegun = true;
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#completed < this.#statements.length - 1) return;
    this.#rows.push(Object.fromEntries(this.#columns.map((name, index) => [name, fields[index] ?? null])));
  }

  /** Called by the driver for each statement. */
  handleCommandComplete(): void {
    this.#completed += 1;
  }

  handleReadyForQuery(): void {
    const { names, stale } = this.#connectionStatements ?? {};
    for (const [key, name] of this.#newNames) {
      stale?.delete(name);
      names?.set(key, name);
    }
    for (const [key, name] of names ?? []) {
      if ((names?.size ?? 0) <= maxPreparedStatements) break;
      names?.delete(key);
      stale?.add(name);
    }
    this.#result.resolve(this.#rows);
  }

  /** Statements prepared by this query remain marked as stale, since it is unknown which of them succeeded. */
  handleError(error: Error): void {
    this.#result.reject(error);
  }

  /** Returns the name of the statement; empty for a statement that is used once. */
  #prepare(connection: pg.Connection, text: string): string {
    const connectionStatements = text.length <= maxPreparedLength ? this.#connectionStatements : undefined;
    const key = `${this.#role}\0${text}`;
    const existingName = connectionStatements?.names.get(key);
    this.#reusesStatement = existingName !== undefined;
    if (connectionStatements !== undefined && existingName !== undefined) {
      connectionStatements.names.delete(key);
      connectionStatements.names.set(key, existingName);
      return existingName;
    }
    const name = connectionStatements === undefined ? '' : `homeport_${(connectionStatements.count += 1)}`;
    connection.parse({ name, text, types: [] }, true);
    if (connectionStatements === undefined) return '';
    connectionStatements.stale.add(name);
    this.#newNames.set(key, name);
    return name;
  }
}
