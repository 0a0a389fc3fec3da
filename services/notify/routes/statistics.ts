import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyStatistics, type NotifyProblem } from '../../contracts/notify/statistics.ts';
import { lastDays, lastHours } from '../../kit/last-days.ts';
import { deliver } from '../deliver/job.ts';
import { deliveryIds, readKey, servedOnly } from '../keys/read-key.ts';
import { DeliveryStatistics, type OpenDelivery } from '../store/statistics.ts';
import type { ApiParts } from './api.ts';

const shownDays = 30;
/** Latencies look back so many days. */
const latencyDays = 7;
/** Given-up deliveries that are looked through. */
const mostDead = 5000;

/** How the destinations fare. */
export function statisticsHandlers(parts: ApiParts): readonly ApiHandler[] {
  const { context, configurations, engine } = parts;
  const statistics = new DeliveryStatistics(context.reads);
  return [
    implement(notifyStatistics, async () => {
      await context.jobs.upToDate();
      const now = context.clock.now();
      const days = lastDays(now, shownDays);
      const since = days.at(-latencyDays)?.from ?? now;
      const [counted, latencies, hours, open, given] = await Promise.all([
        statistics.count(days.map(({ from }) => from)),
        statistics.latencies(since),
        statistics.hours(lastHours(now)),
        statistics.open(),
        context.jobs.list({ state: 'dead', kind: deliver.name, limit: mostDead }),
      ]);
      const byDestination = Map.groupBy(counted, ({ destination }) => destination);
      const keys = await Promise.all((await configurations.keys()).map((key) => configurations.find(key)));
      const destinations = await Promise.all(
        keys.map(async (configuration) => {
          // Removed since it was listed.
          if (configuration === undefined) return [];
          const { entries } = servedOnly(await readKey(configuration, engine), parts.isServed);
          return entries.map((entry) => {
            const ids = deliveryIds(entry);
            const rows = ids.flatMap((id) => byDestination.get(id) ?? []);
            const byDay = (state: 'done' | 'dead'): number[] =>
              days.map((_, day) =>
                rows.reduce((sum, row) => sum + (row.index === day && row.state === state ? row.count : 0), 0),
              );
            const took = ids.flatMap((id) => latencies.get(id) ?? []);
            // Of several receivers the slowest is the destination's.
            const slowest = (of: 'p50' | 'p95'): number | null =>
              took.length === 0 ? null : Math.max(...took.map((each) => each[of]));
            return {
              ...{ key: configuration.key, line: entry.line, id: entry.id },
              ...{ done: byDay('done'), dead: byDay('dead'), p50: slowest('p50'), p95: slowest('p95') },
            };
          });
        }),
      );
      const retryable = new Set(given.map(({ key }) => key));
      const problems = problemsOf(
        open.filter(
          ({ state, notice, destination }) => state === 'waiting' || retryable.has(`${notice}:${destination}`),
        ),
      );
      return { days: days.map(({ day }) => day), destinations: destinations.flat(), hours: [...hours], problems };
    }),
  ];
}

/** Grouped by what was said, the largest group first. */
function problemsOf(open: readonly OpenDelivery[]): NotifyProblem[] {
  const groups = [...Map.groupBy(open, ({ detail }) => detail)];
  return groups
    .map(([cause, all]) => ({
      cause,
      services: [...new Set(all.map(({ service }) => service))].sort(),
      waiting: all.filter(({ state }) => state === 'waiting').length,
      dead: all.filter(({ state }) => state === 'dead').length,
      latest: Math.max(...all.map(({ updatedAt }) => updatedAt)),
    }))
    .sort((a, b) => b.dead + b.waiting - a.dead - a.waiting || b.latest - a.latest);
}
