import { describe, expect, it } from 'vitest';
import { foldTerms, parseSearch } from '../../../services/kit/search-terms.ts';

it.each([
  ['Disk FULL on /dev/sda1', 'disk full on dev sda1'],
  ['Gebäude Straße ÅNGSTRÖM Łódź smørrebrød', 'gebaude strasse angstrom lodz smorrebrod'],
  ['İstanbul ısı ΟΔΟΣ ﬁle', 'istanbul isi οδοσ file'],
  ['e\u0301te\u0301 \u00E9t\u00E9', 'ete ete'],
  ['Ｆｕｌｌ　ｗｉｄｔｈ', 'full width'],
  ['東京タワー', '東 京 タ ワ ー'],
  ['NAS備份完成ok', 'nas 備 份 完 成 ok'],
  ['서버', '서 버'],
  ['हिन्दी', 'हिन्दी'],
  ['nas-error_backup: 99.5%', 'nas error backup 99 5'],
  ['🔥 — …', ''],
])('folds %s', (text, folded) => {
  expect(foldTerms(text).join(' ')).toBe(folded.normalize('NFC'));
});

it('truncates a word that is too long for the index', () => {
  expect(foldTerms('a'.repeat(5000))).toEqual(['a'.repeat(64)]);
});

describe('parseSearch', () => {
  const listTerms = (text: string): string[] =>
    parseSearch(text).map(({ words: each, prefix }) => each.join('+') + (prefix ? '*' : ''));

  it('parses words, quoted phrases and prefixes', () => {
    expect(listTerms('disk full')).toEqual(['disk', 'full*']);
    expect(listTerms('"disk full" nas')).toEqual(['disk+full', 'nas*']);
    expect(listTerms('ba* "disk"')).toEqual(['ba*', 'disk']);
    expect(listTerms('nas-error "open end')).toEqual(['nas+error', 'open+end']);
    expect(listTerms('東京 x')).toEqual(['東+京', 'x*']);
  });

  it('produces valid database queries for any input', () => {
    expect(listTerms(`' OR 1=1 -- "NEAR(a, 2)" {x} ^b c:d`)).toEqual(['or', '1+1', 'near+a+2', 'x', 'b', 'c+d*']);
    expect(listTerms('""" * -')).toEqual([]);
    expect(listTerms('a '.repeat(500))).toHaveLength(16);
  });
});
