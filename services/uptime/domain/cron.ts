import type { Cron } from 'croner';

/** A stretch of a window, ms since the epoch; `end` is infinite for one that somebody has to end. */
export interface Slot {
  readonly start: number;
  readonly end: number;
}

/** A rule, and for how long after each of its times a window runs. */
export interface Repeated {
  readonly rule: Cron;
  readonly lengthMs: number;
  /** Since when it has been on. */
  readonly since: number;
  /** Between which moments it may run. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** What overlaps for longer than so many lengths is taken to have no end. */
const mostLinks = 1500;

/**
 * The slots that have not ended at a moment. Those that overlap are one, which starts at the same moment whenever one looks:
 * it is told of by that. `known` are slots found before.
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

/** Where what overlaps a run began, no earlier than the run at which the window was turned on. */
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

/** The last run at or before a moment. */
function latest(rule: Cron, at: number): number | undefined {
  return rule.previousRuns(1, new Date(at + 1))[0]?.getTime();
}
