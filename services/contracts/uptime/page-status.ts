import { heartbeatStatus, type HeartbeatStatus } from './monitor.ts';

/** How all monitors of a status page stand together. */
export type PageStatus = 'maintenance' | 'up' | 'partial' | 'down' | 'none';

/** What visitors read on top of a page. */
export const pageStatusTitles: Readonly<Record<PageStatus, string>> = {
  maintenance: 'Under maintenance',
  up: 'All systems operational',
  partial: 'Some systems do not work',
  down: 'The systems do not work',
  none: 'Nothing is watched yet',
};

/** What visitors read beside a monitor, by its status. */
export const visitorStatusLabels = ['Down', 'Up', 'Trying again', 'Maintenance'] as const;

/** How monitors stand together, of the statuses of those that are active and were checked. */
export function getPageStatus(statuses: readonly HeartbeatStatus[]): PageStatus {
  if (statuses.length === 0) return 'none';
  if (statuses.includes(heartbeatStatus.maintenance)) return 'maintenance';
  const up = statuses.filter((status) => status === heartbeatStatus.up).length;
  return up === statuses.length ? 'up' : up > 0 ? 'partial' : 'down';
}
