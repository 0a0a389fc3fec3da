import * as m from '#messages/push-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { Priority, TopicName } from './topics.ts';

const ms = z.number().int().describe('ms since the epoch');
const rule = z.string().trim().min(1, { error: m.scheduleTimeMissing }).max(100);
const zone = z.string().min(1).max(64).describe('A time zone name such as Europe/Berlin.');

/** Content and times of a recurring message. */
export const ScheduleForm = z.object({
  topic: TopicName,
  title: z.string().max(250).default(''),
  message: z.string().min(1, { error: m.messageMissing }).max(16_384),
  priority: Priority.default(3),
  tags: z.array(z.string().min(1).max(100)).max(50).default([]),
  click: z.url({ protocol: /^https?$/, error: m.urlInvalid }).optional(),
  markdown: z.boolean().default(false),
  /** Cron expression with five fields: minute, hour, day of the month, month, day of the week. */
  rule,
  zone,
  /** Earliest time. */
  starts: ms.nullable().default(null),
  /** Latest time. */
  ends: ms.nullable().default(null),
  /** Handling of runs that were missed while the service was stopped: skip them, or run once. */
  missed: z.enum(['skip', 'once']).default('once'),
  enabled: z.boolean().default(true),
});
export type ScheduleForm = z.infer<typeof ScheduleForm>;

/** Stored schedule that publishes a message regularly. */
export const PushSchedule = ScheduleForm.extend({
  id: z.string(),
  /** Account whose grants are checked at each run. */
  account: z.string(),
  /** Description of the rule. */
  words: z.string(),
  /** Next run; null when disabled or finished. */
  next: ms.nullable(),
  /** Last due run. */
  last: ms.nullable(),
  /** Reason why the last run published nothing; else empty. */
  error: z.string(),
}).meta({ id: 'PushSchedule' });
export type PushSchedule = z.infer<typeof PushSchedule>;

const ok = z.object({ ok: z.literal(true) });

/** Routes for recurring messages: users see their own schedules, administrators see all. */
export const pushSchedulesApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/push/schedules',
    summary: 'Lists schedules, newest first. For the next page, set `before` to `next`.',
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
    summary: 'Describes a rule in words, and returns its next runs.',
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
    summary: "Creates a schedule that belongs to the caller's account.",
    access: 'objects',
    body: ScheduleForm,
    reply: PushSchedule,
  }),
  change: defineRoute({
    method: 'PUT',
    path: '/api/push/schedules/:id',
    summary: 'Replaces the content and times of a schedule. Its owner does not change.',
    access: 'objects',
    body: ScheduleForm,
    reply: PushSchedule,
  }),
  enable: defineRoute({
    method: 'PUT',
    path: '/api/push/schedules/:id/enabled',
    summary: 'Enables or disables a schedule. Runs that were due while it was disabled are not made up for.',
    access: 'objects',
    body: z.object({ enabled: z.boolean() }),
    reply: PushSchedule,
  }),
  run: defineRoute({
    method: 'POST',
    path: '/api/push/schedules/:id/run',
    summary: 'Publishes the message of a schedule now, in addition to its scheduled runs.',
    access: 'objects',
    reply: ok,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/push/schedules/:id',
    summary: 'Deletes a schedule.',
    access: 'objects',
    reply: ok,
  }),
};
