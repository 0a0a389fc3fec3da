import * as m from '#messages/sync-settings';
import { z } from 'zod';

/** Schema of the section `services.sync`. */
export const Settings = z.object({
  idleSeconds: z.int().min(1).max(86_400).default(60).meta({
    live: true,
    unit: 'seconds',
    label: m.idleSeconds,
    help: m.idleSecondsHelp,
  }),
  bandwidth: z
    .string()
    .max(500)
    .regex(
      /^(?:off|[\d.]+[bkmgBKMG]?(?::[\d.]+[bkmgBKMG]?)?|(?:(?:(?:mon|tue|wed|thu|fri|sat|sun)-)?[0-2]\d:[0-5]\d,(?:off|[\d.]+[bkmgBKMG]?(?::[\d.]+[bkmgBKMG]?)?)(?:\s+|$))+)?$/i,
      { error: m.bandwidthInvalid },
    )
    .default('')
    .meta({
      live: true,
      example: '2M',
      label: m.bandwidth,
      help: m.bandwidthHelp,
    }),
  maxDeletes: z.int().min(0).max(10_000_000).default(50).meta({
    live: true,
    unit: 'files',
    label: m.maxDeletes,
    help: m.maxDeletesHelp,
  }),
  maxDeletePercent: z.int().min(0).max(100).default(20).meta({
    live: true,
    unit: '%',
    label: m.maxDeletePercent,
    help: m.maxDeletePercentHelp,
  }),
  keepDays: z.int().min(1).max(36_500).default(90).meta({
    live: true,
    unit: 'days',
    label: m.keepDays,
    help: m.keepDaysHelp,
  }),
  keepReplacedDays: z.int().min(1).max(36_500).default(30).meta({
    live: true,
    unit: 'days',
    label: m.keepReplacedDays,
    help: m.keepReplacedDaysHelp,
  }),
});
export type Settings = z.infer<typeof Settings>;

export const environment: Readonly<Record<string, keyof Settings>> = {
  SYNC_IDLE_SECONDS: 'idleSeconds',
  SYNC_BANDWIDTH: 'bandwidth',
  SYNC_MAX_DELETES: 'maxDeletes',
};
