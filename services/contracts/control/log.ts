import { z } from 'zod';

/** Record of the main log. `time` is in milliseconds since the epoch. */
export const LogLine = z.object({
  time: z.number(),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  service: z.string(),
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
      'For the next question: there are earlier lines, or the files were not read to their end. Null: this is all.',
    ),
});
export type LogReply = z.infer<typeof LogReply>;
