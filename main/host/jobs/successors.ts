import type { LiveJob } from './live-jobs.ts';
import type { JobRow } from './table.ts';

/** The jobs that were enqueued last in their order keys, of those that live here. */
export class Tails {
  readonly #tails = new Map<string, LiveJob>();

  /** Puts a job last, in the order in which rows are written; undefined where it does not live here. Returns the one before. */
  follow(row: JobRow, job: LiveJob | undefined): LiveJob | undefined {
    if (row.order_key === null) return undefined;
    const place = placeOf(row);
    const before = this.#tails.get(place);
    if (job === undefined) this.#tails.delete(place);
    else this.#tails.set(place, job);
    return before;
  }

  /** True where certainly nobody was enqueued behind this one. */
  isLast({ row }: LiveJob): boolean {
    return row.order_key === null || this.#tails.get(placeOf(row))?.id === row.id;
  }

  forget(job: LiveJob): void {
    if (job.row.order_key !== null && this.isLast(job)) this.#tails.delete(placeOf(job.row));
  }
}

function placeOf({ kind, order_key }: JobRow): string {
  return `${kind}\n${order_key ?? ''}`;
}

/** Says that nobody can be between these two. */
export function link(before: LiveJob, job: LiveJob): void {
  before.behind = job;
  job.before = before;
}

/** The one before it is none of its business any more. */
export function unlink(job: LiveJob): void {
  if (job.before !== undefined) job.before.behind = undefined;
  job.before = undefined;
}
