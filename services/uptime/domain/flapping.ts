import type { FlapThreshold } from '../../contracts/uptime/monitor.ts';

/** When a monitor changed lately, and whether that is too often to tell of each time. */
export interface Flapping {
  readonly changes: readonly number[];
  readonly flapping: boolean;
}

export const steady: Flapping = { changes: [], flapping: false };

/** After a change at `at`. It flaps when it changed more often than the rule says. */
export function changed(rule: Exclude<FlapThreshold, false>, before: Flapping, at: number): Flapping {
  const changes = recent(rule, [...before.changes, at], at);
  return { changes, flapping: before.flapping || changes.length > rule.changes };
}

/** As time goes by: it is steady again once it has not changed for the whole time of the rule. */
export function settled(rule: Exclude<FlapThreshold, false>, before: Flapping, now: number): Flapping {
  if (!before.flapping) return before;
  const changes = recent(rule, before.changes, now);
  return changes.length === 0 ? steady : { changes, flapping: true };
}

function recent(rule: Exclude<FlapThreshold, false>, changes: readonly number[], now: number): number[] {
  return changes.filter((at) => at > now - rule.withinSeconds * 1000);
}
