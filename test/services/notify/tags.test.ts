import { describe, expect, it } from 'vitest';
import { parseTagField, parseTag, selectDestinations, type Tag } from '../../../services/notify/domain/tags.ts';

const effectiveTags: Readonly<Record<string, readonly string[]>> = {
  first: ['critical', 'oncall'],
  second: ['daily'],
  third: ['backup', 'daily'],
  fourth: ['2:monitoring'],
  bare: [],
};
const destinations = Object.entries(effectiveTags).map(([name, tags]) => ({
  name,
  tags: tags.map(parseTag).filter((tag): tag is Tag => tag !== undefined),
}));

function select(
  tag: unknown,
  extra: readonly { name: string; tags: readonly Tag[] }[] = [],
): readonly string[] | 'invalid' {
  const field = parseTagField(tag);
  if (field.kind === 'invalid') return 'invalid';
  const chosen = selectDestinations([...destinations, ...extra], field.kind === 'none' ? undefined : field.expression);
  return chosen.map(({ name }) => name);
}

describe('tag expressions', () => {
  const all = Object.keys(effectiveTags);

  it.each([undefined, null, '', ' ', ',', '|,', [], [''], [[]]])(
    'selects all destinations for %j, which names no tag',
    (tag) => {
      expect(select(tag)).toEqual(all);
    },
  );

  it.each([
    ['daily', ['second', 'third']],
    ['DAILY,', ['second', 'third']],
    ['critical,monitoring', ['first', 'fourth']],
    ['critical | monitoring', ['first', 'fourth']],
    ['backup daily', ['third']],
    ['backup+daily', ['third']],
    ['backup & daily', ['third']],
    ['backup\tdaily, critical', ['first', 'third']],
    [['backup daily'], ['third']],
    [
      ['critical', 'monitoring'],
      ['first', 'fourth'],
    ],
    [[['backup', 'daily']], ['third']],
    [
      [['backup', 'daily'], 'critical'],
      ['first', 'third'],
    ],
    ['all', all],
    ['all daily', ['second', 'third']],
    ['daily,daily', ['second', 'third']],
    ['nobody', []],
    ['2:monitoring', ['fourth']],
    ['1:monitoring', []],
    ['monitoring:3', ['fourth']],
    ['0:daily:2', ['second', 'third']],
  ])('selects for %j the destinations %j', (tag, names) => {
    expect(select(tag)).toEqual(names);
  });

  it.each(['da!ly', 'ümlaut', '-x', 'a:b:c', 'x:', ':x', 5, true, {}, [5], [['a', 5]], [[['a']]], ['a!']])(
    'refuses %j',
    (tag) => {
      expect(select(tag)).toBe('invalid');
    },
  );

  it('parses long expressions quickly and refuses those above the limit', () => {
    const long = 'a'.repeat(100_000);
    expect(
      [long, 'a,'.repeat(1_000_000), 'a '.repeat(50_000), Array(500_000).fill('a')].map((tag) => select(tag)),
    ).toEqual(['invalid', 'invalid', 'invalid', 'invalid']);
    expect(select([Array(500_000).fill('a')])).toBe('invalid');
    expect(select(Array(100).fill('daily'))).toEqual(['second', 'third']);
  });

  it('adds a destination tagged "always" to any selection', () => {
    const always = [{ name: 'every', tags: [{ name: 'always' }] }];
    expect(select('critical', always)).toEqual(['first', 'every']);
    expect(select('nobody', always)).toEqual(['every']);
    expect(select('always')).toEqual([]);
  });
});
