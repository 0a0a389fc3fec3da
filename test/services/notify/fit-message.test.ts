import { describe, expect, it } from 'vitest';
import { fitMessage, type MessageShape } from '../../../services/notify/domain/fit-message.ts';
import { convertText } from '../../../services/notify/domain/text/convert.ts';
import { buildMessage } from './destinations/provider-server.ts';

const shape: MessageShape = { format: 'text', titleLimit: 0, bodyLimit: 10, overflow: 'truncate' };
const file = { name: 'a', type: 'text/plain', size: 1, read: () => Promise.resolve(new Uint8Array(1)) };

describe('fitting a message', () => {
  it('inserts the title before the body when titles are unsupported, and truncates at whole characters', () => {
    expect(fitMessage(buildMessage({ title: 'T', body: '🎉'.repeat(12) }), shape)).toMatchObject([
      { title: '', body: `T\r\n${'🎉'.repeat(6)}…` },
    ]);
    expect(fitMessage(buildMessage({ title: 'T', body: 'b' }), { ...shape, titleLimit: 250 })).toMatchObject([
      { title: 'T', body: 'b' },
    ]);
    expect(fitMessage(buildMessage({ title: 'Only', body: '' }), shape)).toMatchObject([{ title: '', body: 'Only' }]);
  });

  it('splits at lines and words without loss, and sends files with the last piece', () => {
    const body = 'one two three\nfour five six seven\neight';
    const pieces = fitMessage(buildMessage({ title: 'T', body, attachments: [file] }), {
      ...shape,
      titleLimit: 250,
      bodyLimit: 20,
      overflow: 'split',
    });
    expect(pieces.map((piece) => piece.body)).toEqual(['one two three', 'four five six seven', 'eight']);
    expect(pieces.map((piece) => piece.title)).toEqual(['T', '', '']);
    expect(pieces.map((piece) => piece.attachments?.length)).toEqual([0, 0, 1]);
  });

  it('splits a long word at whole characters and stops at twenty messages', () => {
    const pieces = fitMessage(buildMessage({ body: '🎉'.repeat(1000) }), { ...shape, overflow: 'split' });
    expect(pieces).toHaveLength(20);
    expect(pieces.every(({ body }) => [...body].length <= 10 && body.isWellFormed())).toBe(true);
    expect(pieces.at(-1)?.body.endsWith('…')).toBe(true);
  });

  it('joins the lines of a title', () => {
    const [piece] = fitMessage(buildMessage({ title: 'a\r\nBcc: b@c\nd', body: 'b' }), { ...shape, titleLimit: 250 });
    expect(piece?.title).toBe('a Bcc: b@c d');
  });

  it('keeps the complete body when the title uses almost the complete limit', () => {
    const split: MessageShape = { ...shape, bodyLimit: 20, overflow: 'split' };
    const pieces = fitMessage(buildMessage({ title: 'a title as long as two lines', body: 'and its body' }), split);
    const pieceWords = pieces.flatMap(({ body }) => body.split(/\s+/));
    expect(pieceWords.join(' ')).toBe('a title as long as two lines and its body');
    expect(fitMessage(buildMessage({ title: 'x'.repeat(20) }), split)).toMatchObject([{ body: 'x'.repeat(20) }]);
  });

  it.each([
    ['slack', '&lt;!channel&gt; &amp; all'],
    ['telegram', '&lt;!channel&gt; &amp; all'],
    ['html', '&lt;!channel&gt; &amp; all'],
    ['markdown', '<!channel> & all'],
    ['text', '<!channel> & all'],
  ] as const)('writes a title that is too long into the body: %s', (format, text) => {
    const [piece] = fitMessage(buildMessage({ title: '<!channel> & all', body: 'b' }), {
      ...{ format, titleLimit: 5, bodyLimit: 500, overflow: 'split' },
    });
    expect(piece?.body).toMatch(new RegExp(`^${text.replace(/[!&]/g, '\\$&')}(\\r\\n|<br/>)b$`));
  });

  it('leaves a long body unchanged if the URL requests it', () => {
    expect(fitMessage(buildMessage({ body: 'x'.repeat(50) }), { ...shape, overflow: 'upstream' })).toHaveLength(1);
  });

  it('measures the visible text, and leaves no tag open in a piece', () => {
    const telegram: MessageShape = { format: 'telegram', titleLimit: 0, bodyLimit: 30, overflow: 'split' };
    const escaped = fitMessage(buildMessage({ body: '<'.repeat(30) }), telegram);
    expect(escaped.map(({ body }) => body)).toEqual(['&lt;'.repeat(30)]);
    const pieces = fitMessage(buildMessage({ format: 'html', body: `<b>${'word '.repeat(20)}</b>` }), telegram);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.every(({ body }) => !body.includes('<'))).toBe(true);
  });
});

