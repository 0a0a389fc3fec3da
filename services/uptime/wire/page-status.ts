import { getPageStatus, type PageStatus } from '../../contracts/uptime/page-status.ts';
import type { StoredPage } from '../store/status-pages.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import type { RuntimeMonitor } from '../monitoring/monitor-state.ts';

/** Returns the active monitors of a page without duplicates. */
export function getPageMonitors(page: StoredPage, monitors: Monitors): readonly RuntimeMonitor[] {
  const ids = new Set(page.groups.flatMap(({ monitorList }) => monitorList.map(({ id }) => id)));
  return [...ids].flatMap((id) => monitors.find(id) ?? []).filter((monitor) => monitors.isActive(monitor));
}

/** Returns the combined status of a page. */
export function pageStatus(page: StoredPage, monitors: Monitors): PageStatus {
  return getPageStatus(getPageMonitors(page, monitors).flatMap(({ checkState }) => checkState.status ?? []));
}
