import { describe, expect, it } from 'vitest';
import { briefOf, webAddress } from '../../../services/popups/rules.ts';
import { escapeMarkup } from '../../../main/host/desktop/markup.ts';
import { bodyText, titleText } from '../../../services/popups/text.ts';
import { message } from './support.ts';

describe('the text of a popup', () => {
  it('is at most 256 and 1,000 characters long, no character cut in two', () => {
    expect(titleText('a'.repeat(256))).toBe('a'.repeat(256));
    expect(titleText('a'.repeat(257))).toBe(`${'a'.repeat(255)}…`);
    expect(titleText(`a${'😀'.repeat(200)}`)).toBe(`a${'😀'.repeat(127)}…`);
    expect(titleText(`${'😀'.repeat(200)}`)).toBe(`${'😀'.repeat(127)}…`);
    expect(bodyText('b'.repeat(1_000_000), 'text')).toHaveLength(1000);
  });

  it('shows no control character, no change of direction and nothing invisible', () => {
    expect(titleText('a\u0000b\u001b[31mc\u009bd\ne')).toBe('a b [31mc d e');
    expect(titleText('invoice\u202egpj.exe\u2066\u2069\u200f')).toBe('invoicegpj.exe');
    expect(bodyText('pay\u200bpal\ufeff\u2060\u00ad', 'text')).toBe('paypal');
    expect(bodyText('one\r\ntwo\u2028three\n\n\n\nfour', 'text')).toBe('one\ntwo\nthree\n\nfour');
    expect(bodyText('half \ud800 pair', 'text')).toBe('half \ufffd pair');
  });

  it('keeps the joiners that emoji and scripts need', () => {
    expect(titleText('👩‍💻 می‌خواهم')).toBe('👩‍💻 می‌خواهم');
  });

  it('is without the marks of HTML and Markdown', () => {
    expect(bodyText('<p>disk <b>full</b></p><script>alert(1)</script>', 'html')).toBe('disk full');
    expect(bodyText('# Backup\n**done**, see [the log](https://x.example/log) and `df`', 'markdown')).toBe(
      'Backup\ndone, see the log and df',
    );
    expect(bodyText('# **as is**', 'text')).toBe('# **as is**');
  });

  it('stands for itself where the server reads markup', () => {
    expect(escapeMarkup('a & <b>b</b> &amp;')).toBe('a &amp; &lt;b&gt;b&lt;/b&gt; &amp;amp;');
  });

  it('has a title even where the message has none', () => {
    expect(briefOf(message(1, { title: ' \u200b', source: 'mail' })).title).toBe('Message from mail');
  });
});

describe('the link of a popup', () => {
  it.each(['javascript:alert(1)', 'file:///etc/passwd', 'smb://x/y', 'not an address', '-psn', ''])(
    'is never %s',
    (link) => expect(webAddress(link)).toBeNull(),
  );
  it('is an address of the web', () => {
    expect(webAddress('https://x.example/a b')).toBe('https://x.example/a%20b');
    expect(webAddress('HTTP://x.example')).toBe('http://x.example/');
    expect(webAddress(null)).toBeNull();
  });
});
