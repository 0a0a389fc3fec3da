import type { TemplateRun } from '../run.ts';
import { Moment } from '../time/moment.ts';
import { Dict, Integer, List, getType, type Value } from '../values.ts';

/** Returns true when type and content are equal, recursively. */
export function isDeepEqual(a: Value, b: Value, run: TemplateRun): boolean {
  run.step();
  if ((a ?? null) === null || (b ?? null) === null) return (a ?? null) === (b ?? null);
  if (getType(a) !== getType(b)) return false;
  if (a instanceof List && b instanceof List) {
    if (a.isNil !== b.isNil || a.items.length !== b.items.length) return false;
    return a === b || a.items.every((item, index) => isDeepEqual(item, b.items[index], run));
  }
  if (a instanceof Dict && b instanceof Dict) {
    if (a === b) return true;
    if (a.entries.size !== b.entries.size) return false;
    return [...a.entries].every(([name, value]) => b.entries.has(name) && isDeepEqual(value, b.entries.get(name), run));
  }
  if (a instanceof Integer && b instanceof Integer) return a.value === b.value;
  if (a instanceof Moment && b instanceof Moment) return a.nanoseconds === b.nanoseconds && a.zone.name === b.zone.name;
  return a === b;
}
