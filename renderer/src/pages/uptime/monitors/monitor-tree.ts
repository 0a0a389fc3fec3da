import type { MonitorRow } from '../../../../../services/contracts/uptime/views.ts';
import { compareWeights } from './order/monitor-order.ts';

/** Monitor of the list with the number of groups that contain it. */
export interface ListedMonitor {
  readonly monitor: MonitorRow;
  readonly depth: number;
}

type Compare = (a: MonitorRow, b: MonitorRow) => number;

/**
 * Lists each group before its members, and sorts every level; the manual order of the members of a group comes first. Members of a missing group, and of groups that contain
 * each other, are listed at the top level.
 */
export function buildMonitorTree(rows: readonly MonitorRow[], compare: Compare): readonly ListedMonitor[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const getGroup = ({ id, parent }: MonitorRow): number | undefined =>
    parent !== undefined && byId.has(parent) && !findAncestors(byId, id).has(id) ? parent : undefined;
  const members = Map.groupBy(rows, getGroup);
  const list = (group: number | undefined, depth: number): readonly ListedMonitor[] =>
    (members.get(group) ?? [])
      .toSorted((a, b) => (group === undefined ? 0 : compareWeights(a, b)) || compare(a, b))
      .flatMap((monitor) => [{ monitor, depth }, ...list(monitor.id, depth + 1)]);
  return list(undefined, 0);
}

/** Returns the groups to which monitors can be moved: not themselves and not their own members. */
export function findTargetGroups(rows: readonly MonitorRow[], ids: readonly number[]): readonly MonitorRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return rows.filter(
    ({ id, type }) => type === 'group' && !ids.includes(id) && !ids.some((moved) => findAncestors(byId, id).has(moved)),
  );
}

function findAncestors(byId: ReadonlyMap<number, MonitorRow>, id: number): ReadonlySet<number> {
  const ancestors = new Set<number>();
  for (let parent = byId.get(id)?.parent; parent !== undefined && !ancestors.has(parent);) {
    ancestors.add(parent);
    parent = byId.get(parent)?.parent;
  }
  return ancestors;
}
