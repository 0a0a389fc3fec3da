import { getPageStatus, type PageStatus } from '../../contracts/uptime/page-status.ts';
import type { KnownPage } from '../store/status-pages.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import type { Watched } from '../monitoring/monitor-state.ts';

/** Returns the active monitors of a page without duplicates. */
export function monitorsOf(page: KnownPage, monitors: Monitors): readonly Watched[] {
  const ids = new Set(page.groups.flatMap(({ monitorList }) => monitorList.map(({ id }) => id)));
  return [...ids].flatMap((id) => monitors.find(id) ?? []).filter((watched) => monitors.isActive(watched));
}

/** Returns the combined status of a page. */
export function pageStatus(page: KnownPage, monitors: Monitors): PageStatus {
  return getPageStatus(monitorsOf(page, monitors).flatMap(({ standing }) => standing.status ?? []));
}
