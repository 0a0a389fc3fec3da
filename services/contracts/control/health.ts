import { z } from 'zod';

/**
 * Readiness of a host for requests. Anybody who can reach a listener may read it, so it names the kind of the problem only.
 */
export const Readiness = z
  .discriminatedUnion('status', [
    z.object({ status: z.literal('ready') }),
    z.object({
      status: z.literal('unavailable'),
      reason: z.enum(['starting', 'draining', 'database', 'services']),
    }),
  ])
  .meta({ id: 'Readiness' });
export type Readiness = z.infer<typeof Readiness>;
