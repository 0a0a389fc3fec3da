import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { DataRole, DataRunError } from './api.ts';

/** Step of a query plan. */
export const DataPlanNode = z.object({
  /** Depth in the tree; the root has 0. Children follow their parent. */
  depth: z.int(),
  /** Operation in PostgreSQL's terms: `Seq Scan`, `Hash Join`. */
  operation: z.string(),
  /** Table or function that is read, with its schema; null for none. */
  relation: z.string().nullable(),
  index: z.string().nullable(),
  /** Conditions and sort keys, in SQL. */
  details: z.array(z.object({ kind: z.string(), text: z.string() })),
  /** Estimated cost of the step and its children, in PostgreSQL's unit. */
  totalCost: z.number(),
  /** Estimated cost of the step alone. */
  ownCost: z.number(),
  estimatedRows: z.number(),
  /** Rows of all loops; null without ANALYZE. */
  actualRows: z.number().nullable(),
  /** Rows that the conditions removed; null without ANALYZE. */
  removedRows: z.number().nullable(),
  loops: z.number().nullable(),
  /** Duration of all loops with the children, ms; null without ANALYZE. */
  totalMs: z.number().nullable(),
  /** Duration of the step alone, ms; null without ANALYZE. */
  ownMs: z.number().nullable(),
});
export type DataPlanNode = z.infer<typeof DataPlanNode>;

/** Advice for the most expensive step of a plan. */
export const DataPlanHint = z.enum(['index', 'statistics', 'sort_memory', 'join', 'none']);
export type DataPlanHint = z.infer<typeof DataPlanHint>;

/** Query plan of a statement. */
export const DataPlan = z.object({
  nodes: z.array(DataPlanNode),
  /** Index of the step with the largest share of the duration, or of the cost without ANALYZE. */
  costliest: z.int(),
  hint: DataPlanHint,
  planningMs: z.number().nullable(),
  executionMs: z.number().nullable(),
});
export type DataPlan = z.infer<typeof DataPlan>;

/** Result of EXPLAIN: the plan, or the error. */
export const DataExplanation = z.object({
  ms: z.number(),
  wasCancelled: z.boolean(),
  plan: DataPlan.nullable(),
  error: DataRunError.nullable(),
});
export type DataExplanation = z.infer<typeof DataExplanation>;

/** Names that the SQL editor completes. */
export const DataNames = z.object({
  tables: z.array(
    z.object({
      schema: z.string(),
      name: z.string(),
      isView: z.boolean(),
      columns: z.array(z.object({ name: z.string(), type: z.string() })),
    }),
  ),
  functions: z.array(z.object({ schema: z.string(), name: z.string(), arguments: z.string() })),
});
export type DataNames = z.infer<typeof DataNames>;

/** Routes for the SQL editor. */
export const dataSqlApi = {
  names: defineRoute({
    method: 'GET',
    path: '/api/data/sql/names',
    summary: 'Lists tables with their columns, and functions, for completion in the SQL editor.',
    access: 'admin',
    reply: DataNames,
  }),
  explain: defineRoute({
    method: 'POST',
    path: '/api/data/sql/explain',
    summary: 'Returns the plan of one statement. With `analyze`, the statement is run and rolled back.',
    access: 'admin',
    body: z.object({
      query: z.string().min(1).max(1_000_000),
      role: DataRole.default('owner'),
      user: z.union([z.literal(''), z.uuid()]).default(''),
      analyze: z.boolean().default(false),
      /** ID by which the statement can be cancelled while it runs; chosen by the caller. */
      id: z.string().min(8).max(64).optional(),
    }),
    reply: DataExplanation,
  }),
};
