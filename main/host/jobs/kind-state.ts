import type { JobAttempt, JobHandlerOptions, JobKind } from '../../../services/contracts/jobs.ts';

/** Job kind with a handler in this process. */
export interface KindState {
  readonly kind: JobKind<any>;
  readonly handler: (attempt: JobAttempt<any>) => Promise<unknown>;
  readonly handling: JobHandlerOptions<any, any>;
  /** Number of free slots. */
  free: number;
  /** A job may be due. */
  due: boolean;
  /** There may be unreported dead letters. */
  unreported: boolean;
  /** A claim for all slots that were free at its start is running. */
  claiming: boolean;
}

const defaultConcurrency = 4;

export function openKindState(input: Pick<KindState, 'kind' | 'handler' | 'handling'>): KindState {
  const free = input.kind.concurrency ?? defaultConcurrency;
  return { ...input, free, due: true, unreported: input.handling.onDead !== undefined, claiming: false };
}
