export interface Column {
  readonly name: string;
  /** Type in the notation of PostgreSQL: `character varying(20)`, `public.mood`. */
  readonly type: string;
  /** Type without its domains. */
  readonly baseType: string;
  readonly isRequired: boolean;
  readonly isNotNull: boolean;
  /** SQL expression, or null. */
  readonly defaultValue: string | null;
  readonly isGenerated: boolean;
  readonly comment: string | null;
  readonly enumValues: readonly string[];
  /** Conversions of a domain that has casts to or from JSON and text. */
  readonly representation?: Representation | undefined;
}

/** Functions, quoted with their schema, that convert values of a domain between clients and the database. */
export interface Representation {
  /** Converts a value for a response. */
  readonly toJson?: string;
  /** Converts a value of a request body. */
  readonly fromJson?: string;
  /** Converts a value of a filter. */
  readonly fromText?: string;
}

export interface Table {
  readonly schema: string;
  readonly name: string;
  /** True for views and materialized views. */
  readonly isView: boolean;
  readonly comment: string | null;
  readonly columns: ReadonlyMap<string, Column>;
  readonly primaryKey: readonly string[];
  /** True when a column has a domain with conversions. */
  readonly hasRepresentations: boolean;
}

export interface Argument {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly isVariadic: boolean;
}

export interface Routine {
  readonly schema: string;
  readonly name: string;
  readonly comment: string | null;
  readonly arguments: readonly Argument[];
  /** Kind of result: `void`, a scalar, or rows with columns. */
  readonly returns: 'void' | 'scalar' | 'composite';
  readonly isSet: boolean;
  readonly isVolatile: boolean;
  /** Exposed table whose rows the function returns, so that they can have embeds. */
  readonly table: string | undefined;
  /** Table of the single row argument, for computed relationships. */
  readonly ofTable: string | undefined;
  readonly returnsOne: boolean;
  readonly returnType: string;
}

/** Relationship of two tables, seen from one of them. */
export interface Relationship {
  readonly from: string;
  readonly to: string;
  readonly cardinality: 'many-to-one' | 'one-to-many' | 'one-to-one' | 'many-to-many' | 'computed';
  readonly constraint: string;
  /** True when `from` has the foreign key. */
  readonly isReferencing: boolean;
  /** Pairs of columns of `from` and `to`; empty for many-to-many relationships. */
  readonly columns: readonly (readonly [string, string])[];
  readonly junction?: {
    readonly table: string;
    readonly otherConstraint: string;
    /** Pairs of columns of `from` and the junction. */
    readonly near: readonly (readonly [string, string])[];
    /** Pairs of columns of the junction and `to`. */
    readonly far: readonly (readonly [string, string])[];
  };
  /** Function of a computed relationship. */
  readonly routine?: Routine;
}

/** Snapshot of the database schema for the row API. */
export interface Catalogue {
  readonly version: number;
  /** Tables by the key of {@link toTableKey}. */
  readonly tables: ReadonlyMap<string, Table>;
  readonly routines: ReadonlyMap<string, readonly Routine[]>;
  readonly relationships: ReadonlyMap<string, readonly Relationship[]>;
}

/** Builds the key of a table or function in all schemas. */
export function toTableKey(schema: string, name: string): string {
  return `${schema}\n${name}`;
}
