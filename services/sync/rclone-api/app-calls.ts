import type { Engine } from '../engine/engine.ts';
import { addStats, getNumber, type Stats } from '../domain/stats.ts';
import { Job } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { JobRow, JobStore } from '../store/jobs.ts';
import type { Caller } from '../access/access.ts';
import { CallError } from '../access/call-error.ts';
import type { Input } from '../access/input.ts';
import { getInteger, getString } from './input.ts';
import { toJobStatus, toRowStatus } from './job-view.ts';

const maxListed = 500;
const maxGroupRows = 100;

export interface AppCallOptions {
  readonly jobs: Jobs;
  readonly store: JobStore;
  readonly engine: Engine;
  readonly executeId: string;
}

type AppCall = (input: Input, caller: Caller) => Promise<Readonly<Record<string, unknown>>>;

/** Calls that Homeport answers itself, because the engine knows neither its jobs nor the caller. */
export function buildAppCalls({ jobs, store, engine, executeId }: AppCallOptions): Readonly<Record<string, AppCall>> {
  const statsCalls = new StatsCalls(jobs, store, engine);
  const jobCalls = new JobCalls(jobs, store, executeId);
  return {
    'rc/noop': async (input) => input,
    'rc/noopauth': async (input) => input,
    'rc/error': async (input) => {
      throw new CallError(500, `arbitrary error on input ${formatGoMap(input)}`);
    },
    'core/stats': (input, caller) => statsCalls.get(input, caller),
    'core/transferred': (input, caller) => statsCalls.listTransferred(input, caller),
    'core/group-list': (_input, caller) => statsCalls.listGroups(caller),
    'core/stats-reset': (input, caller) => statsCalls.reset(input, caller),
    'core/stats-delete': (input, caller) => statsCalls.delete(input, caller),
    'job/status': (input, caller) => jobCalls.getStatus(input, caller),
    'job/list': (_input, caller) => jobCalls.list(caller),
    'job/stop': (input, caller) => jobCalls.stop(input, caller),
    'job/stopgroup': (input, caller) => jobCalls.stopGroup(input, caller),
  };
}

/** Calls for the statistics of jobs, in memory and in the history. */
class StatsCalls {
  readonly #jobs: Jobs;
  readonly #store: JobStore;
  readonly #engine: Engine;

  constructor(jobs: Jobs, store: JobStore, engine: Engine) {
    this.#jobs = jobs;
    this.#store = store;
    this.#engine = engine;
  }

