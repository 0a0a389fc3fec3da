import { describe, expect, it } from 'vitest';
import { MaintenanceConfig } from '../../../services/contracts/uptime/maintenance.ts';
import {
  findSlotAt,
  findSlots,
  getMaintenanceStatus,
  validateWindow,
} from '../../../services/uptime/domain/maintenance.ts';
import { toTimestamp, getWallTime } from '../../../services/uptime/domain/time-zone.ts';

const time = (text: string) => {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return { hours, minutes };
};

function plan(fields: object, zone = 'Europe/Berlin') {
  return { config: MaintenanceConfig.parse({ title: 'x', ...fields }), zone, since: 0 };
}

/** Returns the first slots after a time as `start end`, without default parts. */
function slots(fields: object, from: string, maxSlots = 1, zone?: string): string[] {
  return findSlots(plan(fields, zone), Date.parse(from), maxSlots).map(({ start, end }) =>
    [start, end].map((timestamp) => new Date(timestamp).toISOString().slice(0, 16)).join(' '),
  );
}

const nightly = (from: string, to: string, overrides: object = {}) => ({
  ...{ strategy: 'recurring-interval', intervalDay: 1, dateRange: ['2026-01-01 00:00:00'] },
  timeRange: [time(from), time(to)],
  ...overrides,
});

describe('wall-clock times and clock changes', () => {
  it.each([
    // Berlin: 2026-03-29 02:00 becomes 03:00, at 01:00 UTC.
    ['the day before', '02:00', '03:30', '2026-03-27T12:00Z', '2026-03-28T01:00 2026-03-28T02:30'],
    [
      'a start in the hour left out comes at the change',
      '02:15',
      '03:30',
      '2026-03-28T12:00Z',
      '2026-03-29T01:00 2026-03-29T01:30',
    ],
    ['an end in it as well', '01:00', '02:30', '2026-03-28T12:00Z', '2026-03-29T00:00 2026-03-29T01:00'],
    [
      'one that lies in it whole keeps its length',
      '02:10',
      '02:40',
      '2026-03-28T12:00Z',
      '2026-03-29T01:00 2026-03-29T01:30',
    ],
    ['one around it is an hour shorter', '01:00', '05:00', '2026-03-28T12:00Z', '2026-03-29T00:00 2026-03-29T03:00'],
    [
      'the day after, an hour earlier in UTC',
      '02:00',
      '03:30',
      '2026-03-29T12:00Z',
      '2026-03-30T00:00 2026-03-30T01:30',
    ],
    // 2026-10-25 03:00 becomes 02:00, at 01:00 UTC.
    [
      'an hour that comes twice is meant its first time',
      '02:15',
      '02:45',
      '2026-10-24T12:00Z',
      '2026-10-25T00:15 2026-10-25T00:45',
    ],
    ['one around it is an hour longer', '01:00', '05:00', '2026-10-24T12:00Z', '2026-10-24T23:00 2026-10-25T04:00'],
    [
      'past midnight it ends on the next day',
      '23:00',
      '03:30',
      '2026-03-28T12:00Z',
      '2026-03-28T22:00 2026-03-29T01:30',
    ],
  ])('computes the occurrences of %s', (_case, from, to, timestamp, expected) => {
    expect(slots(nightly(from, to), timestamp)).toEqual([expected]);
  });

  it.each([
    ['New York', 'America/New_York', '2026-03-07T18:00Z', '2026-03-08T07:00 2026-03-08T07:30'],
    [
      'Lord Howe, which moves by half an hour',
      'Australia/Lord_Howe',
      '2026-10-03T03:00Z',
      '2026-10-03T15:30 2026-10-03T16:00',
    ],
    ['Kathmandu, which never moves', 'Asia/Kathmandu', '2026-03-28T12:00Z', '2026-03-28T20:30 2026-03-28T21:15'],
  ])('computes the time of %s', (_case, zone, timestamp, expected) => {
    const to = zone.startsWith('Asia') ? '03:00' : '02:30';
    const from = zone.startsWith('Asia') ? '02:15' : '02:00';
    expect(slots(nightly(from, to), timestamp, 1, zone)).toEqual([expected]);
  });

  it('starts and ends at the configured wall-clock times on every day', () => {
    for (const zone of [
      'Europe/Berlin',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'America/Santiago',
      'Asia/Tehran',
      'UTC',
    ]) {
      for (const [from, to] of [
        ['00:00', '00:30'],
        ['02:15', '03:10'],
        ['23:30', '01:30'],
      ] as const) {
        let before = 0;
        const slots = findSlots(plan(nightly(from, to), zone), Date.parse('2026-01-02T00:00Z'), 370);
        expect(slots).toHaveLength(370);
        for (const { start, end } of slots) {
          const wallTime = getWallTime(start, zone);
          const expected = { ...wallTime, ...time(from), seconds: 0 };
          // A slot may only start later in an hour that the clock change skips, and never before the change.
          if (wallTime.hours !== expected.hours || wallTime.minutes !== expected.minutes) {
            expect(getWallTime(start - 1000, zone).hours * 60 + getWallTime(start - 1000, zone).minutes).toBeLessThan(
              expected.hours * 60 + expected.minutes || 1440,
            );
          }
          expect(start).toBeGreaterThan(before);
          expect(end).toBeGreaterThan(start);
          expect(end - start).toBeLessThanOrEqual(3 * 3_600_000);
          before = start;
        }
      }
    }
  });

  it('converts wall-clock times back into timestamps all year', () => {
    for (const zone of ['Europe/Berlin', 'America/Sao_Paulo', 'Pacific/Apia', 'Asia/Kolkata', 'America/Caracas']) {
      for (
        let timestamp = Date.parse('2026-01-01T00:00Z');
        timestamp < Date.parse('2027-01-01T00:00Z');
        timestamp += 35_099_000
      ) {
        const back = toTimestamp(getWallTime(timestamp, zone), zone);
        expect([0, 3_600_000, 1_800_000]).toContain(timestamp - back);
        expect(getWallTime(back, zone)).toEqual(getWallTime(timestamp, zone));
      }
    }
  });
});

