import { describe, expect, it } from 'vitest';
import { htmlToText } from '../../../services/kit/plain-text.ts';

describe('htmlToText', () => {
  it('decodes every named and numbered character', () => {
    expect(
      htmlToText(
        '<p>Sauvegarde termin&eacute;e &agrave; 10h. a&ccedil;&atilde;o &plusmn;5 &Eacute; &#8364;&#x20ac;</p>',
      ),
    ).toBe('Sauvegarde terminée à 10h. ação ±5 É €€');
    expect(htmlToText('a &amp b &unknown; &#0; c')).toBe('a & b &unknown; \ufffd c');
  });

  it('preserves preformatted text', () => {
    expect(htmlToText('<p>Log:</p><pre>line one\n  indented two\nline three</pre><p>end</p>')).toBe(
      'Log:\nline one\n  indented two\nline three\nend',
    );
    expect(htmlToText('<pre>\nfirst\n\n    <b>x</b>  y<br>z</pre>')).toBe('first\n\n    x  y\nz');
  });

  it.each([
    ['<textarea>one\n  two</textarea>', 'one\n  two'],
    ['<xmp>one\n  two</xmp>', 'one\n  two'],
    ['<listing>one\n  two</listing>', 'one\n  two'],
    [
      '<div style="color: red; white-space: pre-wrap">one\n  two<div>three\n  four</div>five\n  six</div>a\nb',
      'one\n  two\nthree\n  four\nfive\n  six\na b',
    ],
    ['<td style="white-space:pre-line">one\ntwo</td>', 'one\ntwo'],
    ['<span style="white-space: pre">one\n  two</span> after\nall', 'one\n  two after all'],
    ['<p style="white-space: nowrap">one\n  two</p>', 'one two'],
  ])('preserves the lines of %j', (html, text) => {
    expect(htmlToText(html)).toBe(text);
  });

  it('formats list items, quotations and rules', () => {
    expect(htmlToText('<ul><li>a<ul><li>b</li></ul></li></ul><hr><blockquote><p>q</p>r</blockquote>s')).toBe(
      '- a\n- b\n---\n> q\n> r\ns',
    );
  });

  it('omits hidden elements unless nothing else remains', () => {
    const hidden = '<div style="display: none">pre<div>header</div></div><p hidden>x<p>seen<style>a{}</style>';
    expect(htmlToText(hidden)).toBe('seen');
    expect(htmlToText('<body style="display:none"><p>all</p></body>')).toBe('all');
    expect(htmlToText('<span hidden>never closed <b>text')).toBe('never closed text');
  });

  it('preserves a bracket that begins no tag', () => {
    expect(htmlToText('3 < 5 <b>x</b> <unfinished')).toBe('3 < 5 x <unfinished');
  });

  it.each([
    '<i>',
    '<a href="http://x">',
    '</b>',
    '<',
    '&amp',
    '<p hidden>',
    '<title>',
    '<blockquote>x',
    '<!--',
    '<a x="',
  ])('reads 300,000 characters of %s in linear time', (part) => {
    const started = performance.now();
    htmlToText(part.repeat(Math.ceil(300_000 / part.length)), { links: true });
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
