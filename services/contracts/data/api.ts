import { z } from 'zod';
import { defineRoute } from '../api.ts';

const name = z.string().min(1).max(63);

export const DataTable = z.object({
  schema: z.string(),
  name: z.string(),
  isView: z.boolean(),
  /** Null where PostgreSQL has no idea yet. */
  rows: z.number().nullable(),
  /** The rows were not counted: PostgreSQL guesses them. */
  isEstimate: z.boolean(),
  /** Row policies hold for it. */
  isProtected: z.boolean(),
  policies: z.int(),
});
export type DataTable = z.infer<typeof DataTable>;

/** What the first page tells; null where PostgreSQL sleeps and was not to be woken. */
export const DataOverview = z.object({
  state: z.enum(['asleep', 'waking', 'up']),
  /** The tables are in the person's own PostgreSQL. */
  isExternal: z.boolean(),
  sleepAfterMinutes: z.int(),
  inside: z
    .object({
      version: z.string(),
      bytes: z.number(),
      tables: z.int(),
      users: z.int(),
      sessions: z.int(),
      /** Tables without row policies. */
      open: z.array(z.object({ schema: z.string(), name: z.string() })),
      /** Tables with row policies on and none of them, which no app sees. */
      shut: z.array(z.object({ schema: z.string(), name: z.string() })),
      /** Rights that the person's own PostgreSQL does not give, as sentences. */
      limits: z.array(z.string()),
    })
    .nullable(),
});
export type DataOverview = z.infer<typeof DataOverview>;

/** Whom statements are run as: the owner of the tables, or as a request with this role would be. */
export const DataRole = z.enum(['owner', 'anon', 'authenticated', 'service_role']);
export type DataRole = z.infer<typeof DataRole>;

export const DataResult = z.object({
  command: z.string(),
  columns: z.array(z.string()),
  /** The first of them, as PostgreSQL writes them. */
  rows: z.array(z.array(z.string().nullable())),
  count: z.int(),
});
export type DataResult = z.infer<typeof DataResult>;

export const DataRun = z.object({
  ms: z.number(),
  /** It was refused because somebody cancelled it. */
  wasCancelled: z.boolean(),
  results: z.array(DataResult),
  error: z
    .object({
      message: z.string(),
      code: z.string(),
      detail: z.string().nullable(),
      hint: z.string().nullable(),
      /** Where in the statements, in characters from 1; null: PostgreSQL does not say. */
      position: z.int().nullable(),
    })
    .nullable(),
});
export type DataRun = z.infer<typeof DataRun>;

/** Why somebody sees what they see of a table. */
export const DataVisibility = z.object({
  isProtected: z.boolean(),
  /** The role may read the table at all. */
  isGranted: z.boolean(),
  total: z.int(),
  visible: z.int(),
  policies: z.array(
    z.object({
      name: z.string(),
      isPermissive: z.boolean(),
      /** It speaks of this role. */
      applies: z.boolean(),
      condition: z.string(),
      /** Rows of the table for which the condition is true. */
      rows: z.int(),
    }),
  ),
});
export type DataVisibility = z.infer<typeof DataVisibility>;

const ok = z.object({ ok: z.literal(true) });
const runId = z.string().min(8).max(64);
const user = z.union([z.literal(''), z.uuid()]).default('');

/** Our own API of the data platform, for the pages; programs use the peer's. */
export const dataApi = {
  tables: defineRoute({
    method: 'GET',
    path: '/api/data/tables',
    summary: 'Tables and views that are served, and whether row policies hold for them.',
    access: 'admin',
    reply: z.object({
      tables: z.array(DataTable),
      /** Those that are served; new tables go into the first unless somebody chooses. */
      schemas: z.array(z.string()),
    }),
  }),
  overview: defineRoute({
    method: 'GET',
    path: '/api/data/overview',
    summary: 'How the data platform is, and what needs somebody; with `wake` PostgreSQL starts for it.',
    access: 'admin',
    query: z.object({ wake: z.stringbool().default(false) }),
    reply: DataOverview,
  }),
  types: defineRoute({
    method: 'GET',
    path: '/api/data/types',
    summary: 'TypeScript types of the tables, as `createClient<Database>` takes them.',
    access: 'admin',
    reply: z.object({ types: z.string() }),
  }),
  run: defineRoute({
    method: 'POST',
    path: '/api/data/sql',
    summary: 'Runs statements, as the owner of the tables or as somebody would.',
    access: 'admin',
    body: z.object({
      query: z.string().min(1).max(1_000_000),
      role: DataRole.default('owner'),
      user,
      /** By which it can be cancelled while it runs; the caller makes it up. */
      id: runId.optional(),
    }),
    reply: DataRun,
  }),
  cancel: defineRoute({
    method: 'POST',
    path: '/api/data/sql/cancel',
    summary: 'Cancels statements that run; who asked for them is answered that they were. Nothing where none runs.',
    access: 'admin',
    body: z.object({ id: runId }),
    reply: ok,
  }),
  protect: defineRoute({
    method: 'POST',
    path: '/api/data/tables/:schema/:name/protect',
    summary: 'Switches row policies on, with one for owners by a column, one that all may read, or none.',
    access: 'admin',
    body: z.object({ template: z.enum(['none', 'owner', 'read']), column: z.union([z.literal(''), name]).default('') }),
    reply: ok,
  }),
  sight: defineRoute({
    method: 'GET',
    path: '/api/data/tables/:schema/:name/sight',
    summary: 'How many rows somebody sees of a table, and which policies let them through.',
    access: 'admin',
    query: z.object({ role: DataRole.exclude(['owner']).default('authenticated'), user }),
    reply: DataVisibility,
  }),
};
