import { describe, expect, it } from 'vitest';
import { widthOf } from '../../renderer/src/pages/data/column-widths.ts';
import { didWords, took } from '../../renderer/src/pages/data/run-format.ts';

describe('what statements did', () => {
  it('is told in seconds, as exact as it matters', () => {
    expect([1.3, 640, 2345, 125_000].map(took)).toEqual(['0.001 s', '0.64 s', '2.3 s', '2:05']);
  });

  it('is told in rows, where it is about rows', () => {
    expect(didWords('SELECT', 1)).toBe('1 row');
    expect(didWords('SELECT', 1200)).toBe('1,200 rows');
    expect(didWords('UPDATE', 2)).toBe('2 rows changed');
    expect(didWords('CREATE', 0)).toBe('CREATE');
  });
});

it('a column is as wide as what it holds, and as its name', () => {
  const of = (name: string, type: string): number => widthOf({ name, type, isKey: false }, false);
  expect(of('id', 'integer')).toBeLessThan(of('name', 'text'));
  expect(of('name', 'text')).toBeLessThan(of('at', 'timestamp with time zone'));
  expect(of('a_rather_long_name', 'integer')).toBeGreaterThan(of('id', 'integer'));
  expect(of('x'.repeat(60), 'text')).toBe(16);
});
