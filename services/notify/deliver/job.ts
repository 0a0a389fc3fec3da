import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';

const Delivery = z.object({
  notice: z.string(),
  destination: z.string(),
  /** Only one attempt: the caller waits and can send again. */
  strict: z.boolean().optional(),
  /** Retries after the first attempt, as requested by the call. */
  retries: z.int().optional(),
  /** Chain whose next level starts if this level fails. */
  chain: z.int().optional(),
});

/** Delivers one message to one destination. Secrets remain in the delivery's row. */
export const deliver = defineJob('notify.deliver', Delivery, {
  // High enough that many slow destinations do not delay the others.
  concurrency: 64,
  timeoutMs: 60_000,
  // The row of the delivery records its completion, and a notification is accepted only once.
  deleteWhenDone: true,
});
