import { describe, expect, it } from 'vitest';
import { parseDelay } from '../../../../services/push/domain/delay.ts';

/** A Wednesday, 14:30:20 local time. */
const now = new Date(2026, 6, 15, 14, 30, 20).getTime();
const year = 400 * 24 * 3600;
const at = (...parts: [number, number, number, number?, number?, number?]): number =>
  new Date(parts[0], parts[1], parts[2], parts[3] ?? 0, parts[4] ?? 0, parts[5] ?? 0).getTime() / 1000;
const seconds = now / 1000;

describe('a delay', () => {
  it.each([
    [String(seconds + 60), seconds + 60],
    ['30m', seconds + 1800],
    ['1h30m', seconds + 5400],
    ['90s', seconds + 90],
    ['30 min', seconds + 1800],
    ['2 Hours', seconds + 7200],
    ['1 day', seconds + 86_400],
    ['2days', seconds + 2 * 86_400],
    ['in 2 hours', seconds + 7200],
    ['in an hour', seconds + 3600],
    ['10am', at(2026, 6, 16, 10)],
    ['10pm', at(2026, 6, 15, 22)],
    ['10:15 pm', at(2026, 6, 15, 22, 15)],
    ['at 23:05', at(2026, 6, 15, 23, 5)],
    ['12am', at(2026, 6, 16, 0)],
    ['noon', at(2026, 6, 16, 12)],
    ['tomorrow, 10am', at(2026, 6, 16, 10)],
    ['10am tomorrow', at(2026, 6, 16, 10)],
    ['tomorrow', at(2026, 6, 16, 14, 30, 20)],
    ['tomorrow at noon', at(2026, 6, 16, 12)],
    ['tonight', at(2026, 6, 15, 21)],
    ['Tuesday, 7pm', at(2026, 6, 21, 19)],
    ['wednesday 6pm', at(2026, 6, 15, 18)],
    ['Wed, 9am', at(2026, 6, 22, 9)],
    ['next wednesday 6pm', at(2026, 6, 22, 18)],
    ['friday', at(2026, 6, 17, 14, 30, 20)],
    ['2026-07-20 08:00', at(2026, 6, 20, 8)],
    ['24 dec, 18:00', at(2026, 11, 24, 18)],
    ['January 2nd 9am', at(2027, 0, 2, 9)],
  ])('%s', (text, due) => {
    expect(parseDelay(text, now, year)).toBe(due);
  });

  it.each([
    'soonish',
    'tomorrow tomorrow',
    '25:00',
    '13pm',
    '31 feb',
    '-5m x',
    '1639194738',
    'in',
    'feb',
    '99999999999999999',
  ])('%s is none', (text) => {
    expect(() => parseDelay(text, now, year)).toThrow('unable to parse delay');
  });

  it('keeps to its bounds', () => {
    expect(() => parseDelay('9s', now, year)).toThrow('too small');
    expect(() => parseDelay('-1h', now, year)).toThrow('too small');
    expect(parseDelay('10s', now, year)).toBe(seconds + 10);
    expect(parseDelay('72h', now, 72 * 3600)).toBe(seconds + 72 * 3600);
    expect(() => parseDelay('73h', now, 72 * 3600)).toThrow('too large');
  });
});
