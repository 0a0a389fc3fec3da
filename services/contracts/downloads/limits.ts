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
      .describe('Total speed limit in bytes per second; null for no limit.'),
    hours: z
      .array(QuietHours)
      .max(50)
      .default([])
      .describe(
        "Download hours in the computer's local time, such as `mon-fri 22:00-07:00`. An empty list allows " +
          'downloads at any time.',
      ),
  })
  .meta({ id: 'DownloadLimits' });
export type DownloadLimits = z.infer<typeof DownloadLimits>;

/** The limits and their current effect. */
export const CurrentLimits = z.object({
  limits: DownloadLimits,
  open: z.boolean().describe('True if downloads can run now.'),
  changesAt: z
    .number()
    .nullable()
    .describe('Time when `open` changes next, in ms since the epoch; null if it does not change.'),
});
export type CurrentLimits = z.infer<typeof CurrentLimits>;

/** Published when the limits changed, or the scheduled hours began or ended. */
export const downloadLimitsChanged = defineTopic('downloads.limits', CurrentLimits, { shared: true });
