import type pg from 'pg';

/** A statement with the texts that stand for `$1`, `$2`, … in it. */
export interface Statement {
  readonly text: string;
  readonly values: readonly string[];
}

/** A row as PostgreSQL writes it. */
export type TextRow = Readonly<Record<string, string | null>>;

/** Statements that a connection keeps prepared; each costs PostgreSQL some ten kB. */
const mostPrepared = 50;
/** Letters of a statement that is worth it. */
const longestPrepared = 6000;

/** What a connection has prepared. */
interface Prepared {
  age: number;
  /** Names by role and statement, those that were used last at the end. */
  readonly names: Map<string, string>;
  /** May be there still, and is of no use any more. */
  readonly stale: Set<string>;
  count: number;
}

/** What the connections of a pool have prepared. */
export class PreparedStatements {
  readonly #connections = new WeakMap<pg.Connection, Prepared>();
  #age = 0;

  /** Types of values are settled when a statement is prepared: after a change of the schema all of them are old. */
  forget(): void {
    this.#age += 1;
  }

  of(connection: pg.Connection): Prepared {
    const known = this.#connections.get(connection) ?? {
      age: this.#age,
      names: new Map<string, string>(),
      stale: new Set<string>(),
      count: 0,
    };
    this.#connections.set(connection, known);
    if (known.age !== this.#age) {
      for (const name of known.names.values()) known.stale.add(name);
      known.names.clear();
      known.age = this.#age;
    }
    return known;
  }
}

/**
 * Statements that go to a connection in one packet and are answered by one: a transaction of their own, unless one of them
 * begins a longer one. The driver's own pipeline makes a round of PostgreSQL out of each of them.
 */
export class Trip implements pg.Submittable {
  /** The rows of the last statement. */
  readonly done: Promise<readonly TextRow[]>;
  readonly #statements: readonly Statement[];
  readonly #role: string;
  readonly #prepared: PreparedStatements | undefined;
  readonly #fresh = new Map<string, string>();
  readonly #settle = Promise.withResolvers<readonly TextRow[]>();
  #known: Prepared | undefined;
  #columns: readonly string[] = [];
  readonly #rows: TextRow[] = [];
  /** Statements that are done. */
  #ended = 0;
  #usesKnown = false;
  #hasBegun = false;

  /**
   * Without `prepared` each statement is new to PostgreSQL. Whether a role may use a schema is looked at only when a statement
   * is prepared: none is shared by two roles.
   */
  constructor(statements: readonly Statement[], role: string, prepared: PreparedStatements | undefined) {
    this.#statements = statements;
    this.#role = role;
    this.#prepared = prepared;
    this.done = this.#settle.promise;
  }

  /** The last of them was prepared earlier, and may mean types of then. */
  get usesKnown(): boolean {
    return this.#usesKnown;
  }

  /** The last of them began to run: types and rights were settled before, so what it fails at is its own. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  submit(connection: pg.Connection): void {
    this.#known = this.#prepared?.of(connection);
    connection.stream.cork();
    for (const name of this.#known?.stale ?? []) connection.close({ type: 'S', name }, true);
    this.#known?.stale.clear();
    for (const [at, { text, values }] of this.#statements.entries()) {
      connection.bind({ statement: this.#parse(connection, text), values: [...values] }, true);
      // What the others answer is of no use.
      if (at === this.#statements.length - 1) connection.describe({ type: 'P' }, true);
      connection.execute(null, true);
    }
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string }[] }): void {
    this.#columns = fields.map(({ name }) => name);
    // PostgreSQL describes it after it has taken the values, and before it runs it.
    this.#hasBegun = true;
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#ended < this.#statements.length - 1) return;
    this.#rows.push(Object.fromEntries(this.#columns.map((name, at) => [name, fields[at] ?? null])));
  }

  /** Of each statement; the driver calls it. */
  handleCommandComplete(): void {
    this.#ended += 1;
  }

  handleReadyForQuery(): void {
    const { names, stale } = this.#known ?? {};
    for (const [key, name] of this.#fresh) {
      stale?.delete(name);
      names?.set(key, name);
    }
    for (const [key, name] of names ?? []) {
      if ((names?.size ?? 0) <= mostPrepared) break;
      names?.delete(key);
      stale?.add(name);
    }
    this.#settle.resolve(this.#rows);
  }

  /** What was prepared on this trip stays stale: nobody knows how far it came. */
  handleError(error: Error): void {
    this.#settle.reject(error);
  }

  /** Answers the name of the statement; empty: it is used once. */
  #parse(connection: pg.Connection, text: string): string {
    const known = text.length <= longestPrepared ? this.#known : undefined;
    const key = `${this.#role}\0${text}`;
    const there = known?.names.get(key);
    this.#usesKnown = there !== undefined;
    if (known !== undefined && there !== undefined) {
      known.names.delete(key);
      known.names.set(key, there);
      return there;
    }
    const name = known === undefined ? '' : `homeport_${(known.count += 1)}`;
    connection.parse({ name, text, types: [] }, true);
    if (known === undefined) return '';
    known.stale.add(name);
    this.#fresh.set(key, name);
    return name;
  }
}
