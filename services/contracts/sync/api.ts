import * as m from '#messages/sync-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { fileRoutes } from './files.ts';
import { remoteRoutes } from './remotes.ts';

const time = z.number().describe('ms since the epoch');
const ok = z.object({ ok: z.literal(true) });

/** `held`: waits for a confirmation, since it would delete more than the limit. */
export const JobState = z.enum(['waiting', 'running', 'done', 'failed', 'stopped', 'interrupted', 'held']);
export type JobState = z.infer<typeof JobState>;

/** States of jobs that have not ended. */
export const running: readonly JobState[] = ['waiting', 'running'];

/** Published when a job or task changed; at most about once a second for each, without details. */
export const syncChanged = defineTopic('sync.changed', z.object({ jobId: z.int().nullable() }), { shared: true });

/** Progress of a job. Sizes are in bytes. */
export const SyncTotals = z.object({
  bytes: z.number(),
  totalBytes: z.number(),
  transfers: z.number(),
  totalTransfers: z.number(),
  checks: z.number(),
  deletes: z.number(),
  errors: z.number(),
  /** Bytes per second. */
  speed: z.number(),
  /** Remaining seconds; null when unknown. */
  eta: z.number().nullable(),
  /** Files that are being copied. */
  transferring: z.array(z.object({ name: z.string(), size: z.number(), bytes: z.number() })),
});

/** Job of rclone in lists and pages. */
export const SyncJob = z.object({
  id: z.int(),
  kind: z.string(),
  account: z.string(),
  source: z.string(),
  destination: z.string(),
  state: JobState,
  startedAt: time,
  endedAt: time.nullable(),
  /** Reason for failing or waiting, for display. */
  error: z.string(),
  /** Message of the engine or the system, where it adds detail. */
  detail: z.string(),
  /** The source folder is missing, so that a retry would fail as well. */
  lacksSource: z.boolean(),
  /** In lists: the first failed file with its error. */
  failedFile: z.object({ name: z.string(), error: z.string() }).optional(),
  taskId: z.int().nullable(),
  planId: z.int().nullable(),
  totals: SyncTotals,
  /** Bytes per second over time, each value for `step` seconds. */
  speeds: z.object({ step: z.number(), values: z.array(z.number()) }),
  /** Replaced and deleted files can be restored. */
  canUndo: z.boolean(),
});
export type SyncJob = z.infer<typeof SyncJob>;

/** File that could not be transferred. */
export const SyncFileError = z.object({
  name: z.string(),
  what: z.string(),
  size: z.number(),
  at: time,
  error: z.string(),
  detail: z.string(),
});

const LocationField = z.string().trim().min(1, { error: m.locationMissing }).max(4096);

/** Editable fields of a sync task. */
export const TaskFields = z.object({
  name: z.string().trim().min(1, { error: m.nameMissing }).max(100),
  /** `sync`: the destination becomes equal to the source; `copy`: nothing is deleted. */
  mode: z.enum(['sync', 'copy']).default('copy'),
  source: LocationField.describe('A folder on this computer, or remote:path.'),
  destination: LocationField,
  /** Patterns in rclone's syntax: `*.tmp`, `/cache/**`. */
  exclude: z.array(z.string().min(1).max(1000)).max(200).default([]),
  /** Cron expression with five fields; null for manual runs only. */
  cron: z.string().max(200).nullable().default(null),
  zone: z.string().max(100).default('UTC'),
  /** Replaced and deleted files are moved to a folder beside the destination and can be restored. */
  keepReplaced: z.boolean().default(false),
  /** Null: the setting applies. */
  maxDeletes: z.int().min(0).nullable().default(null),
  maxDeletePercent: z.int().min(0).max(100).nullable().default(null),
  retries: z.int().min(0).max(20).default(3),
  /** Results that send a notification. */
  notify: z.enum(['always', 'problems', 'never']).default('problems'),
});
export type TaskFields = z.infer<typeof TaskFields>;

/** Saved sync with its state. */
export const SyncTask = TaskFields.extend({
  id: z.int(),
  account: z.string(),
  paused: z.boolean(),
  nextAt: time.nullable(),
  last: SyncJob.nullable(),
});
export type SyncTask = z.infer<typeof SyncTask>;

const PlannedCount = z.object({ files: z.int(), bytes: z.number() });

/** Result of a dry run. */
export const SyncPlan = z.object({
  id: z.int(),
  taskId: z.int(),
  createdAt: time,
  creates: PlannedCount,
  updates: PlannedCount,
  deletes: PlannedCount,
  /** Number of files on both sides before the sync. */
  sourceFiles: z.int(),
  destinationFiles: z.int(),
  /** Reasons for which the sync would wait for a confirmation, as sentences; empty for none. */
  brakes: z.array(z.string()),
});
export type SyncPlan = z.infer<typeof SyncPlan>;

