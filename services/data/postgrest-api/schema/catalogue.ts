/** A column of a table or view. */
export interface Column {
  readonly name: string;
  /** As PostgreSQL writes it: `character varying(20)`, `public.mood`. */
  readonly type: string;
  /** Below domains. */
  readonly baseType: string;
  readonly isRequired: boolean;
  readonly isNotNull: boolean;
  /** An expression of PostgreSQL's own, or null. */
  readonly defaultValue: string | null;
  readonly isGenerated: boolean;
  readonly comment: string | null;
  readonly enumValues: readonly string[];
  /** Of a domain with casts to or from JSON and text. */
  readonly representation?: Representation | undefined;
}

/** Functions, quoted with their schema, that convert values of a domain between clients and the database. */
export interface Representation {
  /** Writes a value of an answer. */
  readonly toJson?: string;
  /** Reads a value of a body. */
  readonly fromJson?: string;
  /** Reads a value of a filter. */
  readonly fromText?: string;
}

export interface Table {
  readonly schema: string;
  readonly name: string;
  /** Views are named like tables. */
  readonly isView: boolean;
  readonly comment: string | null;
  readonly columns: ReadonlyMap<string, Column>;
  readonly primaryKey: readonly string[];
  /** Whether a column is written or read by a function of its domain. */
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
  /** `void`, a scalar, or rows with columns. */
  readonly returns: 'void' | 'scalar' | 'composite';
  readonly isSet: boolean;
  readonly isVolatile: boolean;
  /** The exposed table whose rows it returns, so that they can have embeds. */
  readonly table: string | undefined;
  /** The table whose row it takes alone: a computed relationship. */
  readonly ofTable: string | undefined;
  readonly returnsOne: boolean;
  readonly returnType: string;
}

/** How two tables belong together, seen from one of them. */
export interface Relationship {
  readonly from: string;
  readonly to: string;
  readonly cardinality: 'many-to-one' | 'one-to-many' | 'one-to-one' | 'many-to-many' | 'computed';
  readonly constraint: string;
  /** Whether the foreign key is a column of `from`. */
  readonly isReferencing: boolean;
  /** Column here, column there; through a junction it is empty. */
  readonly columns: readonly (readonly [string, string])[];
  readonly junction?: {
    readonly table: string;
    readonly otherConstraint: string;
    /** Column of `from`, column of the junction. */
    readonly near: readonly (readonly [string, string])[];
    /** Column of the junction, column of `to`. */
    readonly far: readonly (readonly [string, string])[];
  };
  /** A function of the row. */
  readonly routine?: Routine;
}

/** All of the database that the row route knows, as it was at one moment. */
export interface Catalogue {
  readonly version: number;
  /** By schema and name; see {@link keyOf}. */
  readonly tables: ReadonlyMap<string, Table>;
  readonly routines: ReadonlyMap<string, readonly Routine[]>;
  readonly relationships: ReadonlyMap<string, readonly Relationship[]>;
}

/** Names a table or a function among all schemas. */
export function keyOf(schema: string, name: string): string {
  return `${schema}\n${name}`;
}
