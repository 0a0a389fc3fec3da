import type { Engine } from '../engine/engine.ts';
import { addStats, numberIn, type Stats } from '../domain/stats.ts';
import { Job } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { JobStore } from '../store/jobs.ts';
import type { Caller } from './access.ts';
import { CallError } from './call-error.ts';
import { numberOf, textOf, type Input } from './input.ts';
import { statusOf, statusOfRow } from './job-view.ts';

const mostListed = 500;
const mostOfGroup = 100;

export interface OwnCallParts {
  readonly jobs: Jobs;
  readonly store: JobStore;
  readonly engine: () => Engine;
  readonly executeId: string;
}

type OwnCall = (input: Input, caller: Caller) => Promise<Readonly<Record<string, unknown>>>;

/** The calls that are answered here: the engine knows neither our jobs nor who asks. */
export function ownCalls({ jobs, store, engine, executeId }: OwnCallParts): Readonly<Record<string, OwnCall>> {
  const sees = (caller: Caller, account: string): boolean => caller.all || account === caller.account;
  const known = (caller: Caller): readonly Job[] => jobs.known.filter(({ order }) => sees(caller, order.account));

  const statsOf = async (job: Job): Promise<Stats> => {
    if (job.local !== undefined) return job.local.stats;
    if (!job.isRunning) return job.stats;
    const live = await engine().look('core/stats', { group: job.engineGroup });
    return live?.status === 200 ? live.body : job.stats;
  };
  const stats: OwnCall = async (input, caller) => {
    const group = typeof input['group'] === 'string' ? input['group'] : '';
    if (group === '' && caller.all) {
      const all = await engine().look('core/stats', input['short'] === true ? { short: true } : {});
      return addAll(all?.status === 200 ? all.body : undefined, jobs.localStats);
    }
    const inMemory = known(caller).filter((job) => group === '' || job.group === group || job.engineGroup === group);
    const ids = new Set(inMemory.map(({ id }) => id));
    const rows = group === '' ? [] : await store.ofGroup(group, mostOfGroup);
    const stored = rows
      .filter(({ id, account }) => !ids.has(id) && sees(caller, account))
      .map((row) => JSON.parse(row.stats) as Stats);
    return addStats([...stored, ...(await Promise.all(inMemory.map(statsOf)))]);
  };
  const transferred: OwnCall = async (input, caller) => {
    const group = typeof input['group'] === 'string' ? input['group'] : '';
    const inMemory = known(caller).filter((job) => group === '' || job.group === group || job.engineGroup === group);
    const lists = await Promise.all(
      inMemory.map(async (job) => {
        if (job.local !== undefined) return job.local.transferred.map((each) => ({ ...each, group: job.group }));
        const answer = await engine().look('core/transferred', { group: job.engineGroup });
        const list = answer?.body['transferred'];
        return Array.isArray(list)
          ? (list as Record<string, unknown>[]).map((each) => ({ ...each, group: job.group }))
          : [];
      }),
    );
    return { transferred: lists.flat() };
  };
  const groups: OwnCall = async (_input, caller) => {
    const durable = known(caller).filter(({ order, group, engineGroup }) => order.durable || group !== engineGroup);
    return { groups: [...new Set(durable.map(({ group }) => group))] };
  };
  const find = async (input: Input, caller: Caller): Promise<Record<string, unknown> | Job> => {
    const id = numberOf(input, 'jobid');
    const job = jobs.find(id);
    if (job !== undefined && sees(caller, job.order.account)) return job;
    const row = await store.find(id);
    if (row === undefined || !sees(caller, row.account)) throw new CallError(500, 'job not found');
    return statusOfRow(row, executeId);
  };

  return {
    'rc/noop': async (input) => input,
    'rc/noopauth': async (input) => input,
    'rc/error': async (input) => {
      throw new CallError(500, `arbitrary error on input ${goMap(input)}`);
    },
    'core/stats': stats,
    'core/transferred': transferred,
    'core/group-list': groups,
    'core/stats-reset': async (input, caller) => {
      if (!caller.all) throw new CallError(403, '"core/stats-reset" is for administrators');
      await engine().look('core/stats-reset', input);
      return {};
    },
    'core/stats-delete': async (input, caller) => {
      const group = textOf(input, 'group');
      // The history keeps its totals; the engine forgets its own.
      for (const job of known(caller).filter((each) => each.group === group)) {
        await engine().look('core/stats-delete', { group: job.engineGroup });
      }
      return {};
    },
    'job/status': async (input, caller) => {
      const found = await find(input, caller);
      return found instanceof Job ? statusOf(found, executeId) : found;
    },
    'job/list': async (_input, caller) => {
      const recent = known(caller);
      const rows = await store.list({ ...(caller.all ? {} : { account: caller.account }), limit: mostListed });
      const runningIds = recent.filter((job) => job.isRunning).map(({ id }) => id);
      const stored = rows.filter(({ ended_at: end }) => end !== null).map(({ id }) => id);
      const ended = recent.filter((job) => !job.isRunning).map(({ id }) => id);
      const finishedIds = [...new Set([...stored, ...ended])];
      return { executeId, finishedIds, jobids: [...new Set([...finishedIds, ...runningIds])], runningIds };
    },
    'job/stop': async (input, caller) => {
      const found = await find(input, caller);
      if (found instanceof Job) jobs.stop(found);
      return {};
    },
    'job/stopgroup': async (input, caller) => {
      const group = textOf(input, 'group');
      for (const job of known(caller)) if (job.group === group || job.engineGroup === group) jobs.stop(job);
      return {};
    },
  };
}

/** The engine's totals as they are, with those of what ran without it where there are any. */
function addAll(engine: Stats | undefined, local: Stats): Stats {
  if (engine === undefined) return local;
  return numberIn(local, 'elapsedTime') === 0 ? engine : { ...engine, ...addStats([engine, local]) };
}

/** A map as Go prints it. */
function goMap(input: Input): string {
  const shown = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(shown).join(' ')}]`;
    if (typeof value === 'object' && value !== null) return goMap(value as Input);
    if (value === null) return '<nil>';
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  const parts = Object.keys(input)
    .sort()
    .map((key) => `${key}:${shown(input[key])}`);
  return `map[${parts.join(' ')}]`;
}
