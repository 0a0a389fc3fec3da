import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { quoteIdentifier, quoteQualified } from './sql-names.ts';

const name = z.string().min(1).max(63);

/** Table of the schema diagram. */
export const DataDiagramTable = z.object({
  schema: z.string(),
  name: z.string(),
  isView: z.boolean(),
  /** The schema is served. Other tables are listed with their referenced columns only. */
  isServed: z.boolean(),
  columns: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      isKey: z.boolean(),
      isNullable: z.boolean(),
      isUnique: z.boolean(),
    }),
  ),
});
export type DataDiagramTable = z.infer<typeof DataDiagramTable>;

const tableColumns = z.object({ schema: z.string(), table: z.string(), columns: z.array(z.string()) });

/** Foreign key between two tables. */
export const DataForeignKey = z.object({ name: z.string(), from: tableColumns, to: tableColumns });
export type DataForeignKey = z.infer<typeof DataForeignKey>;

/** Index with its size and use. */
export const DataIndex = z.object({
  schema: z.string(),
  table: z.string(),
  name: z.string(),
  method: z.string(),
  /** Columns and expressions in index order. */
  columns: z.array(z.string()),
  isUnique: z.boolean(),
  isPrimary: z.boolean(),
  /** Constraint that owns the index; it can only be dropped with the constraint. */
  constraint: z.string().nullable(),
  /** False for an index whose creation failed or is not complete; queries do not use it. */
  isValid: z.boolean(),
  bytes: z.number(),
  /** Number of index scans since the statistics were reset. */
  scans: z.number(),
  definition: z.string(),
});
export type DataIndex = z.infer<typeof DataIndex>;

/** Trigger of a table. */
export const DataTrigger = z.object({
  schema: z.string(),
  table: z.string(),
  name: z.string(),
  timing: z.enum(['BEFORE', 'AFTER', 'INSTEAD OF']),
  events: z.array(z.enum(['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'])),
  level: z.enum(['ROW', 'STATEMENT']),
  /** Name of the function with its schema; `id` is that of {@link DataFunction}. */
  function: z.object({ name: z.string(), id: z.string().nullable() }),
  isEnabled: z.boolean(),
  definition: z.string(),
});
export type DataTrigger = z.infer<typeof DataTrigger>;

/** Function or procedure. */
export const DataFunction = z.object({
  /** Signature: `public.add(integer, integer)`, with quoted names where necessary. */
  id: z.string(),
  schema: z.string(),
  name: z.string(),
  /** Arguments with names and defaults. */
  arguments: z.string(),
  /** Result type; empty for procedures. */
  result: z.string(),
  kind: z.enum(['function', 'procedure', 'aggregate', 'window', 'trigger']),
  language: z.string(),
  volatility: z.enum(['immutable', 'stable', 'volatile']),
  /** The function runs with the rights of its owner. */
  isSecurityDefiner: z.boolean(),
  /** Extension that the function belongs to. */
  extension: z.string().nullable(),
});
export type DataFunction = z.infer<typeof DataFunction>;

/** Function with its source and its use. */
export const DataFunctionDetails = DataFunction.extend({
  /** `CREATE FUNCTION` statement; null for aggregates. */
  definition: z.string().nullable(),
  comment: z.string(),
  owner: z.string(),
  /** Roles that may call it; `public` for all. */
  callers: z.array(z.string()),
  triggers: z.array(z.object({ schema: z.string(), table: z.string(), name: z.string() })),
});
export type DataFunctionDetails = z.infer<typeof DataFunctionDetails>;

/** Extension that the PostgreSQL server offers. */
export const DataExtension = z.object({
  name: z.string(),
  description: z.string(),
  /** Version that would be installed. */
  defaultVersion: z.string(),
  /** Null when the extension is not enabled. */
  installedVersion: z.string().nullable(),
  schema: z.string().nullable(),
  /** The owner of the tables may enable or disable it. */
  canChange: z.boolean(),
  requires: z.array(z.string()),
  /** Objects that depend on the extension, as PostgreSQL describes them. */
  dependents: z.array(z.string()),
});
export type DataExtension = z.infer<typeof DataExtension>;

/** Role of the PostgreSQL server. */
export const DataDatabaseRole = z.object({
  name: z.string(),
  canLogin: z.boolean(),
  isSuperuser: z.boolean(),
  bypassesPolicies: z.boolean(),
  canCreateRoles: z.boolean(),
  canCreateDatabases: z.boolean(),
  /** -1 for no limit. */
  connectionLimit: z.int(),
  connections: z.int(),
  memberOf: z.array(z.string()),
  /** Number of served tables on which the role has any permission. */
  tables: z.int(),
  /** Default settings: `statement_timeout=3s`. */
  settings: z.array(z.string()),
});
export type DataDatabaseRole = z.infer<typeof DataDatabaseRole>;

