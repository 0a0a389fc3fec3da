import { expect, it } from 'vitest';
import { createFolderFilter } from '../../../services/downloads/filters/folder-filter.ts';

it.each([
  ['', ['a', '.b'], [false, false]],
  ['(^|/)[.@].*$', ['a', '.b', 'a/@c', 'a@b'], [false, true, true, false]],
  [String.raw`\Aold\Z`, ['old', 'older'], [true, false]],
  ['(?i)TMP', ['tmp', 'other'], [true, false]],
  // Lookarounds need backtracking.
  ['^(?!keep)', ['keep', 'drop'], [false, true]],
])('tests folders against %s', async (expression, paths, matches) => {
  expect(await createFolderFilter(expression)(paths)).toEqual(matches);
});

it('tests an expression that needs exponential time with backtracking in linear time', async () => {
  expect(await createFolderFilter('^(a+)+$')([`${'a'.repeat(200)}!`])).toEqual([false]);
});

it('refuses an expression with a lookaround that backtracks too long', async () => {
  await expect(createFolderFilter('^(?=(a+)+$)b')([`${'a'.repeat(200)}!`])).rejects.toMatchObject({
    code: 'downloads.slow_filter',
  });
});
