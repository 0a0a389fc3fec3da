import type { JobAttempt } from '../../../services/contracts/jobs.ts';
import type { KindState } from './kind-state.ts';
import type { JobRow } from './table.ts';

/** What becomes of a job after an attempt. `returned`: the worker stops, or another has the job; it does not count. */
export type Outcome = { readonly row: JobRow } & (
  | { readonly how: 'returned' }
  | { readonly how: 'done'; readonly result: unknown }
  | {
      readonly how: 'retried';
      readonly error: unknown;
      readonly reason: string;
      readonly runAt: number;
      /** It leaves its order key. */
      readonly aside: boolean;
    }
  | {
      readonly how: 'dead';
      readonly error: unknown;
      readonly reason: string;
      readonly attempt: Omit<JobAttempt<any>, 'signal'> | undefined;
    }
);

/** The end of an attempt. */
export interface JobEnd {
  readonly kindState: KindState;
  readonly outcome: Outcome;
  /** It stands in the journal: all that follows has happened, and the table is told when it suits. */
  readonly journaled: boolean;
  /** The next of its order key has begun. */
  followed?: boolean;
}
