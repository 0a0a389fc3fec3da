import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** Action when the referenced row is deleted, in SQL syntax. */
export const DataOnDelete = z.enum(['no action', 'restrict', 'cascade', 'set null', 'set default']);
export type DataOnDelete = z.infer<typeof DataOnDelete>;

/** Column of a table for the table editor. */
export const DataColumn = z
  .object({
    name: z.string(),
    /** Type in PostgreSQL's notation: `character varying(20)`. */
    type: z.string(),
    isNullable: z.boolean(),
    /** Default expression; null for none. */
    defaultValue: z.string().nullable(),
    /** The column is computed by PostgreSQL and cannot be written. */
    isGenerated: z.boolean(),
    isKey: z.boolean(),
    /** Values of an enumerated type. */
    choices: z.array(z.string()),
    /** Identity column with a sequence. */
    isIdentity: z.boolean(),
    /** Name of the unique constraint on the column; null for none. */
    unique: z.string().nullable(),
    /** Referenced column of another table, and the action when its row is deleted. */
    reference: z
      .object({
        constraint: z.string(),
        schema: z.string(),
        name: z.string(),
        /** Referenced column. */
        column: z.string(),
        onDelete: DataOnDelete,
        /** Complete definition by PostgreSQL: `FOREIGN KEY (a) REFERENCES public.b(id) ON UPDATE CASCADE`. */
        definition: z.string(),
      })
      .nullable(),
  })
  .meta({ id: 'DataColumn' });
export type DataColumn = z.infer<typeof DataColumn>;

/** Policy of row-level security. */
export const DataPolicy = z
  .object({
    name: z.string(),
    /** `ALL`, `SELECT`, `INSERT`, `UPDATE` or `DELETE`. */
    command: z.string(),
    /** Empty for all roles. */
    roles: z.array(z.string()),
    isPermissive: z.boolean(),
    /** `USING` expression: rows that may be read or changed. */
    condition: z.string().nullable(),
    /** `WITH CHECK` expression: condition for new rows. */
    check: z.string().nullable(),
  })
  .meta({ id: 'DataPolicy' });
export type DataPolicy = z.infer<typeof DataPolicy>;

const value = z.string().nullable();
/** Values by column name, in PostgreSQL's text format. Missing columns get their default. */
const Values = z.record(z.string().max(63), value);
const done = z.object({ ok: z.literal(true) });
const tablePath = '/api/data/tables/:schema/:name';
const conditions = ['contains', 'eq', 'neq', 'gt', 'lt', 'null', 'not_null'] as const;

/** Operators of the row filter. */
export type DataCondition = (typeof conditions)[number];

/** Routes for table rows in the table editor, for administrators; row security does not apply to them. */
export const dataRowsApi = {
  shape: defineRoute({
    method: 'GET',
    path: tablePath,
    summary: 'Returns the columns and policies of a table.',
    access: 'admin',
    reply: z.object({
      columns: z.array(DataColumn),
      policies: z.array(DataPolicy),
      isProtected: z.boolean(),
      isView: z.boolean(),
    }),
  }),
  list: defineRoute({
    method: 'GET',
    path: `${tablePath}/rows`,
    summary:
      'Lists rows with sorting, filtering and an offset, and returns their total number. Long values are ' +
      'truncated, except in key columns.',
    access: 'admin',
    query: z.object({
      offset: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(200).default(100),
      /** Column to sort by; empty for the primary key. */
      order: z.string().max(63).default(''),
      direction: z.enum(['asc', 'desc']).default('asc'),
      column: z.string().max(63).default(''),
      condition: z.enum(conditions).default('contains'),
      value: z.string().max(1000).default(''),
      count: z.stringbool().default(true),
    }),
    reply: z.object({
      /** Values in the order of the columns. */
      rows: z.array(z.array(value)),
      /** Null when it was not requested or counting takes too long. */
      total: z.int().nullable(),
    }),
  }),
  read: defineRoute({
    method: 'POST',
    path: `${tablePath}/rows/read`,
    summary: 'Returns one row by its key, with complete values.',
    access: 'admin',
    body: z.object({ key: Values }),
    reply: z.object({ values: Values }),
  }),
  insert: defineRoute({
    method: 'POST',
    path: `${tablePath}/rows`,
    summary: 'Adds a row.',
    access: 'admin',
    body: z.object({ values: Values }),
    reply: done,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: `${tablePath}/rows`,
    summary: 'Changes the row with a key, unless a stored value differs from the expected one (`data.row_changed`).',
    access: 'admin',
    body: z.object({
      key: Values,
      values: Values,
      /** Columns that are set to their default. */
      defaults: z.array(z.string().max(63)).max(1600).default([]),
      /** Values that the caller saw before the change; columns that are missing are not compared. */
      expected: Values.default({}),
    }),
    reply: done.extend({
      /** The stored row as in the list; null when nothing was changed. */
      row: z.array(value).nullable(),
    }),
  }),
  references: defineRoute({
    method: 'GET',
    path: `${tablePath}/references`,
    summary: 'Searches the table that a foreign key column references, by key or text.',
    access: 'admin',
    query: z.object({ column: z.string().min(1).max(63), search: z.string().max(200).default('') }),
    reply: z.object({
      /** Up to 20 rows: the value for the column, and a text that describes the row (empty if it has none). */
      matches: z.array(z.object({ value: z.string(), label: z.string() })),
    }),
  }),
  remove: defineRoute({
    method: 'POST',
    path: `${tablePath}/rows/remove`,
    summary: 'Deletes the rows with these keys: either all of them or none.',
    access: 'admin',
    body: z.object({ keys: z.array(Values).min(1).max(1000) }),
    reply: z.object({ removed: z.int() }),
  }),
};
