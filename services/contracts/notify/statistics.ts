import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** How one destination of a key fared. */
export const NotifyDestinationStatistics = z.object({
  key: z.string(),
  line: z.int(),
  /** Its fingerprint, as in the key. */
  id: z.string(),
  /** Deliveries made, by day of their notice. */
  done: z.array(z.int()),
  /** Deliveries given up, by day of their notice. */
  dead: z.array(z.int()),
  /** From accepting a notice to the destination's confirmation, in ms, over the last seven days; null without one. */
  p50: z.number().nullable(),
  p95: z.number().nullable(),
});
export type NotifyDestinationStatistics = z.infer<typeof NotifyDestinationStatistics>;

/** Deliveries that are not made for the same reason. */
export const NotifyProblem = z.object({
  /** What the destination said last, as a sentence. */
  cause: z.string(),
  /** The kinds of destinations it stands at. */
  services: z.array(z.string()),
  /** Deliveries that are tried again by themselves. */
  waiting: z.int(),
  /** Deliveries that were given up and can be tried again. */
  dead: z.int(),
  latest: z.number().describe('ms since the epoch'),
  nextAt: z
    .number()
    .nullable()
    .describe('When the first of those that wait is tried again, in ms since the epoch; null where none waits.'),
});
export type NotifyProblem = z.infer<typeof NotifyProblem>;

/** What became of the deliveries whose notices came in one hour. */
export const NotifyHour = z.object({
  at: z.number().describe('its first moment, ms since the epoch'),
  done: z.int(),
  dead: z.int(),
  waiting: z.int(),
  /** From accepting to confirmation, in ms; null without a delivery. */
  p50: z.number().nullable(),
  p95: z.number().nullable(),
});
export type NotifyHour = z.infer<typeof NotifyHour>;

export const notifyStatistics = defineRoute({
  method: 'GET',
  path: '/api/notify/statistics',
  summary:
    'How the destinations fare: by day and by hour, how long deliveries take, and what is not delivered and why.',
  access: 'admin',
  reply: z.object({
    /** Local days such as `2026-11-21`, today last. */
    days: z.array(z.string()),
    destinations: z.array(NotifyDestinationStatistics),
    /** The last 24, the current one last. */
    hours: z.array(NotifyHour),
    problems: z.array(NotifyProblem),
  }),
});
