import { expect, it } from 'vitest';
import { parseActions } from '../../../../services/push/domain/actions.ts';

const parse = (text: string) => parseActions(text, () => 'id');

it('parses quoted values with commas, semicolons and escaped quotes', () => {
  expect(
    parse(
      `http, "Close; now, \\"please\\"", https://h.example/, body='{"a": 1, "b": "it\\'s"}', headers.X-A=1, method=put`,
    ),
  ).toEqual([
    {
      id: 'id',
      action: 'http',
      label: 'Close; now, "please"',
      clear: false,
      url: 'https://h.example/',
      method: 'PUT',
      headers: { 'X-A': '1' },
      body: `{"a": 1, "b": "it's"}`,
    },
  ]);
});

it('parses named fields in any order, and a trailing semicolon', () => {
  expect(parse('action=view, url=https://v.example/?a=b, label=Go, clear=YES;')).toEqual([
    { id: 'id', action: 'view', label: 'Go', clear: true, url: 'https://v.example/?a=b' },
  ]);
});

it('parses JSON', () => {
  expect(parse('[{"action":"broadcast","label":"B","intent":"i","extras":{"cmd":"pic"}}]')).toEqual([
    { id: 'id', action: 'broadcast', label: 'B', clear: false, intent: 'i', extras: { cmd: 'pic' } },
  ]);
});

it.each([
  ['jump, a', "parameter 'action' cannot be 'jump'"],
  ['view, , https://x', "parameter 'label' is required"],
  ['view, a', "parameter 'url' is required for action 'view'"],
  ['http, a, https://x, method=get, body=b', "parameter 'body' cannot be set if method is GET"],
  ['copy, a', "parameter 'value' is required"],
  ['view, a, https://x, clear=maybe', "parameter 'clear' cannot be 'maybe'"],
  ['view, a, https://x, speed=1', "key 'speed' unknown"],
  ['view, "a', 'unexpected end of input, quote started at position 6'],
  ['view, "a" b, https://x', "unexpected character 'b' at position 10"],
  ['view,a,http://a; view,a,http://a; view,a,http://a; view,a,http://a', 'only 3 actions allowed'],
  ['[{"action":', 'JSON error'],
  ['[1]', 'JSON error'],
])('refuses %s', (text, reason) => {
  expect(() => parse(text)).toThrow(`invalid request: actions invalid; ${reason}`);
});

it('parses hostile input in reasonable time', () => {
  expect(() => parse('view,'.repeat(3000))).toThrow();
  expect(() => parse(`${'a '.repeat(8000)}=`)).toThrow();
  expect(() => parse('"'.repeat(16_000))).toThrow();
});
