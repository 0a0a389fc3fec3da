import type { MonitorRow } from '../../../../../services/contracts/uptime/views.ts';

/** Filters of the monitor list, with their labels; all but the first are status groups. */
export const filters = [
  ['all', 'All'],
  ['down', 'Down'],
  ['up', 'Up'],
  ['retrying', 'Trying again'],
  ['maintained', 'Maintenance'],
  ['unknown', 'Waiting'],
  ['paused', 'Paused'],
] as const;
export type Filter = (typeof filters)[number][0];
export type Group = Exclude<Filter, 'all'>;

const groups = ['down', 'up', 'retrying', 'maintained'] as const;

/** Returns the status group of a monitor; paused monitors form a separate group. */
export function getStatusGroup({ active, state }: Pick<MonitorRow, 'active' | 'state'>): Group {
  if (!active) return 'paused';
  return state.status === null ? 'unknown' : groups[state.status];
}
