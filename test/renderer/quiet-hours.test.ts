import { describe, expect, it } from 'vitest';
import { formatLine, parseRow } from '../../renderer/src/pages/settings-form/fields/quiet-hours.ts';

describe('quiet hours in a form', () => {
  it.each([
    ['22:00-07:00', [0, 1, 2, 3, 4, 5, 6], '22:00-07:00'],
    ['daily 22:00-7:00', [0, 1, 2, 3, 4, 5, 6], '22:00-07:00'],
    ['mon-fri 22:00-07:00', [0, 1, 2, 3, 4], 'mon-fri 22:00-07:00'],
    ['sat sun 23:00-09:30', [5, 6], 'sat-sun 23:00-09:30'],
    ['fri-mon 20:00-24:00', [0, 4, 5, 6], 'mon fri-sun 20:00-00:00'],
    ['wed 09:00-09:00', [2], 'wed 09:00-09:00'],
  ])('parses and formats %s', (line, days, written) => {
    const row = parseRow(line);
    expect(row.days).toEqual(days);
    expect(formatLine(row)).toBe(written);
    expect(parseRow(written)).toEqual(row);
  });
});