/** Access methods of an index. */
export const indexMethods = ['btree', 'hash', 'gin', 'gist', 'brin', 'spgist'] as const;

/** Index as entered in the form. */
export const DataIndexInput = z.object({
  schema: name,
  table: name,
  name,
  method: z.enum(indexMethods).default('btree'),
  columns: z.array(name).min(1).max(32),
  isUnique: z.boolean().default(false),
});
/** Index as entered in the form. */
export type DataIndexInput = z.output<typeof DataIndexInput>;

/**
 * Builds the `CREATE INDEX` statement.
 *
 * @param concurrently Writes stay possible during the creation. PostgreSQL does not support it for partitioned tables.
 */
export function buildIndexStatement(index: DataIndexInput, concurrently: boolean): string {
  const kind = `${index.isUnique ? 'unique ' : ''}index${concurrently ? ' concurrently' : ''}`;
  const target = `${quoteQualified(index.schema, index.table)} using ${index.method}`;
  return `create ${kind} ${quoteIdentifier(index.name)} on ${target} (${index.columns.map(quoteIdentifier).join(', ')})`;
}

const done = z.object({ ok: z.literal(true) });
/** Statements that restore a dropped object. */
const dropped = z.object({ undo: z.string() });
const path = '/api/data/schema';

/** Routes for the objects of the served schemas other than rows: diagram, indexes, triggers, functions, extensions. */
export const dataSchemaApi = {
  diagram: defineRoute({
    method: 'GET',
    path: `${path}/diagram`,
    summary: 'Lists tables with their columns, and the foreign keys between them.',
    access: 'admin',
    reply: z.object({ tables: z.array(DataDiagramTable), foreignKeys: z.array(DataForeignKey) }),
  }),
  indexes: defineRoute({
    method: 'GET',
    path: `${path}/indexes`,
    summary: 'Lists indexes with their size and number of scans.',
    access: 'admin',
    reply: z.object({
      /** Start of the use counts in ms; null when PostgreSQL does not report it. */
      countedSince: z.number().nullable(),
      indexes: z.array(DataIndex),
    }),
  }),
  createIndex: defineRoute({
    method: 'POST',
    path: `${path}/indexes`,
    summary: 'Creates an index, without blocking writes if PostgreSQL supports this.',
    access: 'admin',
    body: DataIndexInput,
    reply: done,
  }),
  dropIndex: defineRoute({
    method: 'DELETE',
    path: `${path}/indexes/:schema/:name`,
    summary: 'Deletes an index, and returns the statement that creates it again.',
    access: 'admin',
    reply: dropped,
  }),
  triggers: defineRoute({
    method: 'GET',
    path: `${path}/triggers`,
    summary: 'Lists the triggers of the tables.',
    access: 'admin',
    reply: z.object({ triggers: z.array(DataTrigger) }),
  }),
  changeTrigger: defineRoute({
    method: 'PATCH',
    path: `${path}/triggers/:schema/:table/:name`,
    summary: 'Enables or disables a trigger.',
    access: 'admin',
    body: z.object({ enabled: z.boolean() }),
    reply: done,
  }),
  dropTrigger: defineRoute({
    method: 'DELETE',
    path: `${path}/triggers/:schema/:table/:name`,
    summary: 'Deletes a trigger, and returns the statements that create it again.',
    access: 'admin',
    reply: dropped,
  }),
  functions: defineRoute({
    method: 'GET',
    path: `${path}/functions`,
    summary: 'Lists functions and procedures.',
    access: 'admin',
    reply: z.object({ functions: z.array(DataFunction) }),
  }),
  function: defineRoute({
    method: 'GET',
    path: `${path}/functions/:id`,
    summary: 'Returns a function with its source code. The ID is its signature.',
    access: 'admin',
    reply: DataFunctionDetails,
  }),
  dropFunction: defineRoute({
    method: 'DELETE',
    path: `${path}/functions/:id`,
    summary: 'Deletes a function, and returns the statements that create it again.',
    access: 'admin',
    reply: dropped,
  }),
  extensions: defineRoute({
    method: 'GET',
    path: `${path}/extensions`,
    summary: 'Lists the extensions that the PostgreSQL server offers, and the objects that depend on them.',
    access: 'admin',
    reply: z.object({ extensions: z.array(DataExtension) }),
  }),
  changeExtension: defineRoute({
    method: 'PATCH',
    path: `${path}/extensions/:name`,
    summary: 'Enables or disables an extension. An extension that other objects depend on cannot be disabled.',
    access: 'admin',
    body: z.object({ enabled: z.boolean() }),
    reply: done,
  }),
  roles: defineRoute({
    method: 'GET',
    path: `${path}/roles`,
    summary: 'Lists the roles of the PostgreSQL server.',
    access: 'admin',
    reply: z.object({ roles: z.array(DataDatabaseRole) }),
  }),
};
