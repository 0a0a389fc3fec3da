import { describe, expect, it } from 'vitest';
import { isRecord, toRecord } from '../../../services/contracts/is-record.ts';
import { parseJson, parseJsonOrThrow } from '../../../services/contracts/parse-json.ts';
import { decodePercentEncoding } from '../../../services/contracts/percent-encoding.ts';

describe('parseJson', () => {
  it('returns the value of JSON, including null', () => {
    expect(parseJson('{"a":[1,null]}')).toEqual({ a: [1, null] });
    expect(parseJson('null')).toBeNull();
  });

  it.each(['', '{', 'undefined', "{'a':1}", '\uFEFF{}'])('returns undefined for %j', (text) => {
    expect(parseJson(text)).toBeUndefined();
  });
});

describe('parseJsonOrThrow', () => {
  it('throws the error built from the error of the parser', () => {
    const refusal = new Error('refused');
    let cause: unknown;
    const toError = (error: unknown): Error => {
      cause = error;
      return refusal;
    };
    expect(() => parseJsonOrThrow('{', toError)).toThrow(refusal);
    expect(cause).toBeInstanceOf(SyntaxError);
  });

  it('passes the members to the reviver', () => {
    const withoutSecret = (key: string, value: unknown): unknown => (key === 'secret' ? undefined : value);
    expect(parseJsonOrThrow('{"secret":1,"name":"a"}', () => new Error(), withoutSecret)).toEqual({ name: 'a' });
  });
});

describe('decodePercentEncoding', () => {
  it('decodes UTF-8', () => {
    expect(decodePercentEncoding('%C3%BC%2F+')).toBe('ü/+');
  });

  it.each(['%', '%zz', '%FF', '100%'])('returns undefined for %j', (text) => {
    expect(decodePercentEncoding(text)).toBeUndefined();
  });
});

describe('isRecord', () => {
  it('accepts objects with named fields only', () => {
    expect([{}, { a: 1 }, Object.create(null)].map(isRecord)).toEqual([true, true, true]);
    expect([null, undefined, [], 'a', 1, () => undefined].some(isRecord)).toBe(false);
  });
});

describe('toRecord', () => {
  it('returns the record itself, and an empty one for other values', () => {
    const record = { a: 1 };
    expect(toRecord(record)).toBe(record);
    expect([null, [1], 'a'].map(toRecord)).toEqual([{}, {}, {}]);
  });
});
