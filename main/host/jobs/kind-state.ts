import type { JobAttempt, JobHandlerOptions, JobKind } from '../../../services/contracts/jobs.ts';

/** A kind this process has a handler for. */
export interface KindState {
  readonly kind: JobKind<any>;
  readonly handler: (attempt: JobAttempt<any>) => Promise<unknown>;
  readonly handling: JobHandlerOptions<any, any>;
  /** How many more may run. */
  free: number;
  /** There may be a job to claim now. */
  due: boolean;
  /** There may be dead letters that nobody was told of. */
  untold: boolean;
  /** A claim is under way for all that was free when it began. */
  claiming: boolean;
}

const defaultConcurrency = 4;

export function openKindState(given: Pick<KindState, 'kind' | 'handler' | 'handling'>): KindState {
  const free = given.kind.concurrency ?? defaultConcurrency;
  return { ...given, free, due: true, untold: given.handling.onDead !== undefined, claiming: false };
}
