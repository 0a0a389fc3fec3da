import type { FlapThreshold } from '../../contracts/uptime/monitor.ts';

/** Recent state changes of a monitor, and whether it is flapping. */
export interface Flapping {
  readonly changes: readonly number[];
  readonly flapping: boolean;
}

export const notFlapping: Flapping = { changes: [], flapping: false };

/** Records a state change. The monitor is flapping when it changed more often than the rule allows. */
export function recordStateChange(
  rule: Exclude<FlapThreshold, false>,
  previous: Flapping,
  timestamp: number,
): Flapping {
  const changes = filterRecent(rule, [...previous.changes, timestamp], timestamp);
  return { changes, flapping: previous.flapping || changes.length > rule.changes };
}

/** Ends flapping once no change occurred within the period of the rule. */
export function updateFlapping(rule: Exclude<FlapThreshold, false>, previous: Flapping, now: number): Flapping {
  if (!previous.flapping) return previous;
  const changes = filterRecent(rule, previous.changes, now);
  return changes.length === 0 ? notFlapping : { changes, flapping: true };
}

function filterRecent(rule: Exclude<FlapThreshold, false>, changes: readonly number[], now: number): number[] {
  return changes.filter((timestamp) => timestamp > now - rule.withinSeconds * 1000);
}
