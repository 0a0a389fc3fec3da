import type { Attempt, JobHandling, JobKind } from '../../../services/contracts/jobs.ts';
import type { InsertedJob, JobRow } from './table.ts';

/** A kind this process has a handler for, and what the worker knows of its jobs. */
export interface KindState {
  readonly kind: JobKind<any>;
  readonly handler: (attempt: Attempt<any>) => Promise<unknown>;
  readonly handling: JobHandling<any, any>;
  /** How many more may run. */
  free: number;
  /** There may be a job to claim now. */
  due: boolean;
  /** The earliest later time known of, in ms since the epoch. */
  nextAt: number;
  /** The table may know an earlier one. */
  askNext: boolean;
  /** Ids that were enqueued here and that no claim has returned yet. */
  readonly expected: Set<number>;
  /** How often a claim came back without all of them. */
  looks: number;
  /** Jobs whose turn in their order key has come while no slot was free; the table does not show them to the claims. */
  readonly parked: JobRow[];
}

const defaultConcurrency = 4;

export function openKindState(given: Pick<KindState, 'kind' | 'handler' | 'handling'>): KindState {
  const free = given.kind.concurrency ?? defaultConcurrency;
  return { ...given, free, due: true, nextAt: Infinity, askNext: true, expected: new Set(), looks: 0, parked: [] };
}

/**
 * With several connections a claim may come before the commit of the transaction that enqueued the job, and miss it. It
 * is repeated after these waits until it was seen; a transaction that takes longer is left to the poll.
 */
const lookAgainMs: readonly number[] = [5, 25, 125, 625];
const mostExpected = 1_000;

/** Takes note of jobs that were enqueued, perhaps in a transaction that is still open. `mayBeMissed`: by a claim on another connection. */
export function expectJobs(
  kindState: KindState,
  jobs: readonly Pick<InsertedJob, 'id' | 'run_at'>[],
  mayBeMissed: boolean,
  now: number,
): void {
  for (const { id, run_at } of jobs) {
    if (run_at <= now) kindState.due = true;
    else kindState.nextAt = Math.min(kindState.nextAt, run_at);
    if (mayBeMissed && kindState.expected.size < mostExpected) kindState.expected.add(id);
  }
  kindState.looks = 0;
}

/** After a claim that took all it could see. `next`: the earliest later time the table was found to know. */
export function drained(kindState: KindState, next: number | undefined, now: number): void {
  kindState.askNext = false;
  kindState.nextAt = Math.min(kindState.nextAt, next ?? Infinity);
  if (kindState.expected.size === 0) return;
  const wait = lookAgainMs[kindState.looks];
  kindState.looks += 1;
  if (wait === undefined) kindState.expected.clear();
  else kindState.nextAt = Math.min(kindState.nextAt, now + wait);
}

/** When its time has come: there may be a job, and perhaps more at times only the table knows. */
export function makeDue(kindState: KindState): void {
  kindState.nextAt = Infinity;
  kindState.askNext = true;
  kindState.due = true;
}
