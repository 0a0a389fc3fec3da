import { describe, expect, it } from 'vitest';
import { toBrief, toWebUrl } from '../../../services/popups/rules.ts';
import { escapeMarkup } from '../../../main/host/desktop/markup.ts';
import { formatBody, formatTitle } from '../../../services/popups/text.ts';
import { message } from './support.ts';

describe('text of a popup', () => {
  it('is truncated to 256 and 1,000 characters without splitting a character', () => {
    expect(formatTitle('a'.repeat(256))).toBe('a'.repeat(256));
    expect(formatTitle('a'.repeat(257))).toBe(`${'a'.repeat(255)}…`);
    expect(formatTitle(`a${'😀'.repeat(200)}`)).toBe(`a${'😀'.repeat(127)}…`);
    expect(formatTitle(`${'😀'.repeat(200)}`)).toBe(`${'😀'.repeat(127)}…`);
    expect(formatBody('b'.repeat(1_000_000), 'text')).toHaveLength(1000);
  });

  it('contains no control characters, direction changes and invisible characters', () => {
    expect(formatTitle('a\u0000b\u001b[31mc\u009bd\ne')).toBe('a b [31mc d e');
    expect(formatTitle('invoice\u202egpj.exe\u2066\u2069\u200f')).toBe('invoicegpj.exe');
    expect(formatBody('pay\u200bpal\ufeff\u2060\u00ad', 'text')).toBe('paypal');
    expect(formatBody('one\r\ntwo\u2028three\n\n\n\nfour', 'text')).toBe('one\ntwo\nthree\n\nfour');
    expect(formatBody('half \ud800 pair', 'text')).toBe('half \ufffd pair');
  });

  it('keeps the joiners of emoji and scripts', () => {
    expect(formatTitle('👩‍💻 می‌خواهم')).toBe('👩‍💻 می‌خواهم');
  });

  it('contains no HTML and Markdown marks', () => {
    expect(formatBody('<p>disk <b>full</b></p><script>alert(1)</script>', 'html')).toBe('disk full');
    expect(formatBody('# Backup\n**done**, see [the log](https://x.example/log) and `df`', 'markdown')).toBe(
      'Backup\ndone, see the log and df',
    );
    expect(formatBody('# **as is**', 'text')).toBe('# **as is**');
  });

  it('is escaped for notification servers that read markup', () => {
    expect(escapeMarkup('a & <b>b</b> &amp;')).toBe('a &amp; &lt;b&gt;b&lt;/b&gt; &amp;amp;');
  });

  it('has a title even when the message has none', () => {
    expect(toBrief(message(1, { title: ' \u200b', source: 'mail' })).title).toBe('Message from mail');
  });
});

describe('link of a popup', () => {
  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'smb://x/y', 'not an address', '-psn', ''])(
    'rejects %s',
    (link) => expect(toWebUrl(link)).toBeNull(),
  );
  it('accepts web addresses', () => {
    expect(toWebUrl('https://x.example/a b')).toBe('https://x.example/a%20b');
    expect(toWebUrl('HTTP://x.example')).toBe('http://x.example/');
    expect(toWebUrl(null)).toBeNull();
  });
});
