import { describe, expect, it } from 'vitest';
import { parseDelay } from '../../../../services/push/domain/delay.ts';

/** A Wednesday, 14:30:20 local time. */
const now = new Date(2026, 6, 15, 14, 30, 20).getTime();
const yearSeconds = 400 * 24 * 3600;
const localSeconds = (...parts: [number, number, number, number?, number?, number?]): number =>
  new Date(parts[0], parts[1], parts[2], parts[3] ?? 0, parts[4] ?? 0, parts[5] ?? 0).getTime() / 1000;
const nowSeconds = now / 1000;

describe('delay', () => {
  it.each([
    [String(nowSeconds + 60), nowSeconds + 60],
    ['30m', nowSeconds + 1800],
    ['1h30m', nowSeconds + 5400],
    ['90s', nowSeconds + 90],
    ['30 min', nowSeconds + 1800],
    ['2 Hours', nowSeconds + 7200],
    ['1 day', nowSeconds + 86_400],
    ['2days', nowSeconds + 2 * 86_400],
    ['in 2 hours', nowSeconds + 7200],
    ['in an hour', nowSeconds + 3600],
    ['10am', localSeconds(2026, 6, 16, 10)],
    ['10pm', localSeconds(2026, 6, 15, 22)],
    ['10:15 pm', localSeconds(2026, 6, 15, 22, 15)],
    ['at 23:05', localSeconds(2026, 6, 15, 23, 5)],
    ['12am', localSeconds(2026, 6, 16, 0)],
    ['noon', localSeconds(2026, 6, 16, 12)],
    ['tomorrow, 10am', localSeconds(2026, 6, 16, 10)],
    ['10am tomorrow', localSeconds(2026, 6, 16, 10)],
    ['tomorrow', localSeconds(2026, 6, 16, 14, 30, 20)],
    ['tomorrow at noon', localSeconds(2026, 6, 16, 12)],
    ['tonight', localSeconds(2026, 6, 15, 21)],
    ['Tuesday, 7pm', localSeconds(2026, 6, 21, 19)],
    ['wednesday 6pm', localSeconds(2026, 6, 15, 18)],
    ['Wed, 9am', localSeconds(2026, 6, 22, 9)],
    ['next wednesday 6pm', localSeconds(2026, 6, 22, 18)],
    ['friday', localSeconds(2026, 6, 17, 14, 30, 20)],
    ['2026-07-20 08:00', localSeconds(2026, 6, 20, 8)],
    ['24 dec, 18:00', localSeconds(2026, 11, 24, 18)],
    ['January 2nd 9am', localSeconds(2027, 0, 2, 9)],
  ])('parses %s', (text, due) => {
    expect(parseDelay(text, now, yearSeconds)).toBe(due);
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
  ])('refuses %s', (text) => {
    expect(() => parseDelay(text, now, yearSeconds)).toThrow('unable to parse delay');
  });

  it('enforces its bounds', () => {
    expect(() => parseDelay('9s', now, yearSeconds)).toThrow('too small');
    expect(() => parseDelay('-1h', now, yearSeconds)).toThrow('too small');
    expect(parseDelay('10s', now, yearSeconds)).toBe(nowSeconds + 10);
    expect(parseDelay('72h', now, 72 * 3600)).toBe(nowSeconds + 72 * 3600);
    expect(() => parseDelay('73h', now, 72 * 3600)).toThrow('too large');
  });
});
