import type { NotifyProblem } from '../../contracts/notify/statistics.ts';
import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import { CachedQuery } from '../../kit/cached-query.ts';
import { getLastDays, getLastHours } from '../../kit/local-days.ts';
import { DeliveryStatistics, maxIncomplete, type IncompleteDelivery } from '../store/statistics.ts';
import { deliver } from './job.ts';

const statisticsDays = 30;
/** Latencies look back so many days. */
const latencyDays = 7;
/** Of what waits for one reason, so many are asked when they are tried next. */
const maxRetryLookups = 500;

/** What is summed up over all deliveries, whatever the keys name now. */
export type DeliveryOverview = Awaited<ReturnType<typeof loadOverview>>;

/** The sums, read anew when something was delivered. */
export function createDeliveryOverview(context: Context, activity: Activity): CachedQuery<DeliveryOverview> {
  const { clock } = context;
  return new CachedQuery({
    ...{ clock, onRefreshDue: activity.touch },
    key: () => String(getLastHours(clock.now()).at(-1)),
    read: () => loadOverview(context),
  });
}

async function loadOverview({ clock, jobs, reads }: Context) {
  await jobs.flush();
  const statistics = new DeliveryStatistics(reads);
  const now = clock.now();
  const days = getLastDays(now, statisticsDays);
  const since = days.at(-latencyDays)?.from ?? now;
  const [counted, latencies, hours, open, givenUp] = await Promise.all([
    statistics.count(days.map(({ from }) => from)),
    statistics.latencies(since),
    statistics.hours(getLastHours(now)),
    statistics.listIncomplete(),
    jobs.keys({ state: 'dead', kind: deliver.name, limit: maxIncomplete }),
  ]);
  const retryable = new Set(givenUp);
  const groups = groupProblems(
    open.filter(({ state, notice, destination }) => state === 'waiting' || retryable.has(`${notice}:${destination}`)),
  );
  const problems = await Promise.all(
    groups.map(async ({ retriedKeys, ...problem }) => ({
      ...problem,
      nextAt: await findNextAttempt(jobs, retriedKeys),
    })),
  );
  return { days, counted, latencies, hours, problems };
}

/** When the first of these deliveries, the newest of those that wait, is tried again. */
async function findNextAttempt(jobs: Context['jobs'], retriedKeys: readonly string[]): Promise<number | null> {
  if (retriedKeys.length === 0) return null;
  const waiting = await jobs.list({
    kind: deliver.name,
    state: 'waiting',
    keys: retriedKeys,
    limit: retriedKeys.length,
  });
  return waiting.length === 0 ? null : Math.min(...waiting.map(({ runAt }) => runAt));
}

interface ProblemGroup extends Omit<NotifyProblem, 'nextAt'> {
  /** Names of the jobs that wait after an attempt. */
  readonly retriedKeys: readonly string[];
}

/** Grouped by what was said, the largest group first. What was not tried waits for the reason of the one ahead of it. */
function groupProblems(open: readonly IncompleteDelivery[]): ProblemGroup[] {
  const reasons = new Map(
    open.flatMap(({ state, attempts, destination, detail }) =>
      state === 'waiting' && attempts > 0 ? [[destination, detail] as const] : [],
    ),
  );
  const groups = [
    ...Map.groupBy(open, ({ attempts, destination, detail }) =>
      attempts > 0 ? detail : (reasons.get(destination) ?? detail),
    ),
  ];
  return groups
    .map(([cause, all]) => ({
      cause,
      services: [...new Set(all.map(({ service }) => service))].sort(),
      waiting: all.filter(({ state }) => state === 'waiting').length,
      dead: all.filter(({ state }) => state === 'dead').length,
      retriedKeys: all
        .filter(({ state, attempts }) => state === 'waiting' && attempts > 0)
        .slice(0, maxRetryLookups)
        .map(({ notice, destination }) => `${notice}:${destination}`),
      // When it was tried last: what was not tried has the time it came.
      latest: all.reduce((latest, { attempts, updatedAt }) => (attempts > 0 ? Math.max(latest, updatedAt) : latest), 0),
    }))
    .sort((a, b) => b.dead + b.waiting - a.dead - a.waiting || b.latest - a.latest);
}
