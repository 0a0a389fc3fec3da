import { expect, it } from 'vitest';
import { parseDuration } from '../../../../services/push/domain/duration.ts';
import { parseSince } from '../../../../services/push/domain/since.ts';

const now = 1_800_000_000_500;

it.each([
  ['', true, { from: 'all' }],
  ['', false, { from: 'none' }],
  ['all', false, { from: 'all' }],
  ['none', true, { from: 'none' }],
  ['latest', true, { from: 'latest' }],
  ['nVdNC8nYvdj4', true, { from: 'id', id: 'nVdNC8nYvdj4' }],
  // Twelve digits are an id and not a time.
  ['123456789012', true, { from: 'id', id: '123456789012' }],
  ['1795228244', true, { from: 'time', time: 1_795_228_244 }],
  ['0', true, { from: 'time', time: 0 }],
  ['10m', true, { from: 'time', time: 1_799_999_400 }],
  ['1h30m', true, { from: 'time', time: 1_799_994_600 }],
  ['-10s', true, { from: 'time', time: 1_800_000_010 }],
])('parses since=%s (poll %s)', (text, poll, since) => {
  expect(parseSince(text, poll, now)).toEqual(since);
});

it.each(['eons', '1d', '10 m', '1.2.3s', 'm', '99999999999999999999', '1e400h', 'Latest'])(
  'refuses since=%s',
  (text) => {
    expect(() => parseSince(text, true, now)).toThrow('invalid since parameter');
  },
);

it.each([
  ['1.5s', 1500],
  ['250ms', 250],
  ['1h0.5m', 3_630_000],
  ['0', 0],
  ['1µs', 0.001],
])('parses the duration %s', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});
