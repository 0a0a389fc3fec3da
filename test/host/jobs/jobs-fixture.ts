import { vi } from 'vitest';
import { jobsMigrations, openJobs } from '../../../main/host/jobs/jobs.ts';
import { systemRandom } from '../../../main/host/runtime/random.ts';
import type { Database } from '../../../main/host/database/open.ts';
import type { Jobs, JobSummary } from '../../../services/contracts/jobs.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { Metrics } from '../../../services/contracts/metrics.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';

export interface CountingMetrics extends Metrics {
  /** `name{label="value"}` -> value; gauges are read now. */
  read(): Promise<Record<string, number>>;
}

export function countingMetrics(): CountingMetrics {
  const counts: Record<string, number> = {};
  const gauges = new Map<string, () => number | Promise<number>>();
  return {
    counter: ({ name }) => ({
      inc(labels = {}, by = 1) {
        const label = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
        const series = `${name}{${label.join(',')}}`;
        counts[series] = (counts[series] ?? 0) + by;
      },
    }),
    gauge({ name, collect }) {
      if (collect !== undefined) gauges.set(name, collect);
      return { set() {} };
    },
    histogram: () => ({ observe() {} }),
    async read() {
      const read = await Promise.all([...gauges].map(async ([name, collect]) => [name, await collect()] as const));
      return { ...counts, ...Object.fromEntries(read) };
    },
  };
}

export interface JobsFixture extends AsyncDisposable {
  readonly database: Database;
  readonly jobs: Jobs & AsyncDisposable;
  readonly clock: FakeClock;
  readonly metrics: CountingMetrics;
  /** Waits for the only job in a state. */
  one(state: JobSummary['state']): Promise<JobSummary>;
  /** Waits until a number of jobs are in a state. */
  settle(state: JobSummary['state'], count: number): Promise<void>;
}

/** Opens jobs on this database, with a stopped clock. */
export async function openJobsFixture(
  database: Database,
  options: { clock?: FakeClock; realClock?: Clock; log?: Log; isAfterCrash?: boolean } = {},
): Promise<JobsFixture> {
  await database.migrate(jobsMigrations);
  const clock = options.clock ?? createFakeClock();
  const metrics = countingMetrics();
  const jobs = await openJobs({
    service: 'test',
    database,
    clock: options.realClock ?? clock,
    random: systemRandom,
    log: options.log ?? silentLog,
    metrics,
    isAfterCrash: options.isAfterCrash ?? false,
  });
  const settle = (state: JobSummary['state'], count: number) =>
    vi.waitFor(
      async () => {
        const jobCount = await jobs.count(state);
        if (jobCount !== count) throw new Error(`${jobCount} of ${count} jobs are ${state}`);
      },
      { timeout: 15_000, interval: 10 },
    );
  return {
    database,
    jobs,
    clock,
    metrics,
    settle,
    async one(state) {
      await settle(state, 1);
      const [job] = await jobs.list({ state });
      if (job === undefined) throw new Error(`no job is ${state}`);
      return job;
    },
    [Symbol.asyncDispose]: () => jobs[Symbol.asyncDispose](),
  };
}
