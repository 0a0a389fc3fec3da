import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** What becomes of a row when the one that it names is removed, in the words of SQL. */
export const DataOnDelete = z.enum(['no action', 'restrict', 'cascade', 'set null', 'set default']);
export type DataOnDelete = z.infer<typeof DataOnDelete>;

/** A column of a table as the editor needs it. */
export const DataColumn = z
  .object({
    name: z.string(),
    /** As PostgreSQL writes it: `character varying(20)`. */
    type: z.string(),
    isNullable: z.boolean(),
    /** What a row gets that says nothing of it; null: nothing. */
    defaultValue: z.string().nullable(),
    /** PostgreSQL alone writes it. */
    isGenerated: z.boolean(),
    isKey: z.boolean(),
    /** What it may be, where its type is a list of words. */
    choices: z.array(z.string()),
    /** It counts up by itself. */
    isIdentity: z.boolean(),
    /** The constraint by which no two rows may have one value; null: they may. */
    unique: z.string().nullable(),
    /** The row of another table that it names, and what happens when that one is removed. */
    reference: z
      .object({
        constraint: z.string(),
        schema: z.string(),
        name: z.string(),
        onDelete: DataOnDelete,
        /** All of it, as PostgreSQL writes it: `FOREIGN KEY (a) REFERENCES public.b(id) ON UPDATE CASCADE`. */
        definition: z.string(),
      })
      .nullable(),
  })
  .meta({ id: 'DataColumn' });
export type DataColumn = z.infer<typeof DataColumn>;

export const DataPolicy = z
  .object({
    name: z.string(),
    /** `ALL`, `SELECT`, `INSERT`, `UPDATE` or `DELETE`. */
    command: z.string(),
    /** Empty: everybody. */
    roles: z.array(z.string()),
    isPermissive: z.boolean(),
    /** Which rows may be seen or changed. */
    condition: z.string().nullable(),
    /** What new rows have to be like. */
    check: z.string().nullable(),
  })
  .meta({ id: 'DataPolicy' });
export type DataPolicy = z.infer<typeof DataPolicy>;

const value = z.string().nullable();
/** Values by the names of their columns, as PostgreSQL writes them. What is left out has its default. */
const Values = z.record(z.string().max(63), value);
const done = z.object({ ok: z.literal(true) });
const tablePath = '/api/data/tables/:schema/:name';
const conditions = ['contains', 'eq', 'neq', 'gt', 'lt', 'null', 'not_null'] as const;
export type DataCondition = (typeof conditions)[number];

/** Rows of tables, for the table editor. Administrators alone; row policies do not hold for them. */
export const dataRowsApi = {
  shape: defineRoute({
    method: 'GET',
    path: tablePath,
    summary: 'The columns and policies of a table.',
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
    summary: 'Rows in an order, from a place on, and how many there are; long values are cut, those of the key never.',
    access: 'admin',
    query: z.object({
      offset: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(200).default(100),
      /** A column; empty: by the key. */
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
      /** Null where it was not asked for, or counting takes too long. */
      total: z.int().nullable(),
    }),
  }),
  read: defineRoute({
    method: 'POST',
    path: `${tablePath}/rows/read`,
    summary: 'One row by its key, its values whole.',
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
    summary: 'Changes the row of a key.',
    access: 'admin',
    body: z.object({ key: Values, values: Values }),
    reply: done,
  }),
  remove: defineRoute({
    method: 'POST',
    path: `${tablePath}/rows/remove`,
    summary: 'Removes the rows of these keys, all or none.',
    access: 'admin',
    body: z.object({ keys: z.array(Values).min(1).max(1000) }),
    reply: z.object({ removed: z.int() }),
  }),
};
