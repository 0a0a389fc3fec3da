import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noticeOfMail, plainTelling } from '../../../services/mail/domain/notification.ts';
import { abridge } from '../../../services/mail/mime/shorten-source.ts';
import { parseMail } from '../../../services/mail/mime/parse.ts';
import { MailReader } from '../../../services/mail/mime/reader.ts';
import { subjectIn } from '../../../services/mail/mime/subject.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';

const readMail = (source: Uint8Array) => new MailReader(systemClock).read(source);
const parse = (source: string) => parseMail(Buffer.from(source, 'latin1'));

describe('the subject', () => {
  const corpus = new URL('corpus/', import.meta.url);

  it.each(readdirSync(corpus))('of %s is read from its header alone as from the whole mail', async (file) => {
    const raw = readFileSync(new URL(file, corpus));
    const [header = ''] = raw.toString('latin1').split(/\r?\n\r?\n/, 1);
    const { subject = '' } = await parseMail(raw);
    expect(subjectIn(header)).toBe(subject.replace(/[\p{Cc}\s]+/gu, ' ').trim());
  });

  it('made to hurt costs no more than its length', () => {
    for (const part of ['=?utf-8?q?', ' \r\n', '=?', '\t', '\r\nsubject'])
      expect(subjectIn(`Subject:${part.repeat(40_000)}`).length).toBeLessThanOrEqual(500);
  });
});

describe('the sender', () => {
  it.each([
    ['root@host (Cron Daemon)', 'root@host'],
    ['Ada <ada@host>', 'Ada <ada@host>'],
    ['=?utf-8?q?J=C3=BCrgen?= <j@host>', 'Jürgen <j@host>'],
    ['(nobody)', ''],
    ['a (b) c', 'a (b) c'],
    ['a (b (c)', 'a (b'],
    ['a)', 'a)'],
  ])('%s is shown as %s', async (from, shown) => {
    expect((await parse(`From: ${from}\r\n\r\nx`)).from).toBe(shown);
  });

  it('made to hurt costs no more than its length', async () => {
    for (const middle of [' '.repeat(250_000), '('.repeat(250_000), '() '.repeat(80_000)]) {
      expect((await parse(`From: a${middle}b\r\n\r\nx`)).from).toMatch(/^a.*b$/);
    }
  });
});

describe('a large mail', () => {
  it('gives no more than is shown, and says that there was more', async () => {
    const source = Buffer.from(`Subject: big\r\n\r\n${'x'.repeat(30_000_000)}`);
    const mail = await readMail(source);
    expect(mail.text?.length).toBeLessThan(1_000_000);
    expect(noticeOfMail(mail, plainTelling).body).toMatch(/^x+…$/);
  });

  it('keeps what stands behind a long part', async () => {
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
    expect(noticeOfMail(mail, plainTelling)).toMatchObject({ title: 'parts ([no sender])', body: 'hällo' });
    const [archive, picture] = mail.attachments;
    // Base64 stays whole; of the picture, sent as bytes, the middle was left out, so that it is only named.
    expect([archive?.name, archive?.bytes?.length]).toEqual(['a.zip', 5_700_000]);
    expect([picture?.name, picture?.bytes]).toEqual(['b.png', undefined]);
  });

  it('in one line without a charset keeps its characters whole', async () => {
    const mail = await readMail(Buffer.from(`Subject: x\r\n\r\n${'ü'.repeat(3_000_000)}`));
    expect(noticeOfMail(mail, plainTelling).body).toMatch(/^ü+…$/);
  });
});

describe('an abridged source', () => {
  it('has lost only the inside of long stretches', () => {
    const line = `${'x'.repeat(70)}\r\n`;
    const short = Buffer.from(`--b\r\n${line.repeat(100)}`);
    expect(abridge(short)).toEqual({ raw: short, cut: false });
    const { raw: long, cut } = abridge(Buffer.from(`--b\r\n${line.repeat(100_000)}--b\r\nend\r\n--b--\r\n`));
    expect(cut).toBe(true);
    expect(long.length).toBeLessThan(2_200_000);
    expect(Buffer.from(long).toString()).toMatch(/^--b\r\n(x{70}\r\n)+\r?\n?--b\r\nend\r\n--b--\r\n$/);
  });
});
