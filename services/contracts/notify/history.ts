import { z } from 'zod';
import { NotifyFailureCode } from './statistics.ts';

/** Delivery of a notification to one destination. */
export const NotifyDelivery = z.object({
  destination: z.string(),
  service: z.string(),
  url: z.string(),
  state: z.enum(['waiting', 'done', 'dead']),
  attempts: z.int(),
  detail: z.string(),
  /** Code of the last failure; empty without one. */
  code: z.union([NotifyFailureCode, z.literal('')]),
  updatedAt: z.number(),
  /** Time of the next attempt, ms since the epoch; null when the delivery is not waiting. */
  nextAt: z.number().nullable(),
  /** Dead job that can be retried or dropped. */
  givenUp: z.boolean(),
});
export type NotifyDelivery = z.infer<typeof NotifyDelivery>;

/** Notification with its deliveries. */
export const NotifyHistoryEntry = z
  .object({
    id: z.string(),
    key: z.string(),
    title: z.string(),
    /** Beginning of the body. */
    body: z.string(),
    type: z.string(),
    source: z.string(),
    time: z.number().describe('ms since the epoch'),
    deliveries: z.array(NotifyDelivery),
  })
  .meta({ id: 'NotifyNotice' });
export type NotifyHistoryEntry = z.infer<typeof NotifyHistoryEntry>;
