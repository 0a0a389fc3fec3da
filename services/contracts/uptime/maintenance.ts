import * as m from '#messages/uptime-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayRead, mayWrite } from '../route-access.ts';

/** Strategies of a maintenance window, named as in Uptime Kuma. */
export const strategies = [
  'manual',
  'single',
  'recurring-interval',
  'recurring-weekday',
  'recurring-day-of-month',
  'cron',
] as const;
const sameAsServer = 'SAME_AS_SERVER';

const flag = z.union([z.boolean(), z.literal([0, 1]).transform((value) => value === 1)]);
const toInteger = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
/** `2026-03-29 02:00:00` in the zone of the window; the format of forms (`2026-03-29T02:00`) is accepted as well. */
const LocalTime = z
  .string()
  .trim()
  .regex(/^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/, { error: m.timeInvalid })
  .transform((text) => `${text.slice(0, 10)} ${text.slice(11, 19) || '00:00'}`)
  .transform((text) => (text.length === 16 ? `${text}:00` : text))
  .refine((text) => new Date(`${text.replace(' ', 'T')}Z`).toJSON()?.slice(0, 10) === text.slice(0, 10), {
    error: m.dayInvalid,
  });
const TimeOfDay = z.object({
  hours: toInteger(0, 23),
  minutes: toInteger(0, 59),
  seconds: toInteger(0, 59).default(0),
});
const DayOfMonth = z.union([toInteger(1, 31), z.enum(['lastDay1', 'lastDay2', 'lastDay3', 'lastDay4'])]);
const Ids = z.array(z.int().positive()).max(5000);

/** Editable fields of a maintenance window. */
export const MaintenanceConfig = z.object({
  title: z.string().trim().min(1).max(150),
  description: z
    .string()
    .max(10_000)
    .nullish()
    .transform((text) => text ?? ''),
  strategy: z.enum(strategies),
  active: flag.default(true),
  intervalDay: toInteger(1, 3650).default(1),
  dateRange: z
    .array(LocalTime.nullable())
    .max(2)
    .default([])
    .transform((list) => list.filter((text) => text !== null)),
  timeRange: z
    .array(TimeOfDay)
    .max(2)
    .default([
      { hours: 2, minutes: 0, seconds: 0 },
      { hours: 3, minutes: 0, seconds: 0 },
    ]),
  weekdays: z.array(toInteger(0, 6)).max(7).default([]),
  daysOfMonth: z.array(DayOfMonth).max(35).default([]),
  cron: z
    .string()
    .max(200)
    .nullish()
    .transform((text) => text ?? ''),
  durationMinutes: z.coerce.number().min(0).max(527_040).default(60),
  timezoneOption: z
    .string()
    .max(100)
    .nullish()
    .transform((zone) => (zone === null || zone === undefined || zone === '' ? sameAsServer : zone)),
  monitors: Ids.default([]),
  statusPages: Ids.default([]),
  reminders: z
    .array(z.number().min(0).max(31_536_000))
    .max(20)
    .default([86_400, 3600])
    .describe('Times of the reminders, in seconds before the start.'),
  notifyStart: flag.default(false),
  notifyEnd: flag.default(false),
});
export type MaintenanceConfig = z.infer<typeof MaintenanceConfig>;

/** Uptime Kuma's statuses of a maintenance window. */
export const maintenanceStatuses = ['inactive', 'scheduled', 'under-maintenance', 'ended', 'unknown'] as const;
const Slot = z.object({ startDate: z.string(), endDate: z.string().nullable() });

/** Maintenance window with its current state and next occurrence. */
export const Maintenance = z
  .object({
    id: z.int(),
    ...MaintenanceConfig.shape,
    description: z.string(),
    dateRange: z.array(z.string()),
    cron: z.string(),
    timezoneOption: z.string(),
    duration: z.number().nullable().describe('In seconds.'),
    timezone: z.string(),
    timezoneOffset: z.string(),
    status: z.enum(maintenanceStatuses),
    timeslotList: z.array(Slot),
    upcoming: z.array(Slot).describe('Next occurrences, including the current one, in ISO 8601 format.'),
  })
  .meta({ id: 'UptimeMaintenance' });
export type Maintenance = z.infer<typeof Maintenance>;

const Done = z.object({ ok: z.literal(true) });
const read = mayRead('uptime');
const write = mayWrite('uptime');

/** Routes for maintenance windows. */
export const maintenanceApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/uptime/maintenances',
    summary: 'Lists all maintenance windows.',
    access: read,
    reply: z.object({ items: z.array(Maintenance) }),
  }),
  add: defineRoute({
    method: 'POST',
    path: '/api/uptime/maintenances',
    summary: 'Adds a maintenance window. During the window, its monitors are not checked and cause no notifications.',
    access: write,
    body: MaintenanceConfig,
    reply: Maintenance,
  }),
  one: defineRoute({
    method: 'GET',
    path: '/api/uptime/maintenances/:id',
    summary: 'Returns a maintenance window.',
    access: read,
    reply: Maintenance,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: '/api/uptime/maintenances/:id',
    summary: 'Changes the fields in the request. A running window ends or continues accordingly.',
    access: write,
    body: z.record(z.string(), z.unknown()),
    reply: Maintenance,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/maintenances/:id',
    summary: 'Deletes a maintenance window.',
    access: write,
    reply: Done,
  }),
  pause: defineRoute({
    method: 'POST',
    path: '/api/uptime/maintenances/:id/pause',
    summary: 'Pauses a maintenance window.',
    access: write,
    reply: Done,
  }),
  resume: defineRoute({
    method: 'POST',
    path: '/api/uptime/maintenances/:id/resume',
    summary: 'Resumes a maintenance window.',
    access: write,
    reply: Done,
  }),
};
