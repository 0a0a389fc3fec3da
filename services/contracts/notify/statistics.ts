import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** Delivery results of one destination of a key. */
export const NotifyDestinationStatistics = z.object({
  key: z.string(),
  line: z.int(),
  /** Fingerprint as in the key. */
  id: z.string(),
  /** Successful deliveries by day of the notification. */
  done: z.array(z.int()),
  /** Failed deliveries by day of the notification. */
  dead: z.array(z.int()),
  /** All ended deliveries of the 30 days before by day; null when the history does not store that many days. */
  previous: z.array(z.int()).nullable(),
  /** Median time from acceptance to confirmation over the last seven days, in ms; null without a delivery. */
  p50: z.number().nullable(),
  p95: z.number().nullable(),
});
export type NotifyDestinationStatistics = z.infer<typeof NotifyDestinationStatistics>;

/**
 * Stable code of a failure that the pages or the outbox handle. `own_address`: the destination leads back to Homeport;
 * `address_refused`: the settings do not allow the address; `sign_in`: the mail server rejects user or password; `too_large`: the response exceeds
 * the limit; `request_failed`: any other failure of a request; `no_room`: the account of Matrix is in no room.
 */
export const NotifyFailureCode = z.enum([
  'unknown_host',
  'refused',
  'unreachable',
  'timeout',
  'reset',
  'untrusted',
  'own_address',
  'address_refused',
  'invalid_address',
  'sign_in',
  'needs_engine',
  'engine_failed',
  'too_large',
  'request_failed',
  'mail_refused',
  'publish_failed',
  'unexpected_reply',
  'no_room',
  'unknown_topic',
  'unknown_key',
]);
export type NotifyFailureCode = z.infer<typeof NotifyFailureCode>;

/** Deliveries that fail for the same reason. */
export const NotifyProblem = z.object({
  /** Latest response of the destination, as a sentence. */
  cause: z.string(),
  /** Code of the failure, if it has one. */
  code: NotifyFailureCode.optional(),
  /** Affected kinds of destinations. */
  services: z.array(z.string()),
  /** Deliveries that are retried automatically. */
  waiting: z.int(),
  /** Failed deliveries that can be retried manually. */
  dead: z.int(),
  latest: z.number().describe('ms since the epoch'),
  nextAt: z
    .number()
    .nullable()
    .describe(
      'Time of the earliest next attempt of the waiting deliveries, in ms since the epoch; null if none is ' +
        'waiting.',
    ),
});
export type NotifyProblem = z.infer<typeof NotifyProblem>;

/** Results of the deliveries whose notifications arrived in one hour. */
export const NotifyHour = z.object({
  at: z.number().describe('Start of the hour, in ms since the epoch.'),
  done: z.int(),
  dead: z.int(),
  waiting: z.int(),
  /** Median time from acceptance to confirmation in ms; null without a delivery. */
  p50: z.number().nullable(),
  p95: z.number().nullable(),
});
export type NotifyHour = z.infer<typeof NotifyHour>;

/** Route for the statistics of the Delivery page. */
export const notifyStatistics = defineRoute({
  method: 'GET',
  path: '/api/notify/statistics',
  summary:
    'Returns statistics about deliveries: results by day and by hour, delivery times, and undelivered ' +
    'notifications with the reasons.',
  access: 'admin',
  reply: z.object({
    /** Local days such as `2026-11-21`, today last. */
    days: z.array(z.string()),
    destinations: z.array(NotifyDestinationStatistics),
    /** The last 24 hours, the current one last. */
    hours: z.array(NotifyHour),
    /** The same hours a day earlier; null when the history stores only one day. */
    previousHours: z.array(NotifyHour).nullable(),
    problems: z.array(NotifyProblem),
  }),
});
