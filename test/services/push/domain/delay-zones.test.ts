import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseDelay } from '../../../../services/push/domain/delay.ts';

const zone = process.env['TZ'];
beforeAll(() => void (process.env['TZ'] = 'Europe/Berlin'));
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

// Clocks change at 02:00 on March 29 and at 03:00 on October 25.
it.each([
  ['2026-03-28T12:00:00Z', 'tomorrow, 10am', '2026-03-29T08:00:00Z'],
  // This time does not exist on that day: one hour later is used.
  ['2026-03-28T12:00:00Z', 'tomorrow 2:30am', '2026-03-29T01:30:00Z'],
  ['2026-03-28T12:00:00Z', 'tomorrow', '2026-03-29T11:00:00Z'],
  ['2026-03-27T12:00:00Z', 'sunday, noon', '2026-03-29T10:00:00Z'],
  // Durations are elapsed hours, not local hours.
  ['2026-03-29T00:30:00Z', 'in 2 hours', '2026-03-29T02:30:00Z'],
  ['2026-03-28T23:30:00Z', '1 day', '2026-03-29T23:30:00Z'],
  // This time occurs twice on that day: the first is used.
  ['2026-10-24T12:00:00Z', 'tomorrow, 2:30am', '2026-10-25T00:30:00Z'],
  ['2026-10-24T12:00:00Z', 'tomorrow', '2026-10-25T13:00:00Z'],
  ['2026-10-25T02:00:00Z', '2:30am', '2026-10-26T01:30:00Z'],
  ['2026-12-31T23:30:00Z', 'tomorrow 8am', '2027-01-02T07:00:00Z'],
])('interprets at %s the text %j as %s', (now, text, due) => {
  expect(new Date(parseDelay(text, Date.parse(now), 4 * 86_400) * 1000).toISOString()).toBe(due.replace('Z', '.000Z'));
});