describe('maintenance strategies', () => {
  it('computes a single window in its zone', () => {
    const once = { strategy: 'single', dateRange: ['2026-07-01 10:00:00', '2026-07-01T12:30'] };
    expect(slots(once, '2026-06-01T00:00Z')).toEqual(['2026-07-01T08:00 2026-07-01T10:30']);
    expect(getMaintenanceStatus(plan(once), Date.parse('2026-07-01T07:59:59Z'))).toBe('scheduled');
    expect(getMaintenanceStatus(plan(once), Date.parse('2026-07-01T08:00:00Z'))).toBe('under-maintenance');
    expect(getMaintenanceStatus(plan(once), Date.parse('2026-07-01T10:30:00Z'))).toBe('ended');
  });

  it('keeps a manual window active while it is enabled', () => {
    expect(getMaintenanceStatus(plan({ strategy: 'manual' }), 5)).toBe('under-maintenance');
    expect(getMaintenanceStatus(plan({ strategy: 'manual', active: false }), 5)).toBe('inactive');
  });

  it('counts an interval of three days from the first day', () => {
    const third = nightly('02:00', '03:00', { intervalDay: 3, dateRange: ['2026-03-25 00:00:00'] });
    expect(slots(third, '2026-03-26T00:00Z', 3)).toEqual([
      '2026-03-28T01:00 2026-03-28T02:00',
      '2026-03-31T00:00 2026-03-31T01:00',
      '2026-04-03T00:00 2026-04-03T01:00',
    ]);
  });

  it('applies weekdays to the start', () => {
    const weekdays = { strategy: 'recurring-weekday', weekdays: [0, 3], timeRange: [time('23:00'), time('01:00')] };
    expect(slots(weekdays, '2026-03-23T00:00Z', 3)).toEqual([
      '2026-03-25T22:00 2026-03-26T00:00',
      '2026-03-29T21:00 2026-03-29T23:00',
      '2026-04-01T21:00 2026-04-01T23:00',
    ]);
    expect(findSlotAt(plan(weekdays), Date.parse('2026-03-25T23:30Z'))).toBeDefined();
  });

  it('supports days from both ends of the month and skips a missing 31st', () => {
    const days = (list: unknown[]) => ({
      strategy: 'recurring-day-of-month',
      daysOfMonth: list,
      timeRange: [time('12:00'), time('13:00')],
    });
    const starts = (list: unknown[], count: number) =>
      slots(days(list), '2026-01-01T00:00Z', count, 'UTC').map((text) => text.slice(0, 10));
    expect(starts([31], 3)).toEqual(['2026-01-31', '2026-03-31', '2026-05-31']);
    expect(starts(['lastDay1'], 3)).toEqual(['2026-01-31', '2026-02-28', '2026-03-31']);
    expect(starts([1, 'lastDay2'], 4)).toEqual(['2026-01-01', '2026-01-30', '2026-02-01', '2026-02-27']);
    expect(slots(days([29]), '2028-02-01T00:00Z', 1, 'UTC')).toEqual(['2028-02-29T12:00 2028-02-29T13:00']);
  });

  it('starts a cron window by its rule and ends it after its duration', () => {
    const rule = { strategy: 'cron', cron: '30 3 * * 0', durationMinutes: 90 };
    expect(slots(rule, '2026-03-28T00:00Z', 2)).toEqual([
      '2026-03-29T01:30 2026-03-29T03:00',
      '2026-04-05T01:30 2026-04-05T03:00',
    ]);
    // 02:30 does not exist in that night: the slot starts right after the change.
    expect(slots({ ...rule, cron: '30 2 * * 0' }, '2026-03-28T00:00Z')).toEqual(['2026-03-29T01:00 2026-03-29T02:30']);
    const often = { strategy: 'cron', cron: '* * * * *', durationMinutes: 5 };
    expect(findSlotAt(plan(often), Date.parse('2026-03-28T00:00:30Z'))?.start).toBeLessThan(
      Date.parse('2026-03-28T00:00Z'),
    );
  });

  it('merges overlapping cron runs into one slot', () => {
    const often = plan({ strategy: 'cron', cron: '*/5 8-11 * * *', durationMinutes: 30 }, 'UTC');
    const one = { start: Date.parse('2026-03-28T08:00Z'), end: Date.parse('2026-03-28T12:25Z') };
    for (const time of ['07:00', '08:00', '09:31', '12:24'])
      expect(findSlots({ ...often, config: { ...often.config } }, Date.parse(`2026-03-28T${time}Z`), 1)).toEqual([one]);
    expect(findSlots(often, Date.parse('2026-03-28T12:25Z'), 2)).toEqual([
      { start: one.start + 86_400_000, end: one.end + 86_400_000 },
      { start: one.start + 2 * 86_400_000, end: one.end + 2 * 86_400_000 },
    ]);
    // The slot started when it was enabled, and has no end.
    const always = { ...plan({ strategy: 'cron', cron: '* * * * *', durationMinutes: 60 }, 'UTC') };
    const since = Date.parse('2026-03-28T08:00:20Z');
    for (const time of ['2026-03-28T08:00:40Z', '2026-03-28T21:15Z', '2027-01-01T00:00Z'])
      expect(findSlotAt({ ...always, config: { ...always.config }, since }, Date.parse(time))).toEqual({
        start: since - 20_000,
        end: Infinity,
      });
  });

  it('limits slots to the date range', () => {
    const range = nightly('02:00', '03:00', { dateRange: ['2026-05-01 00:00:00', '2026-05-03 02:30:00'] });
    expect(slots(range, '2026-01-01T00:00Z', 9)).toEqual([
      '2026-05-01T00:00 2026-05-01T01:00',
      '2026-05-02T00:00 2026-05-02T01:00',
      '2026-05-03T00:00 2026-05-03T00:30',
    ]);
    expect(getMaintenanceStatus(plan(range), Date.parse('2026-06-01T00:00Z'))).toBe('ended');
  });

  it('reports invalid windows by field', () => {
    const listInvalidFields = (fields: object) => Object.keys(validateWindow(plan(fields).config));
    expect(
      listInvalidFields({ strategy: 'single', dateRange: ['2026-01-02 00:00:00', '2026-01-01 00:00:00'] }),
    ).toEqual(['dateRange']);
    expect(listInvalidFields({ strategy: 'single', dateRange: ['2026-01-02 00:00:00'] })).toEqual(['dateRange']);
    expect(listInvalidFields({ strategy: 'recurring-weekday' })).toEqual(['weekdays']);
    expect(listInvalidFields({ strategy: 'recurring-day-of-month' })).toEqual(['daysOfMonth']);
    expect(listInvalidFields({ strategy: 'cron', cron: 'often' })).toEqual(['cron']);
    expect(listInvalidFields(nightly('02:00', '02:00'))).toEqual(['timeRange']);
    expect(
      MaintenanceConfig.safeParse({ title: 'x', strategy: 'single', dateRange: ['2026-02-30 00:00'] }).success,
    ).toBe(false);
  });
});
