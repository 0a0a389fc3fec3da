import type { PlannedJob, Turnout } from './program.ts';

/** What was seen of an engine, in the order in which it happened; `n` is the number of a job. */
export type Event =
  | { readonly what: 'life' }
  /** The process was killed, and perhaps in the middle of something. */
  | { readonly what: 'killed' }
  /** A job is being enqueued. */
  | { readonly what: 'call'; readonly n: number; readonly job: PlannedJob; readonly host: number }
  /** It is stored; where the engine told, its id. */
  | { readonly what: 'ack'; readonly n: number; readonly id?: string }
  /** It is not stored, or in doubt. */
  | { readonly what: 'refused'; readonly n: number }
  /** Its transaction was rolled back. */
  | { readonly what: 'undone'; readonly n: number }
  | { readonly what: 'begin'; readonly n: number; readonly inLine: boolean; readonly attempt: number }
  /** `age`: since it was enqueued, in ms. `aborted`: the host stops, or another one has the job. */
  | { readonly what: 'end'; readonly n: number; readonly how: Turnout['how'] | 'aborted'; readonly age: number }
  /** `onDone` and `onDead`. */
  | { readonly what: 'stored' | 'dead'; readonly n: number }
  | { readonly what: 'retrying'; readonly n: number }
  | { readonly what: 'dropping'; readonly n: number }
  /** Undefined: in doubt. */
  | { readonly what: 'dropped'; readonly n: number; readonly dropped: boolean | undefined }
  | { readonly what: 'fault'; readonly how: 'refuse' | 'doubt' | 'disk' }
  /** An end of the program's last life, after all that could happen has happened. */
  | {
      readonly what: 'over';
      readonly rows: readonly { readonly id: string; readonly kind: string; readonly state: string }[];
      readonly recorded: readonly number[];
    }
  /** Counts as a moment at which a process may be killed. */
  | { readonly what: 'moment' };

export type Record = (event: Event) => void;
