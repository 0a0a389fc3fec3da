import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';

/** Load of the computer at one time; sizes in bytes, times in ms since the epoch. */
export const MachineSample = z
  .object({
    at: z.number(),
    cpu: z
      .number()
      .nullable()
      .describe(
        'CPU use since the previous sample, from 0 to 1 for all processors together. Null without a previous ' +
          'sample.',
      ),
    memory: z.number().describe('Memory used by all programs.'),
    own: z.number().describe('Memory used by Homeport.'),
    disk: z
      .number()
      .nullable()
      .describe('Disk space used on the volume with the data folder. Null if the system does not report it.'),
  })
  .meta({ id: 'MachineSample' });
export type MachineSample = z.infer<typeof MachineSample>;

/** Routes about the computer that Homeport runs on. */
export const machineApi = {
  history: defineRoute({
    method: 'GET',
    path: '/api/machine/history',
    summary:
      'Returns the CPU, memory and disk use of the computer over the last 24 hours, for the time that Homeport ' +
      'was running.',
    access: 'admin',
    reply: z.object({
      /** Total in bytes. */
      memory: z.number(),
      disk: z.number().nullable(),
      /** Oldest first; the last sample is the current one. */
      samples: z.array(MachineSample),
      /** Samples of the 24 hours before, oldest first, for a comparison. */
      previous: z.array(MachineSample),
    }),
  }),
};

/** Published when the computer resumed from sleep; timers by the clock are checked again. */
export const computerResumed = defineTopic('control.woke', z.object({}));
