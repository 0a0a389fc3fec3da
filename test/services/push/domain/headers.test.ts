import { expect, it } from 'vitest';
import { decodeHeader, isTransportPriority } from '../../../../services/push/wire/headers.ts';

/** Returns header text as Node receives it. */
const asReceived = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

it.each([
  ['plain', 'plain'],
  [asReceived('Größe ✓ 🚨'), 'Größe ✓ 🚨'],
  ['=?UTF-8?B?8J+aqCBBbGFybQ==?=', '🚨 Alarm'],
  ['=?utf-8?q?Gr=C3=B6=C3=9Fe_1?=', 'Größe 1'],
  ['=?ISO-8859-1?Q?caf=E9?=', 'café'],
  ['=?UTF-8?B?YQ==?= =?UTF-8?B?Yg==?=', 'ab'],
  ['a =?UTF-8?B?Yg==?= c', 'a b c'],
  ['=?x-nobody-knows?B?YQ==?=', '=?x-nobody-knows?B?YQ==?='],
  ['=?UTF-8?Z?YQ==?=', '=?UTF-8?Z?YQ==?='],
  // Invalid encoded words.
  ['=?UTF-8?B?!!!?=', '=?UTF-8?B?!!!?='],
  ['a =?utf-8?q?50=%_off?=', 'a =?utf-8?q?50=%_off?='],
  ['=?UTF-8?B??=', ''],
  ['=?UTF-8?B?YQ0KYg==?=', 'a\r\nb'],
  ['=?koi8-r?B?8NLJ18XU?=', 'Привет'],
  // Invalid UTF-8 is decoded as windows-1252.
  ['caf\u00e9', 'café'],
  ['=?utf-8?Q?caf=E9?=', 'café'],
  ['=?us-ascii?Q?caf=C3=A9?=', 'café'],
  ['=?unknown-8bit?Q?caf=C3=A9?=', 'café'],
  ['=?utf-7?Q?caf+AOk-?=', 'café'],
  ['=?UTF-8?B?YQBi?=', 'ab'],
])('decodes %s', (value, text) => {
  expect(decodeHeader(value)).toBe(text);
});

it('decodes hostile headers in reasonable time', () => {
  expect(decodeHeader('=?'.repeat(8000)).length).toBe(16_000);
  expect(decodeHeader('=?a?b?'.repeat(2500)).length).toBe(15_000);
  expect(decodeHeader(`${'?= '.repeat(5000)}`).length).toBeGreaterThan(0);
  expect(decodeHeader(`?=${' '.repeat(15_000)}x`).length).toBe(15_003);
});

it.each(['u=1', 'u=1, i', 'u=3,i'])("distinguishes the transport priority %s from ntfy's", (value) => {
  expect(isTransportPriority(value)).toBe(true);
});
