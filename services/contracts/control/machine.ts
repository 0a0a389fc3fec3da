import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';

/** How the machine was at a moment; bytes, and ms since the epoch. */
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

/** Our own API around the machine that Homeport runs on. */
export const machineApi = {
  history: defineRoute({
    method: 'GET',
    path: '/api/machine/history',
    summary: 'How busy the machine was and what was taken of it in the last 24 hours, as far as Homeport ran.',
    access: 'admin',
    reply: z.object({
      /** What there is in all, bytes. */
      memory: z.number(),
      disk: z.number().nullable(),
      /** Oldest first; the last one is of now. */
      samples: z.array(MachineSample),
    }),
  }),
};

/** The machine was asleep: what goes by the clock is looked at anew. */
export const computerResumed = defineTopic('control.woke', z.object({}));
