import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toNotification, defaultOptions } from '../../../services/mail/domain/notification.ts';
import { shortenSource } from '../../../services/mail/mime/shorten-source.ts';
import { parseMail } from '../../../services/mail/mime/parse.ts';
import { MailReader } from '../../../services/mail/mime/reader.ts';
import { parseSubject } from '../../../services/mail/mime/subject.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';

const readMail = (source: Uint8Array) => new MailReader(systemClock).read(source);
const parse = (source: string) => parseMail(Buffer.from(source, 'latin1'));

describe('mail subject', () => {
  const corpus = new URL('corpus/', import.meta.url);

  it.each(readdirSync(corpus))(
    'parses the same subject of %s from the header and from the complete mail',
    async (file) => {
      const raw = readFileSync(new URL(file, corpus));
      const [header = ''] = raw.toString('latin1').split(/\r?\n\r?\n/, 1);
      const { subject = '' } = await parseMail(raw);
      expect(parseSubject(header)).toBe(subject.replace(/[\p{Cc}\s]+/gu, ' ').trim());
    },
  );

  it('takes linear time when hostile', () => {
    for (const part of ['=?utf-8?q?', ' \r\n', '=?', '\t', '\r\nsubject'])
      expect(parseSubject(`Subject:${part.repeat(40_000)}`).length).toBeLessThanOrEqual(500);
  });
});

describe('mail sender', () => {
  it.each([
    ['root@host (Cron Daemon)', 'root@host'],
    ['Ada <ada@host>', 'Ada <ada@host>'],
    ['=?utf-8?q?J=C3=BCrgen?= <j@host>', 'Jürgen <j@host>'],
    ['(nobody)', ''],
    ['a (b) c', 'a (b) c'],
    ['a (b (c)', 'a (b'],
    ['a)', 'a)'],
  ])('formats %s as %s', async (from, formatted) => {
    expect((await parse(`From: ${from}\r\n\r\nx`)).from).toBe(formatted);
  });

  it('takes linear time when hostile', async () => {
    for (const middle of [' '.repeat(250_000), '('.repeat(250_000), '() '.repeat(80_000)]) {
      expect((await parse(`From: a${middle}b\r\n\r\nx`)).from).toMatch(/^a.*b$/);
    }
  });
});

describe('large mail', () => {
  it('returns no more text than is shown, and indicates truncation', async () => {
    const source = Buffer.from(`Subject: big\r\n\r\n${'x'.repeat(30_000_000)}`);
    const mail = await readMail(source);
    expect(mail.text?.length).toBeLessThan(1_000_000);
    expect(toNotification(mail, defaultOptions).body).toMatch(/^x+…$/);
  });

  it('keeps parts after a long one', async () => {
    const part = (header: string, body: string): string => `--b\r\n${header}\r\n\r\n${body}\r\n`;
    const source = [
      'Subject: parts\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n',
      part(
        'Content-Type: application/zip; name=a.zip\r\nContent-Transfer-Encoding: base64',
        `${'QUJD'.repeat(19)}\r\n`.repeat(100_000),
      ),
      part('Content-Type: text/plain; charset=utf-8', 'hällo'),
      part('Content-Type: image/png; name=b.png', `\u00fc${'ü'.repeat(3_000_000)}`),
      '--b--\r\n',
    ];
    const mail = await readMail(Buffer.from(source.join('')));
    expect(toNotification(mail, defaultOptions)).toMatchObject({ title: 'parts ([no sender])', body: 'hällo' });
    const [archive, picture] = mail.attachments;
    // Base64 is kept; the image, sent as binary, lost its middle and is only named.
    expect([archive?.name, archive?.bytes?.length]).toEqual(['a.zip', 5_700_000]);
    expect([picture?.name, picture?.bytes]).toEqual(['b.png', undefined]);
  });

  it('keeps complete characters in one line without charset', async () => {
    const mail = await readMail(Buffer.from(`Subject: x\r\n\r\n${'ü'.repeat(3_000_000)}`));
    expect(toNotification(mail, defaultOptions).body).toMatch(/^ü+…$/);
  });
});

describe('shortened source', () => {
  it('loses only the middle of long sections', () => {
    const line = `${'x'.repeat(70)}\r\n`;
    const short = Buffer.from(`--b\r\n${line.repeat(100)}`);
    expect(shortenSource(short)).toEqual({ raw: short, isShortened: false });
    const { raw: long, isShortened } = shortenSource(
      Buffer.from(`--b\r\n${line.repeat(100_000)}--b\r\nend\r\n--b--\r\n`),
    );
    expect(isShortened).toBe(true);
    expect(long.length).toBeLessThan(2_200_000);
    expect(Buffer.from(long).toString()).toMatch(/^--b\r\n(x{70}\r\n)+\r?\n?--b\r\nend\r\n--b--\r\n$/);
  });
});
