import { z } from 'zod';
import { defineRoute } from '../api.ts';

const name = z.string().min(1).max(63);

/** Table or view in the list of the Databases page. */
export const DataTable = z.object({
  schema: z.string(),
  name: z.string(),
  isView: z.boolean(),
  /** Null when PostgreSQL has no estimate yet. */
  rows: z.number().nullable(),
  /** The number of rows is PostgreSQL's estimate. */
  isEstimate: z.boolean(),
  /** Row security is enabled. */
  isProtected: z.boolean(),
  policies: z.int(),
});
export type DataTable = z.infer<typeof DataTable>;

/** The databases at the time of the last look, for the overview while PostgreSQL is stopped. */
export const DataSnapshot = z.object({
  /** In ms since the epoch. */
  takenAt: z.number(),
  version: z.string(),
  bytes: z.number(),
  tables: z.int(),
  users: z.int(),
  /** Largest tables first. */
  largest: z.array(
    z.object({
      schema: z.string(),
      name: z.string(),
      rows: z.number().nullable(),
      isEstimate: z.boolean(),
      /** Size with indexes and long values. */
      bytes: z.number(),
    }),
  ),
});
export type DataSnapshot = z.infer<typeof DataSnapshot>;

/** Data of the overview page; `inside` is null while PostgreSQL is idle and was not to be started. */
export const DataOverview = z.object({
  state: z.enum(['asleep', 'waking', 'up']),
  /** The tables are in a PostgreSQL server that the user provides. */
  isExternal: z.boolean(),
  sleepAfterMinutes: z.int(),
  inside: z
    .object({
      version: z.string(),
      bytes: z.number(),
      tables: z.int(),
      users: z.int(),
      sessions: z.int(),
      /** Tables without row security. */
      open: z.array(z.object({ schema: z.string(), name: z.string() })),
      /** Tables with row security but without policies, so that no app can read them. */
      shut: z.array(z.object({ schema: z.string(), name: z.string() })),
      /** Permissions that the external PostgreSQL server does not grant, as sentences. */
      limits: z.array(z.string()),
    })
    .nullable(),
  /** Null before the first look. */
  lastSeen: DataSnapshot.nullable(),
});
export type DataOverview = z.infer<typeof DataOverview>;

/** Role that statements run as: the owner of the tables, or the role of a request. */
export const DataRole = z.enum(['owner', 'anon', 'authenticated', 'service_role']);
export type DataRole = z.infer<typeof DataRole>;

/** Result of one SQL statement. */
export const DataResult = z.object({
  command: z.string(),
  columns: z.array(z.string()),
  /** Kind of values of each column, for their alignment and their form in JSON. */
  kinds: z.array(z.enum(['text', 'number', 'boolean', 'json'])),
  /** First rows, in PostgreSQL's text format. */
  rows: z.array(z.array(z.string().nullable())),
  count: z.int(),
});
export type DataResult = z.infer<typeof DataResult>;

/** Error of SQL statements, as PostgreSQL reports it. */
export const DataRunError = z.object({
  message: z.string(),
  code: z.string(),
  detail: z.string().nullable(),
  hint: z.string().nullable(),
  /** Character position in the statements, from 1; null when PostgreSQL does not report it. */
  position: z.int().nullable(),
});
export type DataRunError = z.infer<typeof DataRunError>;

/** Result of a run of one or more SQL statements. */
export const DataRun = z.object({
  ms: z.number(),
  /** The query failed because it was cancelled. */
  wasCancelled: z.boolean(),
  results: z.array(DataResult),
  error: DataRunError.nullable(),
});
export type DataRun = z.infer<typeof DataRun>;

/** Explanation of the rows of a table that a role can see. */
export const DataVisibility = z.object({
  isProtected: z.boolean(),
  /** The role may read the table. */
  isGranted: z.boolean(),
  total: z.int(),
  visible: z.int(),
  policies: z.array(
    z.object({
      name: z.string(),
      isPermissive: z.boolean(),
      /** The policy applies to this role. */
      applies: z.boolean(),
      condition: z.string(),
      /** Rows of the table that satisfy the condition. */
      rows: z.int(),
    }),
  ),
});
export type DataVisibility = z.infer<typeof DataVisibility>;

const ok = z.object({ ok: z.literal(true) });
const runId = z.string().min(8).max(64);
const user = z.union([z.literal(''), z.uuid()]).default('');

/** Routes of the data platform for the pages; programs use the APIs of the peer. */
export const dataApi = {
  tables: defineRoute({
    method: 'GET',
    path: '/api/data/tables',
    summary: 'Lists the exposed tables and views, and whether row-level security is enabled for them.',
    access: 'admin',
    reply: z.object({
      tables: z.array(DataTable),
      /** Served schemas; new tables are created in the first by default. */
      schemas: z.array(z.string()),
    }),
  }),
  overview: defineRoute({
    method: 'GET',
    path: '/api/data/overview',
    summary:
      'Returns the state of the service and the problems that need attention. With `wake`, PostgreSQL is ' +
      'started if necessary.',
    access: 'admin',
    query: z.object({ wake: z.stringbool().default(false) }),
    reply: DataOverview,
  }),
  types: defineRoute({
    method: 'GET',
    path: '/api/data/types',
    summary: 'Returns TypeScript types for the tables, for use with `createClient<Database>`.',
    access: 'admin',
    reply: z.object({ types: z.string() }),
  }),
  run: defineRoute({
    method: 'POST',
    path: '/api/data/sql',
    summary: 'Runs statements as the owner of the tables, or as another role or user.',
    access: 'admin',
    body: z.object({
      query: z.string().min(1).max(1_000_000),
      role: DataRole.default('owner'),
      user,
      /** Id by which the query can be cancelled while it runs; chosen by the caller. */
      id: runId.optional(),
    }),
    reply: DataRun,
  }),
  cancel: defineRoute({
    method: 'POST',
    path: '/api/data/sql/cancel',
    summary:
      'Cancels running statements. The request that started them receives an error. Has no effect if no ' +
      'statement is running.',
    access: 'admin',
    body: z.object({ id: runId }),
    reply: ok,
  }),
  protect: defineRoute({
    method: 'POST',
    path: '/api/data/tables/:schema/:name/protect',
    summary:
      'Enables row-level security, and optionally creates a policy: by owner column, or read access for ' + 'everyone.',
    access: 'admin',
    body: z.object({ template: z.enum(['none', 'owner', 'read']), column: z.union([z.literal(''), name]).default('') }),
    reply: ok,
  }),
  sight: defineRoute({
    method: 'GET',
    path: '/api/data/tables/:schema/:name/sight',
    summary: 'Returns how many rows of a table a role or user can see, and which policies permit this.',
    access: 'admin',
    query: z.object({ role: DataRole.exclude(['owner']).default('authenticated'), user }),
    reply: DataVisibility,
  }),
};
