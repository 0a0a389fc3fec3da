import * as m from '#messages/uptime-states';
import { heartbeatStatus, type HeartbeatStatus } from './monitor.ts';

/** Combined status of all monitors of a status page. */
export type PageStatus = 'maintenance' | 'up' | 'partial' | 'down' | 'none';

/** Headings of a status page by its status. */
export const pageStatusTitles: Readonly<Record<PageStatus, () => string>> = {
  maintenance: m.pageMaintenance,
  up: m.pageUp,
  partial: m.pagePartial,
  down: m.pageDown,
  none: m.pageNone,
};

/** Labels of a monitor on a status page, by its status. */
export const visitorStatusLabels = [m.down, m.up, m.pending, m.maintenance] as const;

/** Combines the statuses of the active monitors that have been checked. */
export function getPageStatus(statuses: readonly HeartbeatStatus[]): PageStatus {
  if (statuses.length === 0) return 'none';
  if (statuses.includes(heartbeatStatus.maintenance)) return 'maintenance';
  const up = statuses.filter((status) => status === heartbeatStatus.up).length;
  return up === statuses.length ? 'up' : up > 0 ? 'partial' : 'down';
}
