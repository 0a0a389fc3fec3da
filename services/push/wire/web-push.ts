import { z } from 'zod';

/** What a browser's push subscription is told to us as, and the topics it is for. */
export const WebPushOrder = z.object({
  endpoint: z.string().min(1).max(2000),
  auth: z.string().min(1).max(200),
  p256dh: z.string().min(1).max(200),
  topics: z.array(z.string()).max(10_000).default([]),
});
export type WebPushOrder = z.infer<typeof WebPushOrder>;
export const WebPushEnd = z.object({ endpoint: z.string().max(2000).default('') });