  async get(input: Input, caller: Caller): Promise<Stats> {
    const group = typeof input['group'] === 'string' ? input['group'] : '';
    if (group === '' && caller.all) {
      const all = await this.#engine.callIfRunning('core/stats', input['short'] === true ? { short: true } : {});
      return addLocalStats(all?.status === 200 ? all.body : undefined, this.#jobs.localStats);
    }
    const inMemory = getVisibleGroup(this.#jobs, caller, group);
    const ids = new Set(inMemory.map(({ id }) => id));
    const rows = group === '' ? [] : await this.#store.listGroup(group, maxGroupRows);
    const stored = rows
      .filter(({ id, account }) => !ids.has(id) && canSee(caller, account))
      .map((row) => JSON.parse(row.stats) as Stats);
    return addStats([...stored, ...(await Promise.all(inMemory.map((job) => this.#getJobStats(job))))]);
  }

  async listTransferred(input: Input, caller: Caller): Promise<{ readonly transferred: readonly object[] }> {
    const group = typeof input['group'] === 'string' ? input['group'] : '';
    const lists = await Promise.all(
      getVisibleGroup(this.#jobs, caller, group).map(async (job) => {
        if (job.local !== undefined) return job.local.transferred.map((each) => ({ ...each, group: job.group }));
        const answer = await this.#engine.callIfRunning('core/transferred', { group: job.engineGroup });
        const list = answer?.body['transferred'];
        return Array.isArray(list)
          ? (list as Record<string, unknown>[]).map((each) => ({ ...each, group: job.group }))
          : [];
      }),
    );
    return { transferred: lists.flat() };
  }

  async listGroups(caller: Caller): Promise<{ readonly groups: readonly string[] }> {
    const durable = getVisibleJobs(this.#jobs, caller).filter(
      ({ order, group, engineGroup }) => order.durable || group !== engineGroup,
    );
    return { groups: [...new Set(durable.map(({ group }) => group))] };
  }

  async reset(input: Input, caller: Caller): Promise<Record<string, never>> {
    if (!caller.all) throw new CallError(403, '"core/stats-reset" is for administrators');
    await this.#engine.callIfRunning('core/stats-reset', input);
    return {};
  }

  async delete(input: Input, caller: Caller): Promise<Record<string, never>> {
    const group = getString(input, 'group');
    // The history keeps the totals when the engine deletes its own.
    for (const job of getVisibleJobs(this.#jobs, caller).filter((each) => each.group === group)) {
      await this.#engine.callIfRunning('core/stats-delete', { group: job.engineGroup });
    }
    return {};
  }

  async #getJobStats(job: Job): Promise<Stats> {
    if (job.local !== undefined) return job.local.stats;
    if (!job.isRunning) return job.stats;
    const live = await this.#engine.callIfRunning('core/stats', { group: job.engineGroup });
    return live?.status === 200 ? live.body : job.stats;
  }
}

/** Calls for jobs, in memory and in the history. */
class JobCalls {
  readonly #jobs: Jobs;
  readonly #store: JobStore;
  readonly #executeId: string;

  constructor(jobs: Jobs, store: JobStore, executeId: string) {
    this.#jobs = jobs;
    this.#store = store;
    this.#executeId = executeId;
  }

  async getStatus(input: Input, caller: Caller): Promise<Record<string, unknown>> {
    const job = await this.#find(input, caller);
    return job instanceof Job ? toJobStatus(job, this.#executeId) : toRowStatus(job, this.#executeId);
  }

  async list(caller: Caller): Promise<Record<string, unknown>> {
    const recent = getVisibleJobs(this.#jobs, caller);
    const rows = await this.#store.list({ ...(caller.all ? {} : { account: caller.account }), limit: maxListed });
    const runningIds = recent.filter((job) => job.isRunning).map(({ id }) => id);
    const stored = rows.filter(({ ended_at: end }) => end !== null).map(({ id }) => id);
    const ended = recent.filter((job) => !job.isRunning).map(({ id }) => id);
    const finishedIds = [...new Set([...stored, ...ended])];
    const jobids = [...new Set([...finishedIds, ...runningIds])];
    return { executeId: this.#executeId, finishedIds, jobids, runningIds };
  }

  async stop(input: Input, caller: Caller): Promise<Record<string, never>> {
    const job = await this.#find(input, caller);
    if (job instanceof Job) this.#jobs.stop(job);
    return {};
  }

  async stopGroup(input: Input, caller: Caller): Promise<Record<string, never>> {
    const group = getString(input, 'group');
    for (const job of getVisibleJobs(this.#jobs, caller)) {
      if (job.group === group || job.engineGroup === group) this.#jobs.stop(job);
    }
    return {};
  }

  /** Returns the job in memory, or its row in the history. */
  async #find(input: Input, caller: Caller): Promise<Job | JobRow> {
    const id = getInteger(input, 'jobid');
    const job = this.#jobs.find(id);
    if (job !== undefined && canSee(caller, job.order.account)) return job;
    const row = await this.#store.find(id);
    if (row === undefined || !canSee(caller, row.account)) throw new CallError(500, 'job not found');
    return row;
  }
}

function canSee(caller: Caller, account: string): boolean {
  return caller.all || account === caller.account;
}

function getVisibleJobs(jobs: Jobs, caller: Caller): readonly Job[] {
  return jobs.recent.filter(({ order }) => canSee(caller, order.account));
}

/** Returns the visible jobs of a group; all of them without a group. */
function getVisibleGroup(jobs: Jobs, caller: Caller, group: string): readonly Job[] {
  return getVisibleJobs(jobs, caller).filter((job) => group === '' || job.group === group || job.engineGroup === group);
}

/** Adds the totals of the built-in engine to those of rclone. */
function addLocalStats(engine: Stats | undefined, local: Stats): Stats {
  if (engine === undefined) return local;
  return getNumber(local, 'elapsedTime') === 0 ? engine : { ...engine, ...addStats([engine, local]) };
}

/** Formats a map like Go's `fmt`. */
function formatGoMap(input: Input): string {
  const formatValue = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(formatValue).join(' ')}]`;
    if (typeof value === 'object' && value !== null) return formatGoMap(value as Input);
    if (value === null) return '<nil>';
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  const entries = Object.keys(input)
    .sort()
    .map((key) => `${key}:${formatValue(input[key])}`);
  return `map[${entries.join(' ')}]`;
}
