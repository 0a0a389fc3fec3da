import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { Priority, TopicName } from './topics.ts';

const ms = z.number().int().describe('ms since the epoch');
const rule = z.string().trim().min(1, 'Write when it should go out.').max(100);
const zone = z.string().min(1).max(64).describe('A name such as Europe/Berlin.');

/** What a schedule publishes, and when. */
export const ScheduleForm = z.object({
  topic: TopicName,
  title: z.string().max(250).default(''),
  message: z.string().min(1, 'Write a message.').max(16_384),
  priority: Priority.default(3),
  tags: z.array(z.string().min(1).max(100)).max(50).default([]),
  click: z.url({ protocol: /^https?$/, error: 'Use an address that begins with https:// or http://.' }).optional(),
  markdown: z.boolean().default(false),
  /** Five fields as cron has them: minute, hour, day of the month, month, day of the week. */
  rule,
  zone,
  /** Not before. */
  starts: ms.nullable().default(null),
  /** Not after. */
  ends: ms.nullable().default(null),
  /** What becomes of a run that came due while nothing ran: it is left out, or made up for once. */
  missed: z.enum(['skip', 'once']).default('once'),
  enabled: z.boolean().default(true),
});
export type ScheduleForm = z.infer<typeof ScheduleForm>;

export const PushSchedule = ScheduleForm.extend({
  id: z.string(),
  /** Whose grants count at each run. */
  account: z.string(),
  /** The rule in words. */
  words: z.string(),
  /** The next run; null when it is switched off or over. */
  next: ms.nullable(),
  /** The last run that came due. */
  last: ms.nullable(),
  /** Why the last run published nothing; empty when it did. */
  trouble: z.string(),
}).meta({ id: 'PushSchedule' });
export type PushSchedule = z.infer<typeof PushSchedule>;

const ok = z.object({ ok: z.literal(true) });

/** Messages that go out again and again: a person sees the own schedules, an administrator those of all. */
export const pushSchedulesApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/push/schedules',
    summary: 'Schedules, the newest first; page on with `before` set to `next`.',
    access: 'objects',
    query: z.object({
      before: z.coerce.number().int().optional(),
      limit: z.coerce.number().int().min(1).max(500).default(200),
    }),
    reply: z.object({ schedules: z.array(PushSchedule), next: z.int().nullable(), total: z.int() }),
  }),
  preview: defineRoute({
    method: 'GET',
    path: '/api/push/schedules/preview',
    summary: 'A rule in words, and its next runs.',
    access: 'user',
    query: z.object({
      rule,
      zone,
      starts: z.coerce.number().int().optional(),
      ends: z.coerce.number().int().optional(),
    }),
    reply: z.object({ words: z.string(), next: z.array(ms) }),
  }),
  create: defineRoute({
    method: 'POST',
    path: '/api/push/schedules',
    summary: 'Makes a schedule of the own account.',
    access: 'objects',
    body: ScheduleForm,
    reply: PushSchedule,
  }),
  change: defineRoute({
    method: 'PUT',
    path: '/api/push/schedules/:id',
    summary: 'Replaces what a schedule publishes, and when; it stays its account’s.',
    access: 'objects',
    body: ScheduleForm,
    reply: PushSchedule,
  }),
  enable: defineRoute({
    method: 'PUT',
    path: '/api/push/schedules/:id/enabled',
    summary: 'Switches a schedule on or off. What came due while it was off is not made up for.',
    access: 'objects',
    body: z.object({ enabled: z.boolean() }),
    reply: PushSchedule,
  }),
  run: defineRoute({
    method: 'POST',
    path: '/api/push/schedules/:id/run',
    summary: 'Publishes its message now, besides its runs.',
    access: 'objects',
    reply: ok,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/push/schedules/:id',
    summary: 'Removes a schedule.',
    access: 'objects',
    reply: ok,
  }),
};
