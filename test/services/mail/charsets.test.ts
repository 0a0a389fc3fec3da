import { describe, expect, it } from 'vitest';
import { toNotification, defaultOptions } from '../../../services/mail/domain/notification.ts';
import { parseMail } from '../../../services/mail/mime/parse.ts';
import { parseSubject } from '../../../services/mail/mime/subject.ts';

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const parse = (...lines: readonly string[]) => parseMail(Buffer.from(lines.join('\r\n'), 'latin1'));

describe('mail text', () => {
  it.each(['ANSI_X3.4-1968', 'us-ascii', 'unknown-8bit', 'iso-8859-1', 'nonsense'])(
    'is decoded as UTF-8 when valid, although %s is declared',
    async (charset) => {
      const mail = await parse(
        `Content-Type: text/plain; charset=${charset}`,
        '',
        utf8('rm: cannot remove ‘x’: Gerät voll'),
      );
      expect(mail.text?.trim()).toBe('rm: cannot remove ‘x’: Gerät voll');
    },
  );

  it('is decoded per part, also quoted-printable, without changing attached files', async () => {
    const mail = await parse(
      'Content-Type: multipart/mixed; boundary="b"',
      '',
      '--b',
      'Content-Type: text/plain; charset=us-ascii',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Ger=C3=A4t =',
      'voll',
      '--b',
      'Content-Type: text/html',
      '',
      '<p>Gr\xfc\xdfe</p>',
      '--b',
      'Content-Type: text/plain',
      'Content-Disposition: attachment; filename="Ger\xe4t.txt"',
      '',
      'L\xf6',
      '--b--',
    );
    expect(mail.text).toContain('Gerät voll');
    expect(mail.html).toContain('<p>Grüße</p>');
    const [file] = mail.attachments;
    expect(file?.name).toBe('Gerät.txt');
    expect(
      Buffer.from(file?.bytes ?? [])
        .toString('latin1')
        .trim(),
    ).toBe('L\xf6');
  });

  it.each([
    ['text/html', '<html><head><meta http-equiv="Content-Type" content="text/html; charset=windows-1251"></head>'],
    ['text/html; charset=us-ascii', '<meta charset="windows-1251">'],
    ['text/html', "<META CHARSET='cp1251'/>"],
  ])('is decoded as its HTML declares when %s does not: %s', async (type, head) => {
    const cyrillic = await parse(`Content-Type: ${type}`, '', `${head}<p>\xd2\xe5\xf1\xf2</p>`);
    expect(cyrillic.html).toContain('<p>Тест</p>');
    const alreadyUtf8 = await parse(`Content-Type: ${type}`, '', `${head}<p>${utf8('Тест')}</p>`);
    expect(alreadyUtf8.html).toContain('<p>Тест</p>');
    const declared = await parse('Content-Type: text/html; charset=koi8-r', '', `${head}<p>\xf4\xc5\xd3\xd4</p>`);
    expect(declared.html).toContain('<p>Тест</p>');
  });

  it('is decoded from UTF-7 and legacy charsets', async () => {
    expect((await parse('Content-Type: text/plain; charset=utf-7', '', 'Gr+APwA3w-e')).text?.trim()).toBe('Grüße');
    expect((await parse('Content-Type: text/plain; charset=cp850', '', 'Gr\x81\xe1e')).text?.trim()).toBe('Grüße');
  });

  it('loses terminal escape sequences', async () => {
    const mail = await parse('Content-Type: text/plain', '', '\x1b[31mred\x1b[0m 10%\r20%', 'done');
    expect(mail.text?.replaceAll('\r\n', '\n').trim()).toBe('red 10%\n20%\ndone');
  });
});

describe('mail header', () => {
  const subject = 'St\xf6rung am Ger\xe4t';

  it.each(['; charset=iso-8859-1', '; charset=utf-8', ''])(
    'is decoded from raw latin-1 next to "%s"',
    async (charset) => {
      const header = [`Subject: ${subject}`, `From: J\xfcrgen <j@nas>`, `Content-Type: text/plain${charset}`];
      const mail = await parse(...header, '', 'x');
      expect([mail.subject, mail.from]).toEqual(['Störung am Gerät', 'Jürgen <j@nas>']);
      expect(parseSubject(header.join('\r\n'))).toBe('Störung am Gerät');
    },
  );

  it.each(['us-ascii', 'unknown-8bit', 'iso-8859-1'])('is decoded from UTF-8 words labelled %s', async (charset) => {
    expect((await parse(`Subject: =?${charset}?Q?Ger=C3=A4t?=`, '', 'x')).subject).toBe('Gerät');
  });
});

describe('mail without text', () => {
  it('uses its subject for a forwarded message or a file', async () => {
    const forwarded = await parse(
      'Subject: Fwd: disk',
      'Content-Type: message/rfc822',
      '',
      'Subject: disk',
      '',
      'full',
    );
    expect(toNotification(forwarded, defaultOptions).body).toBe('Fwd: disk');
    const file = await parse('Subject: log', 'Content-Type: text/plain', 'Content-Disposition: attachment', '', 'x');
    expect(toNotification(file, defaultOptions).body).toBe('log');
  });
});
