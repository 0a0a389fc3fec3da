import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { parseByteRange } from '../../../services/kit/http/byte-range.ts';
import { parseCalendarRule, parseCalendarInput } from '../../../services/kit/calendar.ts';
import { formatAttachment } from '../../../services/kit/http/content-disposition.ts';
import { joinNames } from '../../../services/kit/join-names.ts';
import { readRequestBody } from '../../../services/kit/http/body.ts';
import { toBase32, generateCode, fromBase32, findMatchingStep, toTimeStep } from '../../../services/kit/totp.ts';

describe('parseByteRange', () => {
  it.each([
    [undefined, undefined],
    ['bytes=0-99', { start: 0, end: 99 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=50-500', { start: 50, end: 99 }],
    ['bytes=-500', { start: 0, end: 99 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    // Invalid and multiple ranges may be ignored.
    ['bytes=9-5', undefined],
    ['bytes=0-1,5-6', undefined],
    ['items=0-1', undefined],
  ])('parses %s', (header, part) => {
    expect(parseByteRange(header, 100)).toEqual(part);
  });
});

describe('parseCalendarInput', () => {
  const findInvalidField = (rule: string, zone = 'UTC'): string | undefined => {
    const refused: string[] = [];
    const refuse = (field: string): Error => {
      refused.push(field);
      return new Error(field);
    };
    try {
      parseCalendarInput(rule, zone, refuse);
    } catch {
      return refused[0];
    }
    return undefined;
  };

  it('reports the invalid field', () => {
    expect([findInvalidField('0 8 * * 1-5'), findInvalidField('@daily')]).toEqual([undefined, undefined]);
    expect([findInvalidField('0 8 * *'), findInvalidField('0 25 * * *'), findInvalidField('* 0 8 * * 1')]).toEqual([
      'rule',
      'rule',
      'rule',
    ]);
    expect(findInvalidField('0 8 * * *', 'Europe/Nowhere')).toBe('zone');
  });

  it('uses wall-clock time when the clock changes', () => {
    const next = (rule: string, from: string): string | undefined =>
      parseCalendarRule(rule, 'Europe/Berlin').nextRun(new Date(from))?.toISOString();
    // 02:30 does not exist on the first day, so the run follows right after the gap; on the second day it occurs
    // twice and counts once.
    expect(next('30 2 * * *', '2026-03-29T00:00:00Z')).toBe('2026-03-29T01:00:00.000Z');
    expect(next('30 2 * * *', '2026-10-25T00:30:00Z')).toBe('2026-10-26T01:30:00.000Z');
  });
});

it('rejects a request body larger than the limit, with or without content-length', async () => {
  const request = (chunks: readonly string[], length?: number): IncomingMessage =>
    Object.assign(Readable.from(chunks.map((part) => Buffer.from(part))), {
      headers: length === undefined ? {} : { 'content-length': String(length) },
    }) as unknown as IncomingMessage;
  const tooLarge = (): Error => new RangeError('too large');
  expect((await readRequestBody(request(['ab', 'cd']), 4, tooLarge)).toString()).toBe('abcd');
  await expect(readRequestBody(request(['ab', 'cde']), 4, tooLarge)).rejects.toThrow(RangeError);
  await expect(readRequestBody(request([], 5), 4, tooLarge)).rejects.toThrow(RangeError);
});

it('writes an ASCII and an encoded name for an attachment', () => {
  expect(formatAttachment('a b.txt')).toBe('attachment; filename="a b.txt"');
  expect(formatAttachment('schön "1" 100%.txt')).toBe(
    `attachment; filename="sch_n _1_ 100_.txt"; filename*=UTF-8''sch%C3%B6n%20%221%22%20100%25.txt`,
  );
});

it('accepts codes of RFC 6238 and of one step before or after', () => {
  // Test vectors of appendix B, last six of eight digits.
  const secret = fromBase32('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  expect(Buffer.from(secret).toString()).toBe('12345678901234567890');
  expect(toBase32(secret)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  expect(generateCode(secret, toTimeStep(1_111_111_109_000))).toBe('081804');
  expect(findMatchingStep(secret, '081 804', 1_111_111_109_000 + 30_000)).toBe(toTimeStep(1_111_111_109_000));
  expect(findMatchingStep(secret, '081804', 1_111_111_109_000 + 90_000)).toBeUndefined();
});

it('limits the number and length of joined names', () => {
  expect([[], ['Printer'], ['Printer', 'Films']].map((names) => joinNames(names))).toEqual([
    '',
    'Printer',
    'Printer and Films',
  ]);
  expect(joinNames(['Printer', 'Films', 'Papers', 'Photos'])).toBe('Printer, Films and 2 more');
  expect(joinNames(['x'.repeat(60)])).toBe(`${'x'.repeat(39)}…`);
});
