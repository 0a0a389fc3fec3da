import { describe, expect, it } from 'vitest';
import { noticeOfMail, plainTelling } from '../../../services/mail/domain/notification.ts';
import { parseMail } from '../../../services/mail/mime/parse.ts';
import { subjectIn } from '../../../services/mail/mime/subject.ts';

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const parse = (...lines: readonly string[]) => parseMail(Buffer.from(lines.join('\r\n'), 'latin1'));

describe('text of a mail', () => {
  it.each(['ANSI_X3.4-1968', 'us-ascii', 'unknown-8bit', 'iso-8859-1', 'nonsense'])(
    'is read as UTF-8 where it is valid, although %s is declared',
    async (charset) => {
      const mail = await parse(
        `Content-Type: text/plain; charset=${charset}`,
        '',
        utf8('rm: cannot remove ‘x’: Gerät voll'),
      );
      expect(mail.text?.trim()).toBe('rm: cannot remove ‘x’: Gerät voll');
    },
  );

  it('is read in each part by itself, also quoted-printable, while attached files stay as they are', async () => {
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

  it('is read from UTF-7 and from charsets of old systems', async () => {
    expect((await parse('Content-Type: text/plain; charset=utf-7', '', 'Gr+APwA3w-e')).text?.trim()).toBe('Grüße');
    expect((await parse('Content-Type: text/plain; charset=cp850', '', 'Gr\x81\xe1e')).text?.trim()).toBe('Grüße');
  });

  it('loses the codes for terminals', async () => {
    const mail = await parse('Content-Type: text/plain', '', '\x1b[31mred\x1b[0m 10%\r20%', 'done');
    expect(mail.text?.replaceAll('\r\n', '\n').trim()).toBe('red 10%\n20%\ndone');
  });
});

describe('header of a mail', () => {
  const subject = 'St\xf6rung am Ger\xe4t';

  it.each(['; charset=iso-8859-1', '; charset=utf-8', ''])('in raw latin-1 is read beside "%s"', async (charset) => {
    const header = [`Subject: ${subject}`, `From: J\xfcrgen <j@nas>`, `Content-Type: text/plain${charset}`];
    const mail = await parse(...header, '', 'x');
    expect([mail.subject, mail.from]).toEqual(['Störung am Gerät', 'Jürgen <j@nas>']);
    expect(subjectIn(header.join('\r\n'))).toBe('Störung am Gerät');
  });

  it.each(['us-ascii', 'unknown-8bit', 'iso-8859-1'])('reads words of UTF-8 that are labelled %s', async (charset) => {
    expect((await parse(`Subject: =?${charset}?Q?Ger=C3=A4t?=`, '', 'x')).subject).toBe('Gerät');
  });
});

describe('a mail without text', () => {
  it('is told by its subject where it is only a forwarded message or a file', async () => {
    const forwarded = await parse(
      'Subject: Fwd: disk',
      'Content-Type: message/rfc822',
      '',
      'Subject: disk',
      '',
      'full',
    );
    expect(noticeOfMail(forwarded, plainTelling).body).toBe('Fwd: disk');
    const file = await parse('Subject: log', 'Content-Type: text/plain', 'Content-Disposition: attachment', '', 'x');
    expect(noticeOfMail(file, plainTelling).body).toBe('log');
  });
});
