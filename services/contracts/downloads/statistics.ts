import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayRead } from '../route-access.ts';

const DayCounts = z.object({
  files: z.int().describe('Number of finished downloads.'),
  failed: z.int(),
  bytes: z.number(),
});

/** Statistics of the last days from the history; removed entries do not count. */
export const downloadStatistics = defineRoute({
  method: 'GET',
  path: '/api/downloads/statistics',
  summary: 'Returns the downloads of the last days, by day and by site.',
  access: mayRead('downloads'),
  query: z.object({ days: z.coerce.number().int().min(1).max(366).default(30) }),
  reply: z.object({
    days: z.array(
      DayCounts.extend({
        day: z.string().describe('Local date such as `2026-11-21`; today is last.'),
      }),
    ),
    /** The same number of days before, one for each of `days`. */
    previous: z.array(DayCounts),
    /** The ten sites with the most bytes. */
    sites: z.array(z.object({ site: z.string(), files: z.int(), bytes: z.number() })),
    /** The five largest files. */
    largest: z.array(z.object({ uid: z.string(), title: z.string(), bytes: z.number() })),
  }),
});
