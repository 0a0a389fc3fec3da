import type { PlannedJob, Turnout } from './program.ts';

/** Observed event of an engine, in order; `n` is the number of a job. */
export type Event =
  | { readonly what: 'life' }
  /** The process was killed, possibly in the middle of an operation. */
  | { readonly what: 'killed' }
  /** A job is being enqueued. */
  | { readonly what: 'call'; readonly n: number; readonly job: PlannedJob; readonly host: number }
  /** It is stored, with its id if known. */
  | { readonly what: 'ack'; readonly n: number; readonly id?: string }
  /** It is not stored, or in doubt. */
  | { readonly what: 'refused'; readonly n: number }
  /** Its transaction was rolled back. */
  | { readonly what: 'undone'; readonly n: number }
  | { readonly what: 'begin'; readonly n: number; readonly inLine: boolean; readonly attempt: number }
  /** `age`: ms since it was enqueued. `aborted`: the host stops, or another one has the job. */
  | { readonly what: 'end'; readonly n: number; readonly how: Turnout['how'] | 'aborted'; readonly age: number }
  /** `onDone` and `onDead`. */
  | { readonly what: 'stored' | 'dead'; readonly n: number }
  | { readonly what: 'retrying'; readonly n: number }
  | { readonly what: 'dropping'; readonly n: number }
  /** Undefined: in doubt. */
  | { readonly what: 'dropped'; readonly n: number; readonly dropped: boolean | undefined }
  | { readonly what: 'fault'; readonly how: 'refuse' | 'doubt' | 'disk' }
  /** End of the program's last life, after everything possible has happened. */
  | {
      readonly what: 'over';
      readonly rows: readonly { readonly id: string; readonly kind: string; readonly state: string }[];
      readonly recorded: readonly number[];
    }
  /** Moment at which a process may be killed. */
  | { readonly what: 'moment' };

export type Record = (event: Event) => void;
