import { describe, expect, it } from 'vitest';
import { QuietHours, parseQuietSpans, getQuietEnd, createWallClock } from '../../../services/contracts/quiet-hours.ts';

const berlin = createWallClock('Europe/Berlin');
const utc = createWallClock('UTC');

/** Returns the end of the quiet hours at a time as ISO text; undefined outside of quiet hours. */
function end(lines: readonly string[], start: string, clock = utc): string | undefined {
  const until = getQuietEnd(parseQuietSpans(lines), clock, Date.parse(start));
  return until === undefined ? undefined : new Date(until).toISOString();
}

describe('QuietHours', () => {
  it.each(['22:00-07:00', 'daily 22:00-07:00', 'Mon-Fri 22:00 - 7:00', 'sat sun 23:00-09:30', 'fri-mon 0:00-24:00'])(
    'accepts %s',
    (line) => expect(QuietHours.safeParse(line).success).toBe(true),
  );
  it.each(['', 'mon', '25:00-07:00', '22:60-07:00', 'someday 22:00-07:00', '22:00', '22:00-07:00; rm -rf'])(
    'rejects "%s"',
    (line) => expect(QuietHours.safeParse(line).success).toBe(false),
  );
});

describe('getQuietEnd', () => {
  it('excludes the last minute of a span', () => {
    expect(end(['12:00-14:00'], '2026-03-10T11:59:59Z')).toBeUndefined();
    expect(end(['12:00-14:00'], '2026-03-10T12:00:00Z')).toBe('2026-03-10T14:00:00.000Z');
    expect(end(['12:00-14:00'], '2026-03-10T13:59:59Z')).toBe('2026-03-10T14:00:00.000Z');
    expect(end(['12:00-14:00'], '2026-03-10T14:00:00Z')).toBeUndefined();
  });

  it('extends a span over midnight into the next day', () => {
    // 13 March 2026 is a Friday.
    expect(end(['fri 22:00-07:00'], '2026-03-13T06:00:00Z')).toBeUndefined();
    expect(end(['fri 22:00-07:00'], '2026-03-13T23:00:00Z')).toBe('2026-03-14T07:00:00.000Z');
    expect(end(['fri 22:00-07:00'], '2026-03-14T06:59:00Z')).toBe('2026-03-14T07:00:00.000Z');
    expect(end(['fri 22:00-07:00'], '2026-03-14T22:30:00Z')).toBeUndefined();
  });

  it('extends a span from Sunday night into Monday', () => {
    expect(end(['sun 22:00-07:00'], '2026-03-16T05:00:00Z')).toBe('2026-03-16T07:00:00.000Z');
    expect(end(['sat-mon 22:00-07:00'], '2026-03-15T05:00:00Z')).toBe('2026-03-15T07:00:00.000Z');
    expect(end(['sat-mon 22:00-07:00'], '2026-03-18T05:00:00Z')).toBeUndefined();
  });

  it('joins adjacent spans', () => {
    expect(end(['mon 20:00-24:00', 'tue 00:00-06:00'], '2026-03-16T21:00:00Z')).toBe('2026-03-17T06:00:00.000Z');
    expect(end(['12:00-13:00', '13:05-14:00'], '2026-03-16T12:30:00Z')).toBe('2026-03-16T13:00:00.000Z');
  });

  it('returns Infinity when the spans cover the whole week', () => {
    expect(getQuietEnd(parseQuietSpans(['00:00-24:00']), utc, Date.parse('2026-03-16T21:00:00Z'))).toBe(Infinity);
    expect(getQuietEnd(parseQuietSpans(['06:30-06:30']), utc, Date.parse('2026-03-16T21:00:00Z'))).toBe(Infinity);
  });

  it('uses wall-clock time in the night that is an hour shorter', () => {
    // 29 March 2026, 02:00 CET becomes 03:00 CEST: 07:00 is 05:00 UTC, 8 hours after 22:00 (21:00 UTC).
    expect(end(['22:00-07:00'], '2026-03-28T20:59:00Z', berlin)).toBeUndefined();
    expect(end(['22:00-07:00'], '2026-03-28T21:00:00Z', berlin)).toBe('2026-03-29T05:00:00.000Z');
    expect(end(['22:00-07:00'], '2026-03-29T04:59:00Z', berlin)).toBe('2026-03-29T05:00:00.000Z');
    expect(end(['22:00-07:00'], '2026-03-29T05:00:00Z', berlin)).toBeUndefined();
  });

  it('uses wall-clock time in the night that is an hour longer', () => {
    // 25 October 2026, 03:00 CEST becomes 02:00 CET: 07:00 is 06:00 UTC.
    expect(end(['22:00-07:00'], '2026-10-24T20:00:00Z', berlin)).toBe('2026-10-25T06:00:00.000Z');
    expect(end(['22:00-07:00'], '2026-10-25T05:30:00Z', berlin)).toBe('2026-10-25T06:00:00.000Z');
  });

  it('shifts a start or end within the skipped hour to its end', () => {
    expect(end(['02:30-05:00'], '2026-03-29T00:59:00Z', berlin)).toBeUndefined();
    expect(end(['02:30-05:00'], '2026-03-29T01:00:00Z', berlin)).toBe('2026-03-29T03:00:00.000Z');
    expect(end(['22:00-02:30'], '2026-03-28T23:00:00Z', berlin)).toBe('2026-03-29T01:00:00.000Z');
  });

  it('supports zones with an offset of partial hours', () => {
    // Kathmandu is 5:45 ahead.
    expect(end(['22:00-07:00'], '2026-03-10T20:00:00Z', createWallClock('Asia/Kathmandu'))).toBe(
      '2026-03-11T01:15:00.000Z',
    );
  });
});
