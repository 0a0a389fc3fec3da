import type { LiveJob } from './live-jobs.ts';
import type { JobRow } from './table.ts';

/** Last enqueued jobs of their order keys, among the live ones. */
export class Tails {
  readonly #tails = new Map<string, LiveJob>();

  /** Appends a job in the order of rows; undefined for a job that is not live. Returns its predecessor. */
  follow(row: JobRow, job: LiveJob | undefined): LiveJob | undefined {
    if (row.order_key === null) return undefined;
    const key = findTail(row);
    const before = this.#tails.get(key);
    if (job === undefined) this.#tails.delete(key);
    else this.#tails.set(key, job);
    return before;
  }

  /** Returns true when certainly no job was enqueued after this one. */
  isLast({ row }: LiveJob): boolean {
    return row.order_key === null || this.#tails.get(findTail(row))?.id === row.id;
  }

  forget(job: LiveJob): void {
    if (job.row.order_key !== null && this.isLast(job)) this.#tails.delete(findTail(job.row));
  }
}

function findTail({ kind, order_key }: JobRow): string {
  return `${kind}\n${order_key ?? ''}`;
}

/** Records that no other job can be between these two. */
export function link(before: LiveJob, job: LiveJob): void {
  before.behind = job;
  job.before = before;
}

/** Removes the link to the predecessor. */
export function unlink(job: LiveJob): void {
  if (job.before !== undefined) job.before.behind = undefined;
  job.before = undefined;
}
