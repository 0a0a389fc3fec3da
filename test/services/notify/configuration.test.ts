import * as problems from '#messages/notify-problems';
import { describe, expect, it } from 'vitest';
import { parseTextConfiguration, splitUrls } from '../../../services/notify/domain/configuration.ts';
import { guessFormat } from '../../../services/notify/domain/parse-configuration.ts';

describe('TEXT configuration', () => {
  it('has destinations with and without tags, comments and groups', () => {
    const { entries, skipped } = parseTextConfiguration(
      [
        '# comment',
        '; another',
        '',
        'json://a/?x=y=z',
        ' mom , dad = json://b',
        '2:kids me=json://c/?a=b',
        'family=mom, kids',
        'everyone = family',
      ].join('\r\n'),
    );
    expect(entries.map(({ url, tags }) => [url, tags.map(({ name }) => name)])).toEqual([
      ['json://a/?x=y=z', []],
      ['json://b', ['mom', 'dad', 'family', 'everyone']],
      ['json://c/?a=b', ['kids', 'me', 'family', 'everyone']],
    ]);
    expect(entries[2]?.tags[0]).toEqual({ name: 'kids', level: 2 });
    expect(skipped).toEqual([]);
  });

  it('reads text after an address and a space as a comment, but not a channel', () => {
    const text =
      'json://a/p # the nas\nx = json://b/?method=PUT  #y\nslack://T/B/C/#general # chat\nmatrix://u:p@h/#a/#b';
    expect(parseTextConfiguration(text).entries.map(({ url }) => url)).toEqual([
      ...['json://a/p', 'json://b/?method=PUT', 'slack://T/B/C/#general', 'matrix://u:p@h/#a/#b'],
    ]);
  });

  it('ignores lines without effect, and reports them', () => {
    const { entries, skipped } = parseTextConfiguration(
      'garbage\ninclude http://x/y\na!=json://b\n-x=json://b\njson://ok',
    );
    expect(entries.map(({ url }) => url)).toEqual(['json://ok']);
    expect(skipped.map(({ line }) => line)).toEqual([1, 2, 3, 4]);
  });

  it('resolves groups that contain each other', () => {
    const { entries } = parseTextConfiguration('a=json://x\nb=a,c\nc=b');
    expect(entries[0]?.tags.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('parses adversarial text in linear time', () => {
    const groups = Array.from({ length: 20_000 }, (_, index) => `g${20_000 - index}=g${19_999 - index}`);
    const { entries, skipped } = parseTextConfiguration(
      [`a${' '.repeat(500_000)}!`, ...groups, ...Array<string>(2000).fill('g0=json://x')].join('\n'),
    );
    expect(entries).toHaveLength(2000);
    expect(skipped.slice(0, 2)).toMatchObject([
      { line: 1 },
      { line: 202, reason: problems.tooManyGroups({ limit: 200 }) },
    ]);
    const wide = parseTextConfiguration(`${Array.from({ length: 51 }, (_, index) => `t${index}`).join(',')}=json://x`);
    expect(wide.skipped).toMatchObject([{ line: 1, reason: problems.lineTagsInvalid() }]);
  });

  it('is distinguished from YAML', () => {
    expect(guessFormat('version: 1\nurls:\n  - json://x\n')).toBe('yaml');
    expect(guessFormat('json://x?urls:=1\n')).toBe('text');
  });
});

describe('lists of URLs', () => {
  it('are separated by commas and white space, but not within a URL', () => {
    expect(splitUrls('json://a, ntfy://b/c,d\n push://e ,')).toEqual(['json://a', 'ntfy://b/c,d', 'push://e']);
    expect(splitUrls('  ')).toEqual([]);
    expect(splitUrls('nothing, json://a/?x=1, 2 ,,')).toEqual(['nothing', 'json://a/?x=1, 2']);
  });

  it('parses names of only separators in linear time', () => {
    expect(splitUrls(`json://a${','.repeat(1_000_000)}b`)).toHaveLength(1);
  });
});
