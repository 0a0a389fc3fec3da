import { z } from 'zod';
import { RecentEvent } from '../recent-activity.ts';

/** Hourly activity of a service, by the counter that its manifest selects. */
export const Pulse = z
  .object({
    service: z.string(),
    /** Total of the hours: `11 messages in 24 hours`. */
    total: z.string(),
    hours: z.array(z.number()).describe('Of the last 24 hours, oldest first; the last one is not over yet.'),
  })
  .meta({ id: 'Pulse' });
export type Pulse = z.infer<typeof Pulse>;

/** Recent event with the id of its service. */
export const HostActivityEvent = RecentEvent.extend({ service: z.string() }).meta({ id: 'HostActivityEvent' });
export type HostActivityEvent = z.infer<typeof HostActivityEvent>;

/** Free resources of the computer that Homeport runs on. */
export const Machine = z
  .object({
    cpu: z.number().describe('Share of all processors that was busy since the look before, 0 to 1.'),
    memory: z.object({ total: z.number(), free: z.number(), own: z.number() }).describe('Bytes; `own`: of the host.'),
    disk: z
      .object({ total: z.number(), free: z.number() })
      .nullable()
      .describe('Bytes, where the data folder is; null where the system does not tell.'),
  })
  .meta({ id: 'Machine' });
export type Machine = z.infer<typeof Machine>;
