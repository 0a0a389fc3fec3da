import { z } from 'zod';

/** What happens when a stream does not play, in the peer's words. */
export const Failover = z.looseObject({
  enabled: z.boolean().nullish(),
  /** Of what others may be taken; only debrid services are played from here. */
  contentTypes: z.array(z.string().max(60)).max(20).nullish(),
  /** After the stream that was chosen. */
  maxAttempts: z.number().min(1).nullish(),
  /** No other is begun later than so many ms. */
  maxWaitMs: z.number().min(0).nullish(),
});

const usualAttempts = 3;
const mostAttempts = 10;
/** Players give up after about half a minute without a byte. */
const usualWaitMs = 20_000;

/** How many others are tried, and how long. */
export interface FailoverLimits {
  readonly attempts: number;
  readonly waitMs: number;
}

/** Undefined: what does not play says why, and nothing else is tried. */
export function failoverOf(failover: z.infer<typeof Failover> | null | undefined): FailoverLimits | undefined {
  if (failover?.enabled !== true) return undefined;
  const { contentTypes, maxAttempts, maxWaitMs } = failover;
  if (contentTypes?.includes('debrid') === false) return undefined;
  return { attempts: Math.min(maxAttempts ?? usualAttempts, mostAttempts), waitMs: maxWaitMs ?? usualWaitMs };
}
