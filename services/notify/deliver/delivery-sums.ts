import type { NotifyProblem } from '../../contracts/notify/statistics.ts';
import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import { CachedQuery } from '../../kit/cached-query.ts';
import { getLastDays, getLastHours } from '../../kit/local-days.ts';
import { DeliveryStatistics, maxIncomplete, type IncompleteDelivery } from '../store/statistics.ts';
import type { Settings } from '../settings.ts';
import { deliver } from './job.ts';

const statisticsDays = 30;
/** Number of days covered by latencies. */
const latencyDays = 7;
/** Maximum number of waiting jobs per problem whose next attempt is looked up. */
const maxRetryLookups = 500;

/** Statistics over all deliveries, including those of removed keys. */
export type DeliveryOverview = Awaited<ReturnType<typeof loadOverview>>;

/** Creates the cached statistics, which are loaded again after a delivery. */
export function createDeliveryOverview(
  context: Context,
  activity: Activity,
  settings: Pick<Settings, 'historyDays'>,
): CachedQuery<DeliveryOverview> {
  const { clock } = context;
  return new CachedQuery({
    clock,
    onRefreshDue: activity.touch,
    key: () => String(getLastHours(clock.now()).at(-1)),
    read: () => loadOverview(context, settings),
  });
}

async function loadOverview({ clock, jobs, reads }: Context, { historyDays }: Pick<Settings, 'historyDays'>) {
  await jobs.flush();
  const statistics = new DeliveryStatistics(reads);
  const now = clock.now();
  const allDays = getLastDays(now, 2 * statisticsDays);
  const days = allDays.slice(statisticsDays);
  const earlierDays = historyDays < 2 * statisticsDays ? [] : allDays.slice(0, statisticsDays);
  const allHours = getLastHours(now, 48);
  const since = days.at(-latencyDays)?.from ?? now;
  const [counted, earlier, latencies, hours, open, givenUp] = await Promise.all([
    statistics.count(days.map(({ from }) => from)),
    earlierDays.length === 0
      ? null
      : statistics.count(
          earlierDays.map(({ from }) => from),
          days[0]?.from,
        ),
    statistics.latencies(since),
    statistics.hours(allHours),
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
  return {
    days,
    counted,
    /** Counts of the previous days by index; null when they are not stored. */
    earlier,
    latencies,
    hours: hours.slice(24),
    previousHours: historyDays < 2 ? null : hours.slice(0, 24),
    problems,
  };
}

/** Returns when the first of these deliveries is retried. */
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
  /** Keys of the jobs that wait after an attempt. */
  readonly retriedKeys: readonly string[];
}

/**
 * Groups deliveries by their failure, the largest group first. A delivery without an attempt waits for the failure of
 * its predecessor.
 */
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
      code: all.map(({ code }) => code).find((code) => code !== ''),
      services: [...new Set(all.map(({ service }) => service))].sort(),
      waiting: all.filter(({ state }) => state === 'waiting').length,
      dead: all.filter(({ state }) => state === 'dead').length,
      retriedKeys: all
        .filter(({ state, attempts }) => state === 'waiting' && attempts > 0)
        .slice(0, maxRetryLookups)
        .map(({ notice, destination }) => `${notice}:${destination}`),
      // Time of the latest attempt; deliveries without an attempt have the time of their acceptance.
      latest: all.reduce((latest, { attempts, updatedAt }) => (attempts > 0 ? Math.max(latest, updatedAt) : latest), 0),
    }))
    .sort((a, b) => b.dead + b.waiting - a.dead - a.waiting || b.latest - a.latest);
}
