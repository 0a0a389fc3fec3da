import { giveUpMs } from './life.ts';
import type { Event } from './history.ts';
import type { PlannedJob } from './program.ts';

/** Knowledge about a job by its number. */
interface JobState {
  readonly n: number;
  readonly job: PlannedJob;
  readonly host: number;
  /** Positions in the history of its call and acknowledgement. */
  readonly called: number;
  acked: number | undefined;
  id: string | undefined;
  undone: boolean;
  begun: boolean;
  /** Its handler returned. */
  succeeded: boolean;
  /** The engine reported its end as stored. */
  stored: number;
  /** A successor started after it had succeeded. */
  passed: boolean;
  /** Failed permanently, according to the current run. */
  failed: boolean;
  /** True after any failure; `dead` counts the reports as dead. */
  everFailed: boolean;
  dead: number;
  /** Number of reports as dead in the current process. */
  deadNow: number;
  retried: boolean;
  /** It left its order key, or may have. */
  aside: boolean;
  /** Dropped, or possibly dropped; also before the last retry. */
  dropped: boolean;
  wasDropped: boolean;
}

/** Checks a history against the guarantees of the engine; throws for the first violation. */
export function judge(history: readonly Event[], sharing: boolean): void {
  const trial = new Trial(sharing);
  for (const [index, event] of history.entries()) {
    try {
      trial.hear(event, index);
    } catch (error) {
      const named = new Set((error as Error).message.match(/\d+/g)?.map(Number));
      const about = history.slice(0, index + 1).flatMap((entry, where) => {
        const isVisible = 'n' in entry ? named.has(entry.n) : entry.what !== 'moment';
        return isVisible ? [`${where} ${JSON.stringify(entry)}`] : [];
      });
      throw new Error(`${(error as Error).message}\n${about.join('\n')}`, { cause: error });
    }
  }
}

class Trial {
  readonly #jobs = new Map<number, JobState>();
  readonly #running = new Set<JobState>();
  readonly #sharing: boolean;
  /** A process was killed. */
  #killed = false;
  /** The database refused a write, or seemed to. */
  #faulty = false;
  /** The database seemed to refuse a write that it may have stored. */
  #isUncertain = false;

  constructor(sharing: boolean) {
    this.#sharing = sharing;
  }

  hear(event: Event, index: number): void {
    if (event.what === 'life') this.#life();
    else if (event.what === 'killed') this.#killed = true;
    else if (event.what === 'fault')
      [this.#faulty, this.#isUncertain] = [true, this.#isUncertain || event.how !== 'refuse'];
    else if (event.what === 'call') this.#call(event, index);
    else if (event.what === 'over') this.#over(event);
    else if (event.what !== 'moment') this.#about(event, this.#job(event.n), index);
  }

  #job(n: number): JobState {
    const job = this.#jobs.get(n);
    if (job === undefined) throw new Error(`there is no job ${n}`);
    return job;
  }

  #life(): void {
    this.#running.clear();
    for (const job of this.#jobs.values()) [job.failed, job.deadNow] = [false, 0];
  }

