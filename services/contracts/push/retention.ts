import * as m from '#messages/push-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** Retention of the messages of matching topics. */
export const RetentionRule = z
  .object({
    topic: z
      .string()
      .regex(/^[-_*A-Za-z0-9]{1,64}$/, { error: m.topicPatternInvalid })
      .describe('A topic, or a pattern with `*`. If several patterns match a topic, the longest retention applies.'),
    /** Seconds; 0: not stored; null: the setting applies. */
    seconds: z
      .int()
      .min(0)
      .max(10 * 366 * 86_400)
      .nullable(),
    /** Maximum number of stored messages per topic; null for no limit. */
    most: z.int().min(1).max(1_000_000).nullable(),
  })
  .meta({ id: 'RetentionRule' });
export type RetentionRule = z.infer<typeof RetentionRule>;

/** Number of topics and messages that one rule covers. */
export const RetentionUsage = z.object({ topics: z.int(), messages: z.int() }).meta({ id: 'KeptByRule' });
export type RetentionUsage = z.infer<typeof RetentionUsage>;

const Retention = z.object({
  rules: z.array(RetentionRule).max(500),
  /** Usage by rule, in their order. A topic counts only for the rule that applies to it. */
  kept: z.array(RetentionUsage),
  /** Retention by the setting, in seconds. */
  otherwise: z.int(),
});

/** Routes for the retention of messages. */
export const pushRetentionApi = {
  read: defineRoute({
    method: 'GET',
    path: '/api/push/retention',
    summary: 'Returns the retention of messages by topic.',
    access: 'admin',
    reply: Retention,
  }),
  replace: defineRoute({
    method: 'PUT',
    path: '/api/push/retention',
    summary:
      'Replaces all retention rules. New rules can shorten the retention of existing messages, but not extend ' + 'it.',
    access: 'admin',
    body: Retention.pick({ rules: true }),
    reply: Retention,
  }),
};
