import * as dataUsersMessages from '#messages/data-users';
import { describe, expect, it } from 'vitest';
import { locateError } from '../../renderer/src/pages/data/sql/error-location.ts';
import { formatCsv } from '../../renderer/src/pages/data/sql/results/result-csv.ts';
import { formatDevice } from '../../renderer/src/pages/data/users/device-name.ts';

describe('locateError', () => {
  it('counts characters instead of UTF-16 code units', () => {
    const text = "select '\u{1f4a1}',\n  nonsense";
    const error = locateError(text, [...text.slice(0, text.indexOf('nonsense'))].length + 1);
    expect(error).toMatchObject({ line: 2, text: '  nonsense', from: 2, to: 10 });
    expect(text.slice(error.start, error.end)).toBe('nonsense');
  });

  it('shortens a long line', () => {
    const text = `select ${'a, '.repeat(100)}"wrong one", ${'b, '.repeat(100)}`;
    const error = locateError(text, text.indexOf('"wrong') + 1);
    expect(error.text.length).toBeLessThan(140);
    expect(error.text.slice(error.from, error.to)).toBe('"wrong one"');
    expect([error.text.at(0), error.text.at(-1)]).toEqual(['…', '…']);
  });

  it('locates an error at the end', () => {
    expect(locateError('select (', 9)).toMatchObject({ line: 1, from: 8, to: 8 });
    expect(locateError('', 1)).toMatchObject({ line: 1, text: '' });
  });
});

it('distinguishes null from an empty string in CSV', () => {
  expect(
    formatCsv({
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
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like ' +
      'Gecko) Version/17.0 Mobile/15E148 Safari/604.1',
    'Safari on iOS',
  ],
  ['node', 'node'],
  ['curl/8.5.0', 'curl'],
  ['', dataUsersMessages.aProgramThatDoesNot()],
])('formats a device by browser and system: %s', (userAgent, label) => {
  expect(formatDevice(userAgent)).toBe(label);
});
