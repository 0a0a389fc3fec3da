import { describe, expect, it } from 'vitest';
import { decodeEncodedWords, decodeLatin1, decodeText } from '../../../services/kit/charset.ts';
import { parseQuery, parseUrlEncoded } from '../../../services/kit/http/url-encoded.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('decodeText', () => {
  it.each(['ANSI_X3.4-1968', 'us-ascii', 'unknown-8bit', 'iso-8859-1', 'utf-8', 'x-nonsense', undefined])(
    'reads valid UTF-8 that is declared as %s as UTF-8',
    (charset) => {
      expect(decodeText(Buffer.from('‘x’: Gerät voll'), charset)).toBe('‘x’: Gerät voll');
    },
  );

  it.each(['ANSI_X3.4-1968', 'us-ascii', 'unknown-8bit', 'utf-8', 'iso-8859-1', 'x-nonsense', undefined])(
    'reads other bytes that are declared as %s as windows-1252',
    (charset) => {
      expect(decodeText(bytes('Gr\xfc\xdfe \x80'), charset)).toBe('Grüße €');
    },
  );

  it.each([
    ['windows-1251', bytes('\xcf\xf0\xe8\xe2\xe5\xf2'), 'Привет'],
    ['koi8-r', bytes('\xf0\xd2\xc9\xd7\xc5\xd4'), 'Привет'],
    ['utf-7', bytes('Gr+APwA3w-e'), 'Grüße'],
    ['iso-2022-jp', bytes('\x1b$B$3$s\x1b(B'), 'こん'],
    ['cp850', bytes('Gr\x81\xe1e'), 'Grüße'],
    ['gbk', bytes('\xd6\xd0\xce\xc4'), '中文'],
    ['gbk', Buffer.from('中文'), '中文'],
  ])('reads %s as declared', (charset, input, text) => {
    expect(decodeText(input, charset)).toBe(text);
  });

  it('reads GBK as declared where its bytes are valid UTF-8 by chance', () => {
    expect(decodeText(bytes('\xd2\xbb'), 'gb2312')).toBe('一');
  });

  it('prefers a byte order mark over the declared charset', () => {
    expect(decodeText(Buffer.from('\ufeffä'), 'iso-8859-1')).toBe('ä');
    expect(decodeText(Buffer.from('\ufeffGrüße', 'utf16le'), 'utf-8')).toBe('Grüße');
  });
});

describe('decodeEncodedWords', () => {
  it('joins a character that is divided between two words', () => {
    expect(decodeEncodedWords('=?gb2312?B?1g==?= =?gb2312?B?0A==?=')).toBe('中');
  });

  it('preserves a word in an unknown charset', () => {
    expect(decodeEncodedWords('=?x-nobody?Q?a?=')).toBe('=?x-nobody?Q?a?=');
  });
});

describe('decodeLatin1', () => {
  it('decodes bytes of UTF-8 and of windows-1252', () => {
    expect(decodeLatin1(Buffer.from('ä').toString('latin1'))).toBe('ä');
    expect(decodeLatin1('\xe4')).toBe('ä');
    expect(decodeLatin1('‘')).toBe('‘');
  });
});

describe('parseUrlEncoded', () => {
  it('decodes all values in one charset', () => {
    expect(parseUrlEncoded(bytes('a=T%FCr&b=%C3%BC'))).toEqual([
      ['a', 'Tür'],
      ['b', 'Ã¼'],
    ]);
    expect(parseUrlEncoded(bytes('a=T%C3%BCr+x'))).toEqual([['a', 'Tür x']]);
  });

  it('decodes windows-1252 escapes in a query', () => {
    expect(parseQuery('message=Gr%FC%DFe&b=1').get('message')).toBe('Grüße');
    expect(parseQuery('message=Gr%C3%BC%C3%9Fe').get('message')).toBe('Grüße');
  });
});
