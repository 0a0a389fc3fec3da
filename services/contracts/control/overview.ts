import { z } from 'zod';
import { RecentEvent } from '../recent-activity.ts';

/** Hourly activity of a service, by the counter that its manifest selects. */
export const Pulse = z
  .object({
    service: z.string(),
    /** Total of the hours: `11 messages in 24 hours`. */
    total: z.string(),
    hours: z.array(z.number()).describe('Values for the last 24 hours, oldest first; the last one is incomplete.'),
  })
  .meta({ id: 'Pulse' });
export type Pulse = z.infer<typeof Pulse>;

/** Recent event with the id of its service. */
export const HostActivityEvent = RecentEvent.extend({ service: z.string() }).meta({ id: 'HostActivityEvent' });
export type HostActivityEvent = z.infer<typeof HostActivityEvent>;

/** Free resources of the computer that Homeport runs on. */
export const Machine = z
  .object({
    cpu: z.number().describe('CPU use since the previous measurement, from 0 to 1 for all processors together.'),
    memory: z
      .object({ total: z.number(), free: z.number(), own: z.number() })
      .describe('In bytes; `own` is the memory used by Homeport.'),
    disk: z
      .object({ total: z.number(), free: z.number() })
      .nullable()
      .describe('In bytes, for the volume with the data folder. Null if the system does not report it.'),
  })
  .meta({ id: 'Machine' });
export type Machine = z.infer<typeof Machine>;
