import { describe, expect, it } from 'vitest';
import { quoteForShell } from '../../../services/contracts/shell-quote.ts';
import { escapeHtml, escapeMarkup } from '../../../services/kit/escape-html.ts';
import { escapeLabelValue } from '../../../services/kit/escape-label-value.ts';
import { escapeXml, removeInvalidXmlCharacters } from '../../../services/kit/escape-xml.ts';
import { buildCandidatePattern, buildContainsPattern } from '../../../services/kit/like-pattern.ts';

describe('escaping', () => {
  it('escapes HTML content and quoted attributes', () => {
    expect(escapeHtml(`<a href="x">'&amp;'</a>`)).toBe('&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/a&gt;');
  });

  it('keeps quotation marks in markup content', () => {
    expect(escapeMarkup(`"<b>" & 'c'`)).toBe(`"&lt;b&gt;" &amp; 'c'`);
  });

  it('escapes XML and removes characters that XML cannot represent', () => {
    expect(escapeXml(`<a b="c">'&'\u0000\u001b\ufffe\t</a>`)).toBe(
      '&lt;a b=&quot;c&quot;&gt;&apos;&amp;&apos;\t&lt;/a&gt;',
    );
    expect(removeInvalidXmlCharacters('a\ud800b\u0007\r\n😀')).toBe('a\ufffdb\r\n😀');
  });

  it('builds a pattern that matches special characters literally', () => {
    expect(buildContainsPattern(String.raw`50%_\x`)).toBe(String.raw`%50\%\_\\x%`);
  });

  it('builds a pattern without escapes for candidates', () => {
    expect(buildCandidatePattern(String.raw`50%_\x`)).toBe('%50___x%');
  });

  it('escapes label values of metrics', () => {
    expect(escapeLabelValue('a"b\\c\nd')).toBe(String.raw`a\"b\\c\nd`);
  });

  it('quotes a word for a shell', () => {
    expect(quoteForShell(`it's $HOME`)).toBe(String.raw`'it'\''s $HOME'`);
  });
});
