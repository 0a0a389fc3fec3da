import * as m from '#messages/push-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { Priority } from './topics.ts';

/** Published when delayed messages changed; at most twice a second, without naming them. */
export const pushDelayedChanged = defineTopic(
  'push.planned',
  z.object({ time: z.number().describe('ms since the epoch') }),
  { shared: true },
);

/** Message that is published at a later time. */
export const DelayedMessage = z
  .object({
    id: z.string(),
    topic: z.string(),
    title: z.string(),
    message: z.string(),
    priority: Priority,
    tags: z.array(z.string()),
    /** Time of publication. */
    due: z.number().describe('ms since the epoch'),
    /** Account that published it; null for visitors. */
    account: z.string().nullable(),
    attachment: z.string().nullable().describe('Name of the attached file.'),
  })
  .meta({ id: 'PlannedMessage' });
export type DelayedMessage = z.infer<typeof DelayedMessage>;

/** Routes for delayed messages: users see their own, administrators see all. */
export const pushDelayedApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/push/planned',
    summary: 'Lists delayed messages in the order of their scheduled times. For the next page, set `after` to `next`.',
    access: 'objects',
    query: z.object({
      after: z
        .string()
        .regex(/^\d{1,12}\.\d{1,15}$/)
        .optional(),
      limit: z.coerce.number().int().min(1).max(500).default(200),
    }),
    reply: z.object({
      messages: z.array(DelayedMessage),
      next: z.string().nullable(),
      /** Total number over all pages. */
      total: z.int(),
    }),
  }),
  change: defineRoute({
    method: 'PATCH',
    path: '/api/push/planned/:id',
    summary: "Changes the scheduled time of a delayed message. The format is the same as for a message's delay.",
    access: 'objects',
    body: z.object({ at: z.string().trim().min(1, { error: m.timeMissing }).max(100) }),
    reply: DelayedMessage,
  }),
  publish: defineRoute({
    method: 'POST',
    path: '/api/push/planned/:id/publish',
    summary: 'Publishes a delayed message now.',
    access: 'objects',
    reply: z.object({ ok: z.literal(true) }),
  }),
  cancel: defineRoute({
    method: 'DELETE',
    path: '/api/push/planned/:id',
    summary: 'Permanently deletes a delayed message.',
    access: 'objects',
    reply: z.object({ ok: z.literal(true) }),
  }),
};
