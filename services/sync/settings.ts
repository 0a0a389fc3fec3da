import { z } from 'zod';

/** Schema of the section `services.sync`. */
export const Settings = z.object({
  idleSeconds: z.int().min(1).max(86_400).default(60).meta({
    live: true,
    unit: 'seconds',
    title: 'Stop rclone after',
    description: 'Stops rclone when it has had no work for this time. It starts again when it is needed.',
  }),
  bandwidth: z
    .string()
    .max(500)
    .regex(
      /^(?:off|[\d.]+[bkmgBKMG]?(?::[\d.]+[bkmgBKMG]?)?|(?:(?:(?:mon|tue|wed|thu|fri|sat|sun)-)?[0-2]\d:[0-5]\d,(?:off|[\d.]+[bkmgBKMG]?(?::[\d.]+[bkmgBKMG]?)?)(?:\s+|$))+)?$/i,
      'Write a rate such as 2M or 1M:500k, or a timetable such as 08:00,512k 18:00,10M 23:00,off.',
    )
    .default('')
    .meta({
      live: true,
      title: 'Bandwidth',
      description:
        'Limit for all transfers together in bytes per second: 2M, or 1M:500k for up and down, or a timetable such as ' +
        '08:00,512k 23:00,off. Running transfers follow a change. Leave empty for no limit.',
    }),
  maxDeletes: z.int().min(0).max(10_000_000).default(50).meta({
    live: true,
    unit: 'files',
    title: 'Deletes without asking',
    description: 'A saved sync that would delete more files than this waits until somebody has looked at them.',
  }),
  maxDeletePercent: z.int().min(0).max(100).default(20).meta({
    live: true,
    unit: '%',
    title: 'Deletes without asking, as a share',
    description: 'The same, of all files that are at the destination.',
  }),
  keepDays: z.int().min(1).max(36_500).default(90).meta({
    live: true,
    unit: 'days',
    title: 'Keep history for',
    description: 'Older runs are forgotten.',
  }),
  keepReplacedDays: z.int().min(1).max(36_500).default(30).meta({
    live: true,
    unit: 'days',
    title: 'Keep replaced files for',
    description: 'So long what a saved sync replaced or deleted can be put back, where it keeps that.',
  }),
});
export type Settings = z.infer<typeof Settings>;

export const environment: Readonly<Record<string, keyof Settings>> = {
  SYNC_IDLE_SECONDS: 'idleSeconds',
  SYNC_BANDWIDTH: 'bandwidth',
  SYNC_MAX_DELETES: 'maxDeletes',
};
