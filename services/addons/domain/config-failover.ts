import { z } from 'zod';

/** Failover options with the names of the peer. */
export const Failover = z.looseObject({
  enabled: z.boolean().nullish(),
  /** Types of streams that may be used instead. Only debrid streams are supported. */
  contentTypes: z.array(z.string().max(60)).max(20).nullish(),
  /** Attempts after the selected stream. */
  maxAttempts: z.number().min(1).nullish(),
  /** Time after which no further attempt starts, in milliseconds. */
  maxWaitMs: z.number().min(0).nullish(),
});

const usualAttempts = 3;
const mostAttempts = 10;
/** Players give up after about 30 seconds without data. */
const usualWaitMs = 20_000;

/** Limits of a failover. */
export interface FailoverLimits {
  readonly attempts: number;
  readonly waitMs: number;
}

/** Returns the limits, or undefined when failover is disabled. */
export function failoverOf(failover: z.infer<typeof Failover> | null | undefined): FailoverLimits | undefined {
  if (failover?.enabled !== true) return undefined;
  const { contentTypes, maxAttempts, maxWaitMs } = failover;
  if (contentTypes?.includes('debrid') === false) return undefined;
  return { attempts: Math.min(maxAttempts ?? usualAttempts, mostAttempts), waitMs: maxWaitMs ?? usualWaitMs };
}
