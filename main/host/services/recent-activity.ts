import type { HostActivityEvent } from '../../../services/contracts/control/overview.ts';
import type { RecentActivityQuery } from '../../../services/contracts/recent-activity.ts';
import type { Log } from '../../../services/contracts/service.ts';
import type { ServiceRunner } from './service-runner.ts';

/**
 * Returns the latest events of all running services, newest first. Unused services are not loaded for it, and a
 * service that fails to answer is left out.
 */
export async function readRecentActivity(
  runners: ReadonlyMap<string, Pick<ServiceRunner, 'service'>>,
  query: RecentActivityQuery,
  log: Pick<Log, 'warn'>,
): Promise<readonly HostActivityEvent[]> {
  const lists = await Promise.all(
    [...runners].map(async ([id, { service }]) => {
      try {
        const events = (await service?.recentActivity?.(query)) ?? [];
        return events.map((event) => ({ ...event, service: id }));
      } catch (error) {
        log.warn('recent activity unavailable', { service: id, error });
        return [];
      }
    }),
  );
  return lists
    .flat()
    .toSorted((a, b) => b.time - a.time)
    .slice(0, query.limit);
}
