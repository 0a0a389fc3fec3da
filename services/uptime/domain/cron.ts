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
export interface CronSchedule {
  readonly rule: Cron;
  readonly lengthMs: number;
  /** Time at which the window was enabled. */
  readonly enabledSince: number;
  /** Bounds of the runs. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** Number of overlapping runs after which a slot is treated as endless. */
const maxOverlappingRuns = 1500;

/**
 * Returns the slots that end after `now`. Overlapping runs are merged into one slot, whose start does not depend on
 * `now`, because notifications identify a slot by its start.
 * @param cachedSlots Slots of an earlier call
 */
export function findCronSlots(
  schedule: CronSchedule,
  now: number,
  maxSlots: number,
  cachedSlots: readonly Slot[] = [],
): Slot[] {
  const { rule, lengthMs, first, last } = schedule;
  const slots: Slot[] = [];
  let searchFrom = Math.max(now - lengthMs, (first ?? -Infinity) - 1, 0);
  while (slots.length < maxSlots) {
    const run = findNextRun(rule, searchFrom);
    if (run === undefined || (last !== undefined && run >= last)) break;
    const slot =
      cachedSlots.find(({ start, end }) => start <= run && run <= end) ??
      ({
        start: slots.length === 0 ? findSlotStart(schedule, run) : run,
        end: findSlotEnd(schedule, run),
      } satisfies Slot);
    if (slot.end > now) slots.push(slot);
    if (slot.end === Infinity) break;
    searchFrom = Math.max(slot.end, run);
  }
  return slots;
}

/**
 * Returns the start of the merged slot that contains a run, no earlier than the run at which the window was enabled.
 */
function findSlotStart({ rule, lengthMs, enabledSince: since, first = -Infinity }: CronSchedule, run: number): number {
  const enabledAt = findPreviousRun(rule, since) ?? since;
  let start = run;
  for (let runs = 0; runs < maxOverlappingRuns; runs += 1) {
    if (start <= enabledAt) return enabledAt;
    const previousRun = findNextRun(rule, Math.max(start - lengthMs, first) - 1);
    if (previousRun === undefined || previousRun >= start) return start;
    start = previousRun;
  }
  return Math.max(first, enabledAt);
}

function findSlotEnd({ rule, lengthMs, last = Infinity }: CronSchedule, run: number): number {
  let lastRun = run;
  for (let runs = 0; runs < maxOverlappingRuns; runs += 1) {
    const end = lastRun + lengthMs;
    if (end >= last) return last;
    const laterRun = findPreviousRun(rule, end);
    if (laterRun === undefined || laterRun <= lastRun) return end;
    lastRun = laterRun;
  }
  return last;
}

function findNextRun(rule: Cron, after: number): number | undefined {
  return rule.nextRun(new Date(Math.max(after, 0)))?.getTime();
}

/** Returns the last run at or before a time. */
function findPreviousRun(rule: Cron, at: number): number | undefined {
  return rule.previousRuns(1, new Date(at + 1))[0]?.getTime();
}