describe('converting text', () => {
  const page =
    '<h1>Head</h1><p>5 &lt; 6 * <b>7</b></p><a href="javascript:x()">no</a> <a href="https://e.x/?a=1&amp;b=2">yes</a>';

  it('converts HTML to text, Markdown and the markup of chats, with their escapes', () => {
    expect(convertText('<p>a &amp; b</p>', 'html', 'text')).toBe('a & b');
    expect(convertText(page, 'html', 'markdown')).toBe(
      '# Head\n\n5 \\< 6 \\* **7**\n\nno [yes](<https://e.x/?a=1&b=2>)',
    );
    expect(convertText(page, 'html', 'slack')).toBe('*Head*\n\n5 &lt; 6 * *7*\n\nno <https://e.x/?a=1&amp;b=2|yes>');
    expect(convertText(page, 'html', 'telegram')).toBe(
      '<b>Head</b>\n5 &lt; 6 * <b>7</b>\nno <a href="https://e.x/?a=1&amp;b=2">yes</a>',
    );
  });

  it('converts Markdown to HTML and the markup of chats, with HTML in it as text', () => {
    const text = '# Head\n**bold** _it_ `a<b`\n- one\n\n<script>x</script>';
    expect(convertText(text, 'markdown', 'html')).toContain('<strong>bold</strong> <em>it</em> <code>a&lt;b</code>');
    expect(convertText(text, 'markdown', 'html')).not.toContain('<script>');
    expect(convertText(text, 'markdown', 'telegram')).toContain('<b>bold</b> <i>it</i> <code>a&lt;b</code>\n- one');
    expect(convertText(text, 'markdown', 'slack')).toContain('*Head*\n\n*bold* _it_ `a&lt;b`');
  });

  it('escapes text that resembles markup', () => {
    expect(convertText('a & b\nc <d>', 'text', 'html')).toBe('a &amp; b<br/>c &lt;d&gt;');
    expect(convertText('a & <b>', 'text', 'slack')).toBe('a &amp; &lt;b&gt;');
    expect(convertText('a & <b>', 'text', 'telegram')).toBe('a &amp; &lt;b&gt;');
  });

  it.each(['> '.repeat(5000), '['.repeat(60_000), '|a'.repeat(9000), '- '.repeat(3000), '*a '.repeat(9000)])(
    'handles deeply nested Markdown: %#',
    (text) => {
      for (const to of ['html', 'slack', 'telegram'] as const)
        expect(typeof convertText(text, 'markdown', to)).toBe('string');
    },
  );

  it('handles deeply nested HTML', () => {
    const deep = '<div><b>'.repeat(5000) + 'x' + '</b></div>'.repeat(5000);
    const endless = `${'<div>'.repeat(100_000)}a &amp; b`;
    expect(convertText(endless, 'html', 'slack')).toBe('a &amp; b');
    for (const to of ['text', 'markdown', 'slack', 'telegram'] as const) {
      expect(convertText(deep, 'html', to).length).toBeLessThan(1000);
    }
  });
});
