import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { JobSummary } from '../jobs.ts';

const ok = z.object({ ok: z.literal(true) });

/** Routes for work that was given up. */
export const jobRoutes = {
  deadJobs: defineRoute({
    method: 'GET',
    path: '/api/jobs/dead',
    summary: 'Lists the failed jobs of all services.',
    access: 'admin',
    reply: z.object({ jobs: z.array(JobSummary.extend({ service: z.string() })) }),
  }),
  retryJob: defineRoute({
    method: 'POST',
    path: '/api/jobs/:service/:id/retry',
    summary: 'Retries a failed job now.',
    access: 'admin',
    reply: ok,
  }),
  dropJob: defineRoute({
    method: 'DELETE',
    path: '/api/jobs/:service/:id',
    summary: 'Permanently deletes a failed job.',
    access: 'admin',
    reply: ok,
  }),
};
