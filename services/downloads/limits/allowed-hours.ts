import { isQuiet, parseQuietSpans, getQuietEnd, type QuietSpan, type WallClock } from '../../contracts/quiet-hours.ts';

const week = 7 * 24 * 60;

/** Whether downloads may run at a moment, and when that changes. */
export interface Opening {
  readonly open: boolean;
  /** ms since the epoch; null: never. */
  readonly changesAt: number | null;
}

/** Whether the lines allow a moment; as {@link openingAt}, without the search for the next change. */
export function isOpenAt(lines: readonly string[], wall: WallClock, time: number): boolean {
  const spans = parseQuietSpans(lines);
  return spans.length === 0 || isQuiet(spans, wall, time);
}

/** What the lines (`mon-fri 22:00-07:00`) say of a moment, in ms since the epoch. Without any line it is always open. */
export function openingAt(lines: readonly string[], wall: WallClock, time: number): Opening {
  const spans = parseQuietSpans(lines);
  if (spans.length === 0) return { open: true, changesAt: null };
  const closes = getQuietEnd(spans, wall, time);
  if (closes !== undefined) return { open: true, changesAt: finite(closes) };
  return { open: false, changesAt: finite(getQuietEnd(between(spans), wall, time) ?? Infinity) };
}

/** The rest of the week. */
function between(spans: readonly QuietSpan[]): readonly QuietSpan[] {
  const taken = spans
    .flatMap(({ from, to }) =>
      to > week
        ? [
            { from, to: week },
            { from: 0, to: to - week },
          ]
        : [{ from, to }],
    )
    .toSorted((a, b) => a.from - b.from);
  const free: QuietSpan[] = [];
  let end = 0;
  for (const { from, to } of taken) {
    if (from > end) free.push({ from: end, to: from });
    end = Math.max(end, to);
  }
  return end < week ? [...free, { from: end, to: week }] : free;
}

function finite(time: number): number | null {
  return Number.isFinite(time) ? time : null;
}
