import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyStatistics } from '../../contracts/notify/statistics.ts';
import type { CachedQuery } from '../../kit/cached-query.ts';
import type { DeliveryOverview } from '../deliver/delivery-sums.ts';
import type { DeliveryCount } from '../store/statistics.ts';
import { deliveryIds, readKey, removeDisallowed } from '../keys/read-key.ts';
import type { ApiDependencies } from './dependencies.ts';

/** Handles the route for delivery statistics. */
export function statisticsHandlers(
  { stores: { configurations }, engine, isAllowed }: ApiDependencies,
  statistics: CachedQuery<DeliveryOverview>,
): readonly ApiHandler[] {
  return [
    implement(notifyStatistics, async () => {
      const { days, counted, earlier, latencies, hours, previousHours, problems } = await statistics.get();
      const byDestination = Map.groupBy(counted, ({ destination }) => destination);
      const keys = await Promise.all((await configurations.keys()).map((key) => configurations.find(key)));
      const destinations = await Promise.all(
        keys.map(async (configuration) => {
          // The key was removed after it was listed.
          if (configuration === undefined) return [];
          const { entries } = removeDisallowed(await readKey(configuration, engine), isAllowed);
          return entries.map((entry) => {
            const ids = deliveryIds(entry);
            const rows = ids.flatMap((id) => byDestination.get(id) ?? []);
            const countByDay = (state: 'done' | 'dead'): number[] =>
              days.map((_, day) =>
                rows.reduce((sum, row) => sum + (row.index === day && row.state === state ? row.count : 0), 0),
              );
            const latenciesOfDestination = ids.flatMap((id) => latencies.get(id) ?? []);
            // A destination with several receivers is as slow as the slowest of them.
            const maxLatency = (percentile: 'p50' | 'p95'): number | null =>
              latenciesOfDestination.length === 0
                ? null
                : Math.max(...latenciesOfDestination.map((each) => each[percentile]));
            return {
              key: configuration.key,
              line: entry.line,
              id: entry.id,
              done: countByDay('done'),
              dead: countByDay('dead'),
              previous: earlier === null ? null : countEnded(earlier, ids, days.length),
              p50: maxLatency('p50'),
              p95: maxLatency('p95'),
            };
          });
        }),
      );
      return {
        days: days.map(({ day }) => day),
        destinations: destinations.flat(),
        hours: [...hours],
        previousHours: previousHours === null ? null : [...previousHours],
        problems: [...problems],
      };
    }),
  ];
}

/** Counts the ended deliveries of a destination by day. */
function countEnded(counts: readonly DeliveryCount[], ids: readonly string[], dayCount: number): number[] {
  const total = Array.from({ length: dayCount }, () => 0);
  for (const { destination, state, index, count } of counts) {
    if (state !== 'waiting' && ids.includes(destination)) total[index] = (total[index] ?? 0) + count;
  }
  return total;
}
