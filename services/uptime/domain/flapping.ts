import type { FlapThreshold } from '../../contracts/uptime/monitor.ts';

/** Recent state changes of a monitor, and whether it is flapping. */
export interface Flapping {
  readonly changes: readonly number[];
  readonly flapping: boolean;
}

export const steady: Flapping = { changes: [], flapping: false };

/** Records a state change. The monitor is flapping when it changed more often than the rule allows. */
export function changed(rule: Exclude<FlapThreshold, false>, before: Flapping, at: number): Flapping {
  const changes = recent(rule, [...before.changes, at], at);
  return { changes, flapping: before.flapping || changes.length > rule.changes };
}

/** Ends flapping once no change occurred within the period of the rule. */
export function settled(rule: Exclude<FlapThreshold, false>, before: Flapping, now: number): Flapping {
  if (!before.flapping) return before;
  const changes = recent(rule, before.changes, now);
  return changes.length === 0 ? steady : { changes, flapping: true };
}

function recent(rule: Exclude<FlapThreshold, false>, changes: readonly number[], now: number): number[] {
  return changes.filter((at) => at > now - rule.withinSeconds * 1000);
}
