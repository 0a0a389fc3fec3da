import { z } from 'zod';

/** Push subscription of a browser and its topics. */
export const WebPushRequest = z.object({
  endpoint: z.string().min(1).max(2000),
  auth: z.string().min(1).max(200),
  p256dh: z.string().min(1).max(200),
  topics: z.array(z.string()).max(10_000).default([]),
});
export type WebPushRequest = z.infer<typeof WebPushRequest>;
export const WebPushRemoval = z.object({ endpoint: z.string().max(2000).default('') });
