import type { JobAttempt } from '../../../services/contracts/jobs.ts';
import type { KindState } from './kind-state.ts';
import type { JobRow } from './table.ts';

/** Outcome of an attempt. `returned`: the worker stops, or another one has the job; the attempt does not count. */
export type Outcome = { readonly row: JobRow } & (
  | { readonly how: 'returned' }
  | { readonly how: 'done'; readonly result: unknown }
  | {
      readonly how: 'retried';
      readonly error: unknown;
      readonly reason: string;
      readonly runAt: number;
      /** The job leaves its order key. */
      readonly aside: boolean;
    }
  | {
      readonly how: 'dead';
      readonly error: unknown;
      readonly reason: string;
      readonly attempt: Omit<JobAttempt<any>, 'signal'> | undefined;
    }
);

/** End of an attempt. */
export interface JobEnd {
  readonly kindState: KindState;
  readonly outcome: Outcome;
  /** The end is in the journal: its effects have happened, and the table is updated later. */
  readonly journaled: boolean;
  /** The next job of its order key has started. */
  isFollowed?: boolean;
}
