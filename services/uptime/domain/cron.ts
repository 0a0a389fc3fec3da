import type { Cron } from 'croner';

/**
 * Time span of a maintenance window, in milliseconds since the epoch. `end` is infinite when the window is ended
 * manually.
 */
export interface Slot {
  readonly start: number;
  readonly end: number;
}

/** Recurrence rule with the duration of each run. */
export interface Repeated {
  readonly rule: Cron;
  readonly lengthMs: number;
  /** Time at which the window was enabled. */
  readonly since: number;
  /** Bounds of the runs. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** Number of overlapping runs after which a slot is treated as endless. */
const mostLinks = 1500;

/**
 * Returns the slots that end after `now`. Overlapping runs are merged into one slot, whose start does not depend on
 * `now`, because notifications identify a slot by its start.
 * @param cachedSlots Slots of an earlier call
 */
export function cronSlots(repeated: Repeated, now: number, most: number, known: readonly Slot[] = []): Slot[] {
  const { rule, lengthMs, first, last } = repeated;
  const found: Slot[] = [];
  let after = Math.max(now - lengthMs, (first ?? -Infinity) - 1, 0);
  while (found.length < most) {
    const run = next(rule, after);
    if (run === undefined || (last !== undefined && run >= last)) break;
    const slot =
      known.find(({ start, end }) => start <= run && run <= end) ??
      ({ start: found.length === 0 ? startOf(repeated, run) : run, end: endOf(repeated, run) } satisfies Slot);
    if (slot.end > now) found.push(slot);
    if (slot.end === Infinity) break;
    after = Math.max(slot.end, run);
  }
  return found;
}

/**
 * Returns the start of the merged slot that contains a run, no earlier than the run at which the window was enabled.
 */
function startOf({ rule, lengthMs, since, first = -Infinity }: Repeated, run: number): number {
  const turnedOn = latest(rule, since) ?? since;
  let start = run;
  for (let links = 0; links < mostLinks; links += 1) {
    if (start <= turnedOn) return turnedOn;
    const before = next(rule, Math.max(start - lengthMs, first) - 1);
    if (before === undefined || before >= start) return start;
    start = before;
  }
  return Math.max(first, turnedOn);
}

function endOf({ rule, lengthMs, last = Infinity }: Repeated, run: number): number {
  let at = run;
  for (let links = 0; links < mostLinks; links += 1) {
    const end = at + lengthMs;
    if (end >= last) return last;
    const further = latest(rule, end);
    if (further === undefined || further <= at) return end;
    at = further;
  }
  return last;
}

function next(rule: Cron, after: number): number | undefined {
  return rule.nextRun(new Date(Math.max(after, 0)))?.getTime();
}

/** Returns the last run at or before a time. */
function latest(rule: Cron, at: number): number | undefined {
  return rule.previousRuns(1, new Date(at + 1))[0]?.getTime();
}
