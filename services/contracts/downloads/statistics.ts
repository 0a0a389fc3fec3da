import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayRead } from '../route-access.ts';

/** What the history says about the last weeks; what was removed from it does not count. */
export const downloadStatistics = defineRoute({
  method: 'GET',
  path: '/api/downloads/statistics',
  summary: 'What was downloaded in the last 30 days, by day and by site.',
  access: mayRead('downloads'),
  reply: z.object({
    days: z.array(
      z.object({
        day: z.string().describe('Local, such as `2026-11-21`; today last.'),
        files: z.int().describe('Downloads that finished.'),
        failed: z.int(),
        bytes: z.number(),
      }),
    ),
    /** The ten with the most bytes. */
    sites: z.array(z.object({ site: z.string(), files: z.int(), bytes: z.number() })),
  }),
});
