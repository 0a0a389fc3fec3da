import type { RunningAttempt } from './attempt.ts';
import type { JobEnd } from './job-end.ts';
import type { JobRow } from './table.ts';

/** Where a job stands in this process; README.md says what each means. Of one that is `stored` only the table knows. */
export type State = 'stored' | 'settling' | 'blocked' | 'running' | 'ended' | 'storing';

const transitions: { readonly [from in State]: readonly State[] } = {
  stored: ['settling', 'running', 'ended'],
  settling: ['blocked', 'running', 'stored'],
  blocked: ['running', 'stored'],
  running: ['ended'],
  ended: ['storing'],
  storing: ['ended', 'stored'],
};

/** A job of which this process knows more than the table. */
export interface LiveJob {
  readonly id: number;
  row: JobRow;
  /** Only `LiveJobs` changes it. */
  state: State;
  /** While it is settling: resolves once no power cut can take the row back, with false when it was rolled back. */
  settled: Promise<boolean> | undefined;
  /** The attempt at it, and when that is over. */
  attempt: RunningAttempt | undefined;
  over: Promise<void> | undefined;
  /** How the attempt ended, for whom. */
  end: JobEnd | undefined;
  /** Its neighbours in its order key, where nobody can be between. */
  before: LiveJob | undefined;
  behind: LiveJob | undefined;
}

/** The jobs this process knows more of than the table, each in one state. */
export class LiveJobs {
  readonly #jobs = new Map<number, LiveJob>();
  readonly #running = new Set<LiveJob>();
  /** Those that are ended or being stored, in the order of their ends. */
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

  get over(): ReadonlySet<LiveJob> {
    return this.#over;
  }

  /** How many are ended, and no turn writes them yet. */
  get ended(): number {
    return this.#ended;
  }

  /** The job of a row; one that was not known is so from its first move. */
  of(row: JobRow): LiveJob {
    const nothing = { settled: undefined, attempt: undefined, over: undefined, end: undefined };
    const alone = { before: undefined, behind: undefined };
    return this.#jobs.get(row.id) ?? { id: row.id, row, state: 'stored', ...nothing, ...alone };
  }

  /** @throws Error for what the table of transitions does not have. */
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

  /** Whether another job of the same order key runs. */
  runsBeside(row: JobRow): boolean {
    if (row.order_key === null) return false;
    for (const { id, row: other } of this.#running) {
      if (id !== row.id && other.kind === row.kind && other.order_key === row.order_key) return true;
    }
    return false;
  }
}
