import { z } from 'zod';
import type { SecurityEventName } from './security-log.ts';

/** Events that the Log page describes in its own words. Log messages are for developers and may change. */
export const LogEvent = z.enum([
  'backup_written',
  'delivery_failed',
  'destinations_removed',
  'destinations_saved',
  'event_loop_blocked',
  'event_loop_delayed',
  'host_ready',
  'job_failed',
  'job_retry_scheduled',
  'request_failed',
  'settings_saved',
  'sleep_detected',
  'vault_key_created',
]);
export type LogEvent = z.infer<typeof LogEvent>;

/** Fields of a log entry. Secrets are removed by the log. */
export interface LogFields {
  readonly event?: LogEvent | SecurityEventName;
  readonly [name: string]: unknown;
}

/** Record of the main log. `time` is in milliseconds since the epoch. */
export const LogLine = z.object({
  time: z.number(),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  service: z.string(),
  event: LogEvent.optional(),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()),
});
export type LogLine = z.infer<typeof LogLine>;

/** Page of the log. */
export const LogReply = z.object({
  /** Oldest first. */
  lines: z.array(LogLine),
  cursor: z
    .string()
    .nullable()
    .describe(
      'Cursor for the next request if there are earlier lines, or if the files were not read completely. Null ' +
        'at the end.',
    ),
});
export type LogReply = z.infer<typeof LogReply>;
