import type { NotifyProblem } from '../../contracts/notify/statistics.ts';
import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import { KeptReading } from '../../kit/kept-reading.ts';
import { lastDays, lastHours } from '../../kit/last-days.ts';
import { DeliveryStatistics, mostOpen, type OpenDelivery } from '../store/statistics.ts';
import { deliver } from './job.ts';

const shownDays = 30;
/** Latencies look back so many days. */
const latencyDays = 7;

/** What is summed up over all deliveries, whatever the keys name now. */
export type DeliverySums = Awaited<ReturnType<typeof sumsOf>>;

/** The sums, read anew when something was delivered. */
export function deliverySums(context: Context, activity: Activity): KeptReading<DeliverySums> {
  const { clock } = context;
  return new KeptReading({
    ...{ clock, renew: activity.touch },
    key: () => String(lastHours(clock.now()).at(-1)),
    read: () => sumsOf(context),
  });
}

async function sumsOf({ clock, jobs, reads }: Context) {
  await jobs.upToDate();
  const statistics = new DeliveryStatistics(reads);
  const now = clock.now();
  const days = lastDays(now, shownDays);
  const since = days.at(-latencyDays)?.from ?? now;
  const [counted, latencies, hours, open, givenUp] = await Promise.all([
    statistics.count(days.map(({ from }) => from)),
    statistics.latencies(since),
    statistics.hours(lastHours(now)),
    statistics.open(),
    jobs.keys({ state: 'dead', kind: deliver.name, limit: mostOpen }),
  ]);
  const retryable = new Set(givenUp);
  const problems = problemsOf(
    open.filter(({ state, notice, destination }) => state === 'waiting' || retryable.has(`${notice}:${destination}`)),
  );
  return { days, counted, latencies, hours, problems };
}

/** Grouped by what was said, the largest group first. What was not tried waits for the reason of the one ahead of it. */
function problemsOf(open: readonly OpenDelivery[]): NotifyProblem[] {
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
      // When it was tried last: what was not tried has the time it came.
      latest: all.reduce((latest, { attempts, updatedAt }) => (attempts > 0 ? Math.max(latest, updatedAt) : latest), 0),
    }))
    .sort((a, b) => b.dead + b.waiting - a.dead - a.waiting || b.latest - a.latest);
}
