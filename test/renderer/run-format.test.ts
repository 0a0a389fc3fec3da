import { describe, expect, it } from 'vitest';
import { getColumnWidth } from '../../renderer/src/pages/data/rows/columns/column-widths.ts';
import {
  formatCommandResult,
  formatRunTime,
  formatStepTime,
} from '../../renderer/src/pages/data/history/run-format.ts';

describe('results of statements', () => {
  it('formats the duration with a useful precision', () => {
    expect([1.3, 640, 2345, 125_000].map(formatRunTime)).toEqual(['0.001 s', '0.64 s', '2.3 s', '2:05']);
  });

  it('formats the duration of short steps of a plan', () => {
    expect([0.0432, 1.26, 99.4, 640].map(formatStepTime)).toEqual(['0.043 ms', '1.3 ms', '99 ms', '0.64 s']);
  });

  it('formats the number of rows of commands with rows', () => {
    expect(formatCommandResult('SELECT', 1)).toBe('1 row');
    expect(formatCommandResult('SELECT', 1200)).toBe('1,200 rows');
    expect(formatCommandResult('UPDATE', 2)).toBe('2 rows changed');
    expect(formatCommandResult('CREATE', 0)).toBe('CREATE');
  });
});

it('derives the column width from its values and its name', () => {
  const getWidth = (name: string, type: string): number => getColumnWidth({ name, type, isKey: false }, false);
  expect(getWidth('id', 'integer')).toBeLessThan(getWidth('name', 'text'));
  expect(getWidth('name', 'text')).toBeLessThan(getWidth('at', 'timestamp with time zone'));
  expect(getWidth('a_rather_long_name', 'integer')).toBeGreaterThan(getWidth('id', 'integer'));
  expect(getWidth('x'.repeat(60), 'text')).toBe(16);
});
