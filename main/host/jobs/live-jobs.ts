import type { RunningAttempt } from './attempt.ts';
import type { JobEnd } from './job-end.ts';
import type { JobRow } from './table.ts';

/** State of a job in this process, as described in README.md. A `stored` job is known only to the table. */
export type State = 'stored' | 'settling' | 'blocked' | 'running' | 'ended' | 'storing';

const transitions: { readonly [from in State]: readonly State[] } = {
  stored: ['settling', 'running', 'ended'],
  settling: ['blocked', 'running', 'stored'],
  blocked: ['running', 'stored'],
  running: ['ended'],
  ended: ['storing'],
  storing: ['ended', 'stored'],
};

/** Job with newer state in this process than in the table. */
export interface LiveJob {
  readonly id: number;
  row: JobRow;
  /** Changed only by `LiveJobs`. */
  state: State;
  /** While settling: resolves once the row is on the disk, with false when it was rolled back. */
  settled: Promise<boolean> | undefined;
  /** Running attempt. */
  attempt: RunningAttempt | undefined;
  finished: Promise<void> | undefined;
  /** End of the attempt. */
  end: JobEnd | undefined;
  /** Predecessor and successor with the same order key, when no other job can be between them. */
  before: LiveJob | undefined;
  behind: LiveJob | undefined;
}

/** Jobs with newer state in this process than in the table, each in one state. */
export class LiveJobs {
  readonly #jobs = new Map<number, LiveJob>();
  readonly #running = new Set<LiveJob>();
  /** Jobs in the states `ended` and `storing`, in the order of their ends. */
  readonly #over = new Set<LiveJob>();
  #ended = 0;

  get size(): number {
    return this.#jobs.size;
  }

  get(id: number): LiveJob | undefined {
    return this.#jobs.get(id);
  }

  get running(): ReadonlySet<LiveJob> {
    return this.#running;
  }

  get endedJobs(): ReadonlySet<LiveJob> {
    return this.#over;
  }

  /** Number of ended jobs that no turn is storing yet. */
  get ended(): number {
    return this.#ended;
  }

  /** Returns the job of a row; a new one is added with its first move. */
  of(row: JobRow): LiveJob {
    const nothing = { settled: undefined, attempt: undefined, finished: undefined, end: undefined };
    const noNeighbors = { before: undefined, behind: undefined };
    return this.#jobs.get(row.id) ?? { id: row.id, row, state: 'stored', ...nothing, ...noNeighbors };
  }

  /** @throws Error for a transition that is not in the table. */
  move(job: LiveJob, to: State): void {
    const { id, state: from } = job;
    if (this.#jobs.get(id) !== (from === 'stored' ? undefined : job)) throw new Error(`job ${id} is another by now`);
    if (!transitions[from].includes(to)) throw new Error(`job ${id} is ${from} and cannot become ${to}`);
    job.state = to;
    if (from === 'stored') this.#jobs.set(id, job);
    if (from === 'running') this.#running.delete(job);
    if (to === 'running') this.#running.add(job);
    if (to === 'ended') this.#over.add(job);
    this.#ended += Number(to === 'ended') - Number(from === 'ended');
    if (to !== 'stored') return;
    this.#jobs.delete(id);
    this.#over.delete(job);
  }

  /** Returns whether another job with the same order key is running. */
  runsBeside(row: JobRow): boolean {
    if (row.order_key === null) return false;
    for (const { id, row: other } of this.#running) {
      if (id !== row.id && other.kind === row.kind && other.order_key === row.order_key) return true;
    }
    return false;
  }
}
