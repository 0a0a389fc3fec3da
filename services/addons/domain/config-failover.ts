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

const defaultAttempts = 3;
const maxAllowedAttempts = 10;
/** Players give up after about 30 seconds without data. */
const defaultWaitMs = 20_000;

/** Limits of a failover. */
export interface FailoverLimits {
  readonly attempts: number;
  readonly waitMs: number;
}

/** Returns the limits, or undefined when failover is disabled. */
export function getFailoverLimits(failover: z.infer<typeof Failover> | null | undefined): FailoverLimits | undefined {
  if (failover?.enabled !== true) return undefined;
  const { contentTypes, maxAttempts, maxWaitMs } = failover;
  if (contentTypes?.includes('debrid') === false) return undefined;
  return { attempts: Math.min(maxAttempts ?? defaultAttempts, maxAllowedAttempts), waitMs: maxWaitMs ?? defaultWaitMs };
}