  #call({ n, job, host }: Extract<Event, { what: 'call' }>, called: number): void {
    const nothing = { undone: false, begun: false, succeeded: false, stored: 0, passed: false, failed: false };
    const neither = {
      everFailed: false,
      dead: 0,
      deadNow: 0,
      retried: false,
      aside: false,
      dropped: false,
      wasDropped: false,
    };
    this.#jobs.set(n, { n, job, host, called, acked: undefined, id: undefined, ...nothing, ...neither });
  }

  #about(
    event: Exclude<Event, { what: 'life' | 'killed' | 'fault' | 'call' | 'over' | 'moment' }>,
    job: JobState,
    index: number,
  ) {
    if (event.what === 'ack') [job.acked, job.id] = [index, event.id];
    else if (event.what === 'undone') job.undone = true;
    else if (event.what === 'begin') this.#begin(job, event.inLine);
    else if (event.what === 'end') this.#end(job, event);
    else if (event.what === 'stored') {
      job.stored += 1;
      check(job.succeeded, `${job.n} is said to be stored as done, and was never done`);
      check(job.stored === 1, `${job.n} was told twice as done`);
    } else if (event.what === 'dead') {
      job.dead += 1;
      job.deadNow += 1;
      check(job.everFailed, `${job.n} is a dead letter and did not fail for good`);
      // The report could not be stored; concurrent hosts see that in the same life.
      const mayRepeat = this.#killed || this.#faulty;
      const times = mayRepeat && !this.#sharing ? job.deadNow : job.dead;
      check(job.retried || times === 1 || (mayRepeat && this.#sharing), `the death of ${job.n} was told twice`);
    } else if (event.what === 'retrying') job.retried = true;
    else if (event.what === 'dropping') [job.wasDropped, job.dropped] = [job.dropped, true];
    else if (event.what === 'dropped') job.dropped = job.wasDropped || event.dropped !== false;
  }

  #begin(job: JobState, inLine: boolean): void {
    check(!job.undone, `${job.n} runs, and its transaction was rolled back`);
    check(!this.#running.has(job), `${job.n} runs twice at once`);
    check(job.stored === 0, `${job.n} runs again after it was stored as done`);
    check(!job.passed, `${job.n} runs again after one behind it began`);
    check(!job.failed || job.retried, `${job.n} runs again after it failed for good`);
    this.#checkKey(job);
    if (inLine && job.job.order !== undefined) this.#checkOrder(job);
    job.begun = true;
    this.#running.add(job);
  }

  #checkOrder(job: JobState): void {
    for (const other of this.#jobs.values()) {
      if (other === job || other.job.kind !== job.job.kind || other.job.order !== job.job.order || other.aside)
        continue;
      check(!this.#running.has(other), `${job.n} runs beside ${other.n} of its order`);
      if (!this.#isBefore(other, job)) continue;
      const over = other.succeeded || other.failed || other.everFailed || other.dropped || other.retried;
      const isEnqueued = other.acked !== undefined || other.begun;
      check(over || !isEnqueued || this.#isKeyTaken(other), `${job.n} runs before ${other.n}, which it is behind`);
      if (other.succeeded) other.passed = true;
    }
  }

  /** Returns whether one job precedes the other in its order key. Concurrent hosts agree only on stored jobs. */
  #isBefore(one: JobState, other: JobState): boolean {
    if (!this.#sharing || one.host === other.host) return one.n < other.n;
    return one.acked !== undefined && one.acked < other.called;
  }

  /** Another job has its key, so it was ignored. */
  #isKeyTaken({ n, job }: JobState): boolean {
    if (job.key === undefined) return false;
    return [...this.#jobs.values()].some(
      (other) => other.n !== n && other.job.kind === job.kind && other.job.key === job.key,
    );
  }

  #checkKey({ n, job }: JobState): void {
    if (job.key === undefined || job.kind !== 'kept') return;
    for (const other of this.#jobs.values()) {
      if (other.n === n || other.job.kind !== job.kind || other.job.key !== job.key) continue;
      check(!other.begun || other.dropped, `${n} runs, whose key ${other.n} has`);
    }
  }

  #end(job: JobState, { how, age }: Extract<Event, { what: 'end' }>): void {
    this.#running.delete(job);
    const forGood = how === 'final' || ((how === 'fail' || how === 'aside') && age >= giveUpMs);
    if (how === 'ok') job.succeeded = true;
    if (forGood) job.failed = job.everFailed = true;
    else if (how === 'aside') job.aside = true;
  }

  #over({ rows, recorded }: Extract<Event, { what: 'over' }>): void {
    const states = new Map(rows.map(({ id, state }) => [id, state]));
    const counts = new Map<number, number>();
    for (const n of recorded) counts.set(n, (counts.get(n) ?? 0) + 1);
    for (const job of this.#jobs.values()) {
      const { n } = job;
      const times = counts.get(n) ?? 0;
      const mayMiss = job.undone || job.acked === undefined || job.dropped || this.#isKeyTaken(job);
      check(mayMiss || job.succeeded || job.everFailed, `${n} was acknowledged and is lost`);
      check(times === 0 || job.succeeded, `${n} is recorded as done and was not`);
      check(times <= 1 || this.#isUncertain, `${n} was recorded ${times} times`);
      const state = job.id === undefined || this.#isKeyTaken(job) ? undefined : states.get(job.id);
      const isDone = job.succeeded && !job.dropped;
      if (job.job.kind === 'kept' && job.id !== undefined && !mayMiss) check(state !== undefined, `${n} has no row`);
      if (state === 'done') check(job.succeeded, `${n} is stored as done and was not`);
      if (state === 'dead') check(job.dead > 0, `of the death of ${n} nobody was told`);
      if (state === 'dead') check(job.everFailed, `${n} is a dead letter and did not fail for good`);
      // A later life may repeat and fail a job that was done, if its end was not stored.
      const stored = state === undefined ? job.stored > 0 : state === 'done';
      if (stored && job.job.kind !== 'kept') check(times >= 1, `${n} is done and what it returned was not recorded`);
      if (isDone && !this.#killed && !this.#isUncertain)
        check(job.stored === 1 || job.everFailed, `of the end of ${n} nobody was told`);
    }
    check(
      [...states.values()].every((state) => state === 'done' || state === 'dead'),
      'something is not over',
    );
  }
}

function check(holds: boolean, broken: string): void {
  if (!holds) throw new Error(broken);
}
