import { describe, expect, it } from 'vitest';
import { errorPlace } from '../../renderer/src/pages/data/error-place.ts';
import { csvOf } from '../../renderer/src/pages/data/result-file.ts';
import { deviceWords } from '../../renderer/src/pages/data/device-words.ts';

describe('where statements are wrong', () => {
  it('is counted in characters, not in the halves that they are made of', () => {
    const text = "select '\u{1f4a1}',\n  nonsense";
    const found = errorPlace(text, [...text.slice(0, text.indexOf('nonsense'))].length + 1);
    expect(found).toMatchObject({ line: 2, text: '  nonsense', from: 2, to: 10 });
    expect(text.slice(found.start, found.end)).toBe('nonsense');
  });

  it('is shown without all of a long line', () => {
    const text = `select ${'a, '.repeat(100)}"wrong one", ${'b, '.repeat(100)}`;
    const found = errorPlace(text, text.indexOf('"wrong') + 1);
    expect(found.text.length).toBeLessThan(140);
    expect(found.text.slice(found.from, found.to)).toBe('"wrong one"');
    expect([found.text.at(0), found.text.at(-1)]).toEqual(['…', '…']);
  });

  it('may be the end', () => {
    expect(errorPlace('select (', 9)).toMatchObject({ line: 1, from: 8, to: 8 });
    expect(errorPlace('', 1)).toMatchObject({ line: 1, text: '' });
  });
});

it('a file of rows tells nothing from an empty text', () => {
  expect(
    csvOf({
      columns: ['a', 'b,c'],
      rows: [
        [null, ''],
        ['x\ny', '"'],
      ],
    }),
  ).toBe('a,"b,c"\r\n,""\r\n"x\ny",""""\r\n');
});

it.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  ['node', 'node'],
  ['curl/8.5.0', 'curl'],
  ['', 'A program that does not say what it is'],
])('a device is called in few words: %s', (userAgent, words) => {
  expect(deviceWords(userAgent)).toBe(words);
});
