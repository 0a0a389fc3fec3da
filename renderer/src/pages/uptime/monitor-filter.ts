import type { MonitorRow } from '../../../../services/contracts/uptime/views.ts';

/** Which monitors a list shows, in the order of its choices; all but the first are how one stands. */
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

/** By how it stands now; what is paused is nothing else. */
export function groupOf({ active, state }: Pick<MonitorRow, 'active' | 'state'>): Group {
  if (!active) return 'paused';
  return state.status === null ? 'unknown' : groups[state.status];
}
