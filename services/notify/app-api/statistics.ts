import { implement, type ApiHandler } from '../../contracts/api.ts';
import { notifyStatistics } from '../../contracts/notify/statistics.ts';
import { deliveryIds, readKey, servedOnly } from '../keys/read-key.ts';
import type { ApiParts } from './dependencies.ts';

/** How the destinations fare. */
export function statisticsHandlers({ configurations, engine, isServed, sums }: ApiParts): readonly ApiHandler[] {
  return [
    implement(notifyStatistics, async () => {
      const { days, counted, latencies, hours, problems } = await sums.get();
      const byDestination = Map.groupBy(counted, ({ destination }) => destination);
      const keys = await Promise.all((await configurations.keys()).map((key) => configurations.find(key)));
      const destinations = await Promise.all(
        keys.map(async (configuration) => {
          // Removed since it was listed.
          if (configuration === undefined) return [];
          const { entries } = servedOnly(await readKey(configuration, engine), isServed);
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
      return {
        days: days.map(({ day }) => day),
        destinations: destinations.flat(),
        hours: [...hours],
        problems: [...problems],
      };
    }),
  ];
}
