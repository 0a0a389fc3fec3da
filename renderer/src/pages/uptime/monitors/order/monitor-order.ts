import type { MonitorRow } from '../../../../../../services/contracts/uptime/views.ts';

/** Weight of a monitor without one, as in Uptime Kuma. */
const defaultWeight = 2000;
/** Distance between the weights of neighbors. */
const weightStep = 10;

/** Position next to another member of the same group. */
export interface OrderPlace {
  /** ID of the other member. */
  readonly id: number;
  readonly isAfter: boolean;
}

/** Weight that a monitor receives. */
export interface MonitorWeight {
  readonly id: number;
  readonly weight: number;
}

/** Compares members of a group by their manual order: higher weights come first. */
export function compareWeights(a: MonitorRow, b: MonitorRow): number {
  return (b.weight ?? defaultWeight) - (a.weight ?? defaultWeight);
}

/** Returns the changed weights after a member of a group was moved. `members` is in the present order. */
export function buildWeights(
  members: readonly MonitorRow[],
  moved: number,
  { id, isAfter }: OrderPlace,
): readonly MonitorWeight[] {
  const others = members.filter((member) => member.id !== moved);
  const index = others.findIndex((member) => member.id === id);
  const member = members.find((each) => each.id === moved);
  if (member === undefined || index === -1) return [];
  return others
    .toSpliced(index + (isAfter ? 1 : 0), 0, member)
    .map((each, position, all) => ({ each, weight: (all.length - position) * weightStep }))
    .filter(({ each, weight }) => each.weight !== weight)
    .map(({ each, weight }) => ({ id: each.id, weight }));
}
