import * as m from '#messages/uptime';
import type { MonitorRow } from '../../../../../services/contracts/uptime/views.ts';

/** Returns the filters of the monitor list, with their labels; all but the first are status groups. */
export const getFilters = () =>
  [
    ['all', m.all()],
    ['down', m.downMonitors()],
    ['up', m.upMonitors()],
    ['retrying', m.retryingMonitors()],
    ['maintained', m.maintenance()],
    ['unknown', m.waitingMonitors()],
    ['paused', m.pausedMonitors()],
  ] as const;
export type Filter = ReturnType<typeof getFilters>[number][0];
export type Group = Exclude<Filter, 'all'>;

const groups = ['down', 'up', 'retrying', 'maintained'] as const;

/** Returns the status group of a monitor; paused monitors form a separate group. */
export function getStatusGroup({ active, state }: Pick<MonitorRow, 'active' | 'state'>): Group {
  if (!active) return 'paused';
  return state.status === null ? 'unknown' : groups[state.status];
}
