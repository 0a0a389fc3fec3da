import { expect, it } from 'vitest';
import { buildVisibleRows } from '../../renderer/src/parts/list/visible-rows.ts';

const items = ['Bergen', 'Calais', 'Porto', 'Turku'];
const place = (index: number, start = index * 40) => ({ index, start, size: 40 });

it('returns the same object for a row that did not change', () => {
  const before = buildVisibleRows([], items, [place(0), place(1), place(2)]);
  const after = buildVisibleRows(before, items, [place(1), place(2), place(3)]);
  expect(after.map(({ item }) => item)).toEqual(['Calais', 'Porto', 'Turku']);
  expect(after[0]).toBe(before[1]);
  expect(after[1]).toBe(before[2]);
});

it('returns a new object for a row that moved or has another item', () => {
  const before = buildVisibleRows([], items, [place(0), place(1), place(2)]);
  const after = buildVisibleRows(before, ['Bergen', 'Cadiz', 'Porto'], [place(0), place(1), place(2, 90)]);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toEqual({ item: 'Cadiz', index: 1, start: 40, size: 40 });
  expect(after[2]).toEqual({ item: 'Porto', index: 2, start: 90, size: 40 });
});

it('leaves out rows of a list that became shorter', () => {
  expect(buildVisibleRows([], ['Bergen'], [place(0), place(1)]).map(({ index }) => index)).toEqual([0]);
});
