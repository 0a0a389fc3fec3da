import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** How long the messages of some topics are kept, and how many of them. */
export const RetentionRule = z
  .object({
    topic: z
      .string()
      .regex(/^[-_*A-Za-z0-9]{1,64}$/, 'Use letters, digits, -, _ and * only, 64 at most.')
      .describe('A topic, or a pattern with `*`; of several that fit the longest counts.'),
    /** Seconds; 0: not kept at all; null: as the setting says. */
    seconds: z
      .int()
      .min(0)
      .max(10 * 366 * 86_400)
      .nullable(),
    /** The newest ones of each topic that stay; null: all. */
    most: z.int().min(1).max(1_000_000).nullable(),
  })
  .meta({ id: 'RetentionRule' });
export type RetentionRule = z.infer<typeof RetentionRule>;

/** What is there of the topics that one rule decides about. */
export const RetentionUsage = z.object({ topics: z.int(), messages: z.int() }).meta({ id: 'KeptByRule' });
export type RetentionUsage = z.infer<typeof RetentionUsage>;

const Retention = z.object({
  rules: z.array(RetentionRule).max(500),
  /** Of each rule, in their order. A topic counts for the one rule that decides about it. */
  kept: z.array(RetentionUsage),
  /** What the setting says, in seconds. */
  otherwise: z.int(),
});

export const pushRetentionApi = {
  read: defineRoute({
    method: 'GET',
    path: '/api/push/retention',
    summary: 'How long messages are kept, by topic.',
    access: 'admin',
    reply: Retention,
  }),
  replace: defineRoute({
    method: 'PUT',
    path: '/api/push/retention',
    summary: 'Replaces all rules. Messages that are there stay no longer than the new ones say.',
    access: 'admin',
    body: Retention.pick({ rules: true }),
    reply: Retention,
  }),
};
