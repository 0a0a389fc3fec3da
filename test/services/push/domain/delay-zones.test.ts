import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseDelay } from '../../../../services/push/domain/delay.ts';

const zone = process.env['TZ'];
beforeAll(() => void (process.env['TZ'] = 'Europe/Berlin'));
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

// Clocks go forward at 02:00 on March 29 and back at 03:00 on October 25.
it.each([
  ['2026-03-28T12:00:00Z', 'tomorrow, 10am', '2026-03-29T08:00:00Z'],
  // There is no such time that day: an hour later.
  ['2026-03-28T12:00:00Z', 'tomorrow 2:30am', '2026-03-29T01:30:00Z'],
  ['2026-03-28T12:00:00Z', 'tomorrow', '2026-03-29T11:00:00Z'],
  ['2026-03-27T12:00:00Z', 'sunday, noon', '2026-03-29T10:00:00Z'],
  // Durations are of hours that pass, not of those on the clock.
  ['2026-03-29T00:30:00Z', 'in 2 hours', '2026-03-29T02:30:00Z'],
  ['2026-03-28T23:30:00Z', '1 day', '2026-03-29T23:30:00Z'],
  // There are two such times that day: the first.
  ['2026-10-24T12:00:00Z', 'tomorrow, 2:30am', '2026-10-25T00:30:00Z'],
  ['2026-10-24T12:00:00Z', 'tomorrow', '2026-10-25T13:00:00Z'],
  ['2026-10-25T02:00:00Z', '2:30am', '2026-10-26T01:30:00Z'],
  ['2026-12-31T23:30:00Z', 'tomorrow 8am', '2027-01-02T07:00:00Z'],
])('at %s %j means %s', (now, text, due) => {
  expect(new Date(parseDelay(text, Date.parse(now), 4 * 86_400) * 1000).toISOString()).toBe(due.replace('Z', '.000Z'));
});
