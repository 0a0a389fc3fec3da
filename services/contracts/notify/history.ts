import { z } from 'zod';

/** What became of a notice at one destination. */
export const NotifyDelivery = z.object({
  destination: z.string(),
  service: z.string(),
  url: z.string(),
  state: z.enum(['waiting', 'done', 'dead']),
  attempts: z.int(),
  detail: z.string(),
  updatedAt: z.number(),
  /** When it is tried next, in ms since the epoch; null when it does not wait. */
  nextAt: z.number().nullable(),
  /** Given-up work that can be tried again or dropped. */
  givenUp: z.boolean(),
});
export type NotifyDelivery = z.infer<typeof NotifyDelivery>;

/** A notice and what became of it. */
export const NotifyHistoryEntry = z
  .object({
    id: z.string(),
    key: z.string(),
    title: z.string(),
    /** Its beginning. */
    body: z.string(),
    type: z.string(),
    source: z.string(),
    time: z.number().describe('ms since the epoch'),
    deliveries: z.array(NotifyDelivery),
  })
  .meta({ id: 'NotifyNotice' });
export type NotifyHistoryEntry = z.infer<typeof NotifyHistoryEntry>;
