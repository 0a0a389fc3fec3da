import { z } from 'zod';
import { defineTopic } from '../bus.ts';
import { QuietHours } from '../quiet-hours.ts';

/** Speed and schedule of downloads. */
export const DownloadLimits = z
  .object({
    speed: z
      .int()
      .min(1024)
      .max(1_000_000_000_000)
      .nullable()
      .default(null)
      .describe('Bytes a second of all downloads together; null: as fast as it goes.'),
    hours: z
      .array(QuietHours)
      .max(50)
      .default([])
      .describe("Downloads run only then, by this machine's clock, such as `mon-fri 22:00-07:00`. None: at any hour."),
  })
  .meta({ id: 'DownloadLimits' });
export type DownloadLimits = z.infer<typeof DownloadLimits>;

/** The limits and their current effect. */
export const CurrentLimits = z.object({
  limits: DownloadLimits,
  open: z.boolean().describe('Downloads may run now.'),
  changesAt: z.number().nullable().describe('When that changes, in ms since the epoch; null: never.'),
});
export type CurrentLimits = z.infer<typeof CurrentLimits>;

/** Published when the limits changed, or the scheduled hours began or ended. */
export const downloadLimitsChanged = defineTopic('downloads.limits', CurrentLimits, { shared: true });
