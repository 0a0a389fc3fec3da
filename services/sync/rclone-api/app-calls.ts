import type { Engine } from '../engine/engine.ts';
import { addStats, getNumber, type Stats } from '../domain/stats.ts';
import { Job } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { JobStore } from '../store/jobs.ts';
import type { Caller } from './access.ts';
import { CallError } from './call-error.ts';
import { getInteger, getString, type Input } from './input.ts';
import { toJobStatus, toRowStatus } from './job-view.ts';

const maxListed = 500;
const maxGroupRows = 100;

export interface AppCallOptions {
  readonly jobs: Jobs;
  readonly store: JobStore;
  readonly engine: () => Engine;
  readonly executeId: string;
}

type AppCall = (input: Input, caller: Caller) => Promise<Readonly<Record<string, unknown>>>;

/** Calls that Homeport answers itself, because the engine knows neither its jobs nor the caller. */
export function buildAppCalls({ jobs, store, engine, executeId }: AppCallOptions): Readonly<Record<string, AppCall>> {
  const canSee = (caller: Caller, account: string): boolean => caller.all || account === caller.account;
  const getVisibleJobs = (caller: Caller): readonly Job[] =>
    jobs.recent.filter(({ order }) => canSee(caller, order.account));

  const getStats = async (job: Job): Promise<Stats> => {
    if (job.local !== undefined) return job.local.stats;
    if (!job.isRunning) return job.stats;
    const live = await engine().callIfRunning('core/stats', { group: job.engineGroup });
    return live?.status === 200 ? live.body : job.stats;
  };
  const stats: AppCall = async (input, caller) => {
    const group = typeof input['group'] === 'string' ? input['group'] : '';
    if (group === '' && caller.all) {
      const all = await engine().callIfRunning('core/stats', input['short'] === true ? { short: true } : {});
      return addLocalStats(all?.status === 200 ? all.body : undefined, jobs.localStats);
    }
    const inMemory = getVisibleJobs(caller).filter(
      (job) => group === '' || job.group === group || job.engineGroup === group,
    );
    const ids = new Set(inMemory.map(({ id }) => id));
    const rows = group === '' ? [] : await store.listGroup(group, maxGroupRows);
    const stored = rows
      .filter(({ id, account }) => !ids.has(id) && canSee(caller, account))
      .map((row) => JSON.parse(row.stats) as Stats);
    return addStats([...stored, ...(await Promise.all(inMemory.map(getStats)))]);
  };
  const transferred: AppCall = async (input, caller) => {
    const group = typeof input['group'] === 'string' ? input['group'] : '';
    const inMemory = getVisibleJobs(caller).filter(
      (job) => group === '' || job.group === group || job.engineGroup === group,
    );
    const lists = await Promise.all(
      inMemory.map(async (job) => {
        if (job.local !== undefined) return job.local.transferred.map((each) => ({ ...each, group: job.group }));
        const answer = await engine().callIfRunning('core/transferred', { group: job.engineGroup });
        const list = answer?.body['transferred'];
        return Array.isArray(list)
          ? (list as Record<string, unknown>[]).map((each) => ({ ...each, group: job.group }))
          : [];
      }),
    );
    return { transferred: lists.flat() };
  };
  const groups: AppCall = async (_input, caller) => {
    const durable = getVisibleJobs(caller).filter(
      ({ order, group, engineGroup }) => order.durable || group !== engineGroup,
    );
    return { groups: [...new Set(durable.map(({ group }) => group))] };
  };
  const find = async (input: Input, caller: Caller): Promise<Record<string, unknown> | Job> => {
    const id = getInteger(input, 'jobid');
    const job = jobs.find(id);
    if (job !== undefined && canSee(caller, job.order.account)) return job;
    const row = await store.find(id);
    if (row === undefined || !canSee(caller, row.account)) throw new CallError(500, 'job not found');
    return toRowStatus(row, executeId);
  };

  return {
    'rc/noop': async (input) => input,
    'rc/noopauth': async (input) => input,
    'rc/error': async (input) => {
      throw new CallError(500, `arbitrary error on input ${formatGoMap(input)}`);
    },
    'core/stats': stats,
    'core/transferred': transferred,
    'core/group-list': groups,
    'core/stats-reset': async (input, caller) => {
      if (!caller.all) throw new CallError(403, '"core/stats-reset" is for administrators');
      await engine().callIfRunning('core/stats-reset', input);
      return {};
    },
    'core/stats-delete': async (input, caller) => {
      const group = getString(input, 'group');
      // The history keeps the totals when the engine deletes its own.
      for (const job of getVisibleJobs(caller).filter((each) => each.group === group)) {
        await engine().callIfRunning('core/stats-delete', { group: job.engineGroup });
      }
      return {};
    },
    'job/status': async (input, caller) => {
      const jobOrStatus = await find(input, caller);
      return jobOrStatus instanceof Job ? toJobStatus(jobOrStatus, executeId) : jobOrStatus;
    },
    'job/list': async (_input, caller) => {
      const recent = getVisibleJobs(caller);
      const rows = await store.list({ ...(caller.all ? {} : { account: caller.account }), limit: maxListed });
      const runningIds = recent.filter((job) => job.isRunning).map(({ id }) => id);
      const stored = rows.filter(({ ended_at: end }) => end !== null).map(({ id }) => id);
      const ended = recent.filter((job) => !job.isRunning).map(({ id }) => id);
      const finishedIds = [...new Set([...stored, ...ended])];
      return { executeId, finishedIds, jobids: [...new Set([...finishedIds, ...runningIds])], runningIds };
    },
    'job/stop': async (input, caller) => {
      const jobOrStatus = await find(input, caller);
      if (jobOrStatus instanceof Job) jobs.stop(jobOrStatus);
      return {};
    },
    'job/stopgroup': async (input, caller) => {
      const group = getString(input, 'group');
      for (const job of getVisibleJobs(caller)) if (job.group === group || job.engineGroup === group) jobs.stop(job);
      return {};
    },
  };
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
