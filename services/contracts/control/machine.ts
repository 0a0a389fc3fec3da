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
        'Share of all processors that was busy since the sample before, 0 to 1; null where there is none before.',
      ),
    memory: z.number().describe('Taken by all programs.'),
    own: z.number().describe('Taken by Homeport itself.'),
    disk: z.number().nullable().describe('Taken where the data folder is; null where the system does not tell.'),
  })
  .meta({ id: 'MachineSample' });
export type MachineSample = z.infer<typeof MachineSample>;

/** Routes about the computer that Homeport runs on. */
export const machineApi = {
  history: defineRoute({
    method: 'GET',
    path: '/api/machine/history',
    summary: 'How busy the machine was and what was taken of it in the last 24 hours, as far as Homeport ran.',
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
