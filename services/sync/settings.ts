import { z } from 'zod';

/** Schema of the section `services.sync`. */
export const Settings = z.object({
  idleSeconds: z.int().min(1).max(86_400).default(60).meta({
    live: true,
    unit: 'seconds',
    title: 'Idle timeout of rclone',
    description: 'Stops rclone after this time without work. It starts again when needed.',
  }),
  bandwidth: z
    .string()
    .max(500)
    .regex(
      /^(?:off|[\d.]+[bkmgBKMG]?(?::[\d.]+[bkmgBKMG]?)?|(?:(?:(?:mon|tue|wed|thu|fri|sat|sun)-)?[0-2]\d:[0-5]\d,(?:off|[\d.]+[bkmgBKMG]?(?::[\d.]+[bkmgBKMG]?)?)(?:\s+|$))+)?$/i,
      'Use a rate such as 2M or 1M:500k, or a schedule such as 08:00,512k 18:00,10M 23:00,off.',
    )
    .default('')
    .meta({
      live: true,
      title: 'Bandwidth limit',
      description:
        'Limit for all transfers together in bytes per second, such as 2M, 1M:500k (upload:download) or a ' +
        'schedule such as 08:00,512k 23:00,off. Changes also apply to running transfers. Leave empty for ' +
        'no limit.',
    }),
  maxDeletes: z.int().min(0).max(10_000_000).default(50).meta({
    live: true,
    unit: 'files',
    title: 'Ask before deleting more than',
    description: 'A saved sync that would delete more files than this waits for approval.',
  }),
  maxDeletePercent: z.int().min(0).max(100).default(20).meta({
    live: true,
    unit: '%',
    title: 'Ask before deleting more than (share)',
    description:
      'A saved sync that would delete more than this share of the files at the destination waits for approval.',
  }),
  keepDays: z.int().min(1).max(36_500).default(90).meta({
    live: true,
    unit: 'days',
    title: 'Keep history for',
    description: 'Older runs are deleted.',
  }),
  keepReplacedDays: z.int().min(1).max(36_500).default(30).meta({
    live: true,
    unit: 'days',
    title: 'Keep replaced files for',
    description: 'How long files that a saved sync replaced or deleted can be restored, if the sync keeps them.',
  }),
});
export type Settings = z.infer<typeof Settings>;

export const environment: Readonly<Record<string, keyof Settings>> = {
  SYNC_IDLE_SECONDS: 'idleSeconds',
  SYNC_BANDWIDTH: 'bandwidth',
  SYNC_MAX_DELETES: 'maxDeletes',
};
