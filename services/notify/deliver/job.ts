import { z } from 'zod';
import { defineJob } from '../../contracts/jobs.ts';

const Delivery = z.object({
  notice: z.string(),
  destination: z.string(),
  /** Tried once: its caller waits, and sends again if it wants. */
  strict: z.boolean().optional(),
  /** Tries besides the first that the call asked for. */
  retries: z.int().optional(),
  /** The chain in which others are asked when nobody of this level can be reached. */
  chain: z.int().optional(),
});

/** One message to one destination. The secrets stay in the delivery's row. */
export const deliver = defineJob('notify.deliver', Delivery, {
  // So many destinations may take their time before one that is well has to wait for a turn.
  concurrency: 64,
  timeoutMs: 60_000,
  // The delivery's own row tells that it was made, and its notice is taken once.
  deleteWhenDone: true,
});

/** What the seals of destination URLs are bound to. */
export const urlPurpose = 'notify.destination';
