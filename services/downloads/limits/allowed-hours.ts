import { isQuiet, parseQuietSpans, getQuietEnd, type QuietSpan, type WallClock } from '../../contracts/quiet-hours.ts';

const minutesPerWeek = 7 * 24 * 60;

/** Returns whether downloads may run at a time, and when that changes. */
export interface AllowedState {
  readonly open: boolean;
  /** In ms since the epoch; null when it never changes. */
  readonly changesAt: number | null;
}

/**
 * Returns whether the lines allow downloads at a time. Like {@link getAllowedState}, without the search for the next
 * change.
 */
export function isOpenAt(lines: readonly string[], wall: WallClock, time: number): boolean {
  const spans = parseQuietSpans(lines);
  return spans.length === 0 || isQuiet(spans, wall, time);
}

/**
 * Evaluates lines such as `mon-fri 22:00-07:00` at a time in ms since the epoch. Without lines, downloads may always
 * run.
 */
export function getAllowedState(lines: readonly string[], wall: WallClock, time: number): AllowedState {
  const spans = parseQuietSpans(lines);
  if (spans.length === 0) return { open: true, changesAt: null };
  const closesAt = getQuietEnd(spans, wall, time);
  if (closesAt !== undefined) return { open: true, changesAt: toFiniteTime(closesAt) };
  return { open: false, changesAt: toFiniteTime(getQuietEnd(invertSpans(spans), wall, time) ?? Infinity) };
}

/** Returns the spans of the week that are outside of the given spans. */
function invertSpans(spans: readonly QuietSpan[]): readonly QuietSpan[] {
  const sorted = spans
    .flatMap(({ from, to }) =>
      to > minutesPerWeek
        ? [
            { from, to: minutesPerWeek },
            { from: 0, to: to - minutesPerWeek },
          ]
        : [{ from, to }],
    )
    .toSorted((a, b) => a.from - b.from);
  const free: QuietSpan[] = [];
  let end = 0;
  for (const { from, to } of sorted) {
    if (from > end) free.push({ from: end, to: from });
    end = Math.max(end, to);
  }
  return end < minutesPerWeek ? [...free, { from: end, to: minutesPerWeek }] : free;
}

function toFiniteTime(time: number): number | null {
  return Number.isFinite(time) ? time : null;
}