/** File that a dry run would change. `size` is in bytes. */
export const PlannedFile = z.object({ path: z.string(), size: z.number() });
export type PlannedFile = z.infer<typeof PlannedFile>;

/** Change that a dry run would make to a file. */
export const PlannedAction = z.enum(['delete', 'update', 'create']);
export type PlannedAction = z.infer<typeof PlannedAction>;

const id = z.object({ id: z.int() });

/** Routes of file sync for the pages; programs use the API of the peer. */
export const syncApi = {
  overview: defineRoute({
    method: 'GET',
    path: '/api/sync',
    summary: 'Returns the running jobs, the saved syncs that the caller can see, and whether rclone is available.',
    access: 'objects',
    reply: z.object({
      running: z.array(SyncJob),
      tasks: z.array(SyncTask),
      engine: z.object({ version: z.string().nullable(), remedy: z.string().nullable(), running: z.boolean() }),
    }),
  }),
  jobs: defineRoute({
    method: 'GET',
    path: '/api/sync/jobs',
    summary: 'Lists the history, newest first.',
    access: 'objects',
    query: z.object({
      limit: z.coerce.number().int().min(1).max(200).default(50),
      before: z.coerce.number().int().optional(),
      task: z.coerce.number().int().optional(),
      show: z.enum(['all', 'worked', 'problems']).default('all'),
      q: z
        .string()
        .max(200)
        .default('')
        .describe('Part of the name of a failed file, or of a file in the latest plans of a saved sync.'),
    }),
    reply: z.object({ items: z.array(SyncJob), nextCursor: z.int().nullable() }),
  }),
  job: defineRoute({
    method: 'GET',
    path: '/api/sync/jobs/:id',
    summary: 'Returns a job with the errors for its files.',
    access: 'objects',
    reply: z.object({ job: SyncJob, errors: z.array(SyncFileError), plan: SyncPlan.nullable() }),
  }),
  stop: defineRoute({
    method: 'POST',
    path: '/api/sync/jobs/:id/stop',
    summary: 'Stops a job. Files that have been copied are kept, and the next run continues from there.',
    access: 'objects',
    reply: ok,
  }),
  undo: defineRoute({
    method: 'POST',
    path: '/api/sync/jobs/:id/undo',
    summary: 'Restores the files that a job replaced or deleted, and removes the files that it created.',
    access: 'objects',
    reply: id,
  }),
  addTask: defineRoute({
    method: 'POST',
    path: '/api/sync/tasks',
    summary: 'Creates a saved sync.',
    access: 'objects',
    body: TaskFields,
    reply: SyncTask,
  }),
  task: defineRoute({
    method: 'GET',
    path: '/api/sync/tasks/:id',
    summary: 'Returns a saved sync.',
    access: 'objects',
    reply: SyncTask,
  }),
  changeTask: defineRoute({
    method: 'PUT',
    path: '/api/sync/tasks/:id',
    summary: 'Replaces all fields of a saved sync.',
    access: 'objects',
    body: TaskFields,
    reply: SyncTask,
  }),
  removeTask: defineRoute({
    method: 'DELETE',
    path: '/api/sync/tasks/:id',
    summary: 'Deletes a saved sync. Its history and all files are kept.',
    access: 'objects',
    reply: ok,
  }),
  preview: defineRoute({
    method: 'POST',
    path: '/api/sync/tasks/:id/preview',
    summary:
      'Starts a job that determines what a run would create, replace and delete, without changing anything. ' +
      'Returns the ID of the job.',
    access: 'objects',
    reply: id,
  }),
  run: defineRoute({
    method: 'POST',
    path: '/api/sync/tasks/:id/run',
    summary:
      'Starts a saved sync. With a preview, the run deletes only the files shown there, and does not wait for ' +
      'approval.',
    access: 'objects',
    body: z.object({ plan: z.int().optional() }),
    reply: id,
  }),
  pause: defineRoute({
    method: 'POST',
    path: '/api/sync/tasks/:id/pause',
    summary: 'Stops the current run of a saved sync, and pauses its schedule.',
    access: 'objects',
    reply: ok,
  }),
  resume: defineRoute({
    method: 'POST',
    path: '/api/sync/tasks/:id/resume',
    summary: 'Resumes the schedule, and continues a run that was stopped by the pause.',
    access: 'objects',
    reply: ok,
  }),
  plan: defineRoute({
    method: 'GET',
    path: '/api/sync/plans/:id',
    summary: 'Returns a preview.',
    access: 'objects',
    reply: SyncPlan,
  }),
  planFiles: defineRoute({
    method: 'GET',
    path: '/api/sync/plans/:id/files',
    summary: 'Lists the files in a preview.',
    access: 'objects',
    query: z.object({
      what: PlannedAction,
      offset: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(1000).default(200),
    }),
    reply: z.object({ items: z.array(PlannedFile), total: z.int() }),
  }),
  ...fileRoutes,
  ...remoteRoutes,
};
