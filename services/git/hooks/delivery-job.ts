import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';

/** Sends a delivery. Failed deliveries are retried for several hours. */
export const deliver = defineJob('git.deliver-hook', z.object({ delivery: z.string() }), {
  concurrency: 8,
  timeoutMs: 20_000,
  backoffMs: [10_000, 60_000, 600_000, 3_600_000],
  maxAgeMs: 6 * 3_600_000,
  deleteWhenDone: true,
});
