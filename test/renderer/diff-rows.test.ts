import { describe, expect, it } from 'vitest';
import { findChangedWords, markTokens } from '../../renderer/src/pages/git/diff/highlight/changed-words.ts';
import { buildDiffRows, toSplitRows, type DiffRow } from '../../renderer/src/pages/git/diff/diff-rows.ts';
import { parsePatch } from '../../renderer/src/pages/git/diff/patch-parser.ts';

const patch = [
  '@@ -4,4 +4,5 @@ function light()',
  ' four',
  '-five',
  '+FIVE',
  '+more',
  ' six',
  ' seven',
  '@@ -20,2 +21,1 @@',
  ' twenty',
  '-last',
  '\\ No newline at end of file',
].join('\n');

const describeRow = (row: DiffRow): string =>
  row.kind === 'gap' ? `gap ${row.count}` : `${row.before ?? ''}/${row.after ?? ''} ${row.text}`;

describe('rows of a diff', () => {
  const hunks = parsePatch(patch);

  it('numbers the lines of both files and counts the hidden lines', () => {
    const rows = buildDiffRows({ hunks, revealed: [], fileLines: undefined, hasContext: true });
    expect(rows.map(describeRow)).toEqual([
      ...['gap 3', '4/4 four', '5/ five', '/5 FIVE', '/6 more', '6/7 six', '7/8 seven'],
      ...['gap 12', '20/21 twenty', '21/ last', '/ \\ No newline at end of file'],
    ]);
  });

  it('inserts revealed lines at both ends of a gap', () => {
    const fileLines = Array.from({ length: 21 }, (_, index) => `line ${index + 1}`);
    const revealed = [
      { top: 3, bottom: 0 },
      { top: 1, bottom: 2 },
    ];
    const rows = buildDiffRows({ hunks, revealed, fileLines, hasContext: true }).map(describeRow);
    expect(rows.slice(0, 4)).toEqual(['1/1 line 1', '2/2 line 2', '3/3 line 3', '4/4 four']);
    expect(rows.slice(9, 13)).toEqual(['8/9 line 9', 'gap 9', '18/19 line 19', '19/20 line 20']);
  });

  it('numbers added and deleted files from their first line', () => {
    const [added] = parsePatch('@@ -0,0 +1,1 @@\n+only');
    const [deleted] = parsePatch('@@ -1,1 +0,0 @@\n-only');
    expect(added?.lines).toEqual([{ kind: 'added', text: 'only', after: 1 }]);
    expect(deleted?.lines).toEqual([{ kind: 'removed', text: 'only', before: 1 }]);
  });

  it('places removed lines next to the lines that replace them', () => {
    const rows = buildDiffRows({ hunks, revealed: [], fileLines: undefined, hasContext: false });
    const pairs = toSplitRows(rows).map((row) => (row.kind === 'gap' ? '' : [row.left?.text, row.right?.text]));
    expect(pairs.slice(0, 4)).toEqual([
      ['four', 'four'],
      ['five', 'FIVE'],
      [undefined, 'more'],
      ['six', 'six'],
    ]);
  });
});

describe('changed words', () => {
  const mark = (before: string, after: string): readonly (string | undefined)[] => {
    const hunks = parsePatch(`@@ -1,1 +1,1 @@\n-${before}\n+${after}`);
    const ranges = findChangedWords(hunks);
    return (hunks[0]?.lines ?? []).map((line) => {
      const range = ranges.get(line);
      return range && line.text.slice(range.from, range.to);
    });
  };

  it('finds the whole words that differ', () => {
    expect(mark('const perPage = 50;', 'const perPage = 500;')).toEqual(['50', '500']);
    expect(mark('await getIssue(deps)', 'await findIssue(deps)')).toEqual(['getIssue', 'findIssue']);
    expect(mark('turn(lamp)', 'turn(lamp, 60)')).toEqual(['', ', 60']);
  });

  it('marks nothing in lines that have little in common', () => {
    expect(mark('return a;', 'import { light } from lamp;')).toEqual([undefined, undefined]);
  });

  it('splits highlighted tokens at the changed words', () => {
    const tokens = [
      { text: 'const', kind: 'keyword' },
      { text: ' a = 1', kind: '' },
    ];
    expect(markTokens(tokens, { from: 3, to: 7 })).toEqual([
      { text: 'con', kind: 'keyword' },
      { text: 'st', kind: 'keyword', isChanged: true },
      { text: ' a', kind: '', isChanged: true },
      { text: ' = 1', kind: '' },
    ]);
  });
});
