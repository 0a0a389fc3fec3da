import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { mail } from '../../../services/mail/index.ts';
import { MailReader } from '../../../services/mail/mime/reader.ts';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { Client, submit } from './support.ts';

let host: TestHost;
let offers: Offers;
beforeEach(async () => {
  const probe = createProbe(['notices']);
  offers = probe.offers;
  host = await openTestHost({ services: [probe.descriptor, mail] });
});
afterEach(() => host[Symbol.asyncDispose]());

/** Returns reproducible random numbers, so that failures can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

const pieces = [
  ...[
    '--b\r\n',
    '--b--\r\n',
    '--c\r\n',
    '\r\n',
    '\n',
    '\r',
    '\0',
    '.\n',
    ' ',
    ';',
    '"',
    '=',
    '=?utf-8?q?',
    '?=',
    '=FF',
  ],
  ...['Content-Type: multipart/mixed; boundary=b\r\n', 'Content-Type: multipart/alternative; boundary="c"\r\n'],
  ...[
    'Content-Type: text/html; charset=x-nope\r\n',
    'Content-Type: message/rfc822\r\n',
    'Content-Type: text/calendar\r\n',
  ],
  ...['Content-Transfer-Encoding: base64\r\n', 'Content-Transfer-Encoding: quoted-printable\r\n'],
  ...[
    "Content-Disposition: attachment; filename*0*=utf-8''%ff; filename*1=\"",
    'Subject: ',
    'From: ',
    'AAAA',
    '\xff\xfe',
    '<b>',
  ],
];

describe('random mails', () => {
  it('are all parsed to readable text', async () => {
    const next = createRandom(7);
    const reader = new MailReader(systemClock);
    for (let round = 0; round < 1500; round += 1) {
      const text = Array.from({ length: 1 + next(40) }, () => pieces[next(pieces.length)] ?? '').join('');
      const parsed = await reader.read(Buffer.from(text, 'latin1'));
      expect(typeof parsed.source).toBe('string');
      expect(parsed.attachments.every(({ name }) => name.length < 1000)).toBe(true);
    }
  });

  it('are delivered, with NULs, wrong charsets and a hundred nested parts', async () => {
    const deep = Array.from(
      { length: 100 },
      (_, level) => `Content-Type: multipart/mixed; boundary=b${String(level)}\r\n\r\n--b${String(level)}\r\n`,
    ).join('');
    const sources = [
      `Subject: deep\r\n${deep}Content-Type: text/plain\r\n\r\nbottom\r\n`,
      'Subject: nul\0s\r\n\r\na\0b\r\n',
      'Subject: charset\r\nContent-Type: text/plain; charset=utf-16\r\n\r\nplain after all\r\n',
      `Subject: ${'long '.repeat(30_000)}\r\n\r\nx\r\n`,
    ];
    for (const source of sources) expect(await submit(host.port('mail'), ['alerts@x'], source)).toMatch(/^250 /);
    await vi.waitFor(() => expect(offers.notices.size).toBe(sources.length), { timeout: 20_000 });
    for (const { notice } of offers.notices.values()) {
      expect(notice.body.length + notice.title.length).toBeGreaterThan(0);
      expect(notice.title.length).toBeLessThanOrEqual(1000);
      expect(notice.body).not.toContain('\0');
    }
  });

  it('delivers the file of a 30 MB mail completely without blocking the gateway', async () => {
    const line = `${'QUJD'.repeat(19)}\r\n`;
    const lines = Math.floor(30_000_000 / line.length);
    const head = [
      'Subject: large\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nsee\r\n',
      '--b\r\nContent-Type: application/zip; name=a.zip\r\nContent-Transfer-Encoding: base64\r\n\r\n',
    ].join('');
    const sending = submit(host.port('mail'), ['alerts@x'], `${head}${line.repeat(lines)}--b--\r\n`);
    expect(await submit(host.port('mail'), ['alerts@x'], 'Subject: beside\r\n\r\nx')).toMatch(/^250 /);
    expect(await sending).toMatch(/^250 /);
    await vi.waitFor(() => expect(offers.notices.size).toBe(2), { timeout: 20_000 });
    const large = [...offers.notices.values()].find(({ notice }) => notice.title.startsWith('large'));
    expect(large?.notice.body).toBe('see\n\n[attachment: a.zip]');
    expect(large?.files?.map(({ name, bytes }) => [name, bytes.length])).toEqual([['a.zip', lines * 57]]);
  });
});

describe('misbehaving clients', () => {
  it('accepts a hundred of a thousand recipients and defers the others', async () => {
    using client = await Client.open(host.port('mail'));
    await client.reply();
    await client.command('EHLO test');
    await client.command('MAIL FROM:<a@b>');
    client.write(Array.from({ length: 1000 }, (_, index) => `RCPT TO:<alerts@h${String(index)}>\r\n`).join(''));
    const codes: string[] = [];
    for (let index = 0; index < 1000; index += 1) codes.push((await client.reply()).slice(0, 9));
    expect(codes.filter((code) => code.startsWith('250'))).toHaveLength(100);
    expect(new Set(codes.slice(100))).toEqual(new Set(['452 4.5.3']));
    await client.command('DATA');
    expect(await client.finish(Buffer.from('Subject: once\r\n\r\nx'))).toMatch(/^250 /);
    await vi.waitFor(() => expect(offers.notices.size).toBe(1));
  });

  it('refuses clients that send junk or an endless command, and serves others', async () => {
    using junk = await Client.open(host.port('mail'));
    await junk.reply();
    junk.write(`${'\xff\0JUNK junk\r\n'.repeat(50)}QUIT\r\n`);
    expect(await junk.reply()).toMatch(/^(4|5)\d\d /);
    using endless = await Client.open(host.port('mail'));
    await endless.reply();
    endless.write('A'.repeat(4 * 1024 * 1024));
    endless.write('\r\n');
    expect(await endless.reply()).toMatch(/^(4|5)\d\d |^$/);
    expect(await submit(host.port('mail'), ['alerts@x'], 'Subject: next\r\n\r\nx')).toMatch(/^250 /);
  });

  it.each([
    ['\n.\n', '\n.\n'],
    ['\r.\r', '\r.\r'],
    ['\n.\r\n', '\n.\r\n'],
    ['\r\n.\n', '\r\n.\n'],
    ['\r\n\0.\r\n', '\r\n\0.\r\n'],
  ])('cannot smuggle a second mail after %j', async (_name, terminator) => {
    using client = await Client.open(host.port('mail'));
    await client.begin(['alerts@x']);
    client.write(
      `Subject: outer\r\n\r\none${terminator}MAIL FROM:<evil@x>\r\nRCPT TO:<alerts@x>\r\nDATA\r\nSubject: inner\r\n\r\nx\r\n.\r\n`,
    );
    expect(await client.reply()).toMatch(/^250 2\.0\.0 queued/);
    await vi.waitFor(() => expect(offers.notices.size).toBe(1));
    expect(await client.command('NOOP')).toMatch(/^250 /);
    expect([...offers.notices.values()][0]?.notice.title).toBe('outer ([no sender])');
  });

  it('defers clients beyond the connection limit', async () => {
    const sockets = Array.from({ length: 200 }, () => connect(host.port('mail'), '127.0.0.1'));
    try {
      const greetings = await Promise.all(
        sockets.map(async (socket) => {
          socket.on('error', () => undefined);
          const [chunk] = (await Promise.race([
            once(socket, 'data'),
            once(socket, 'close').then(() => ['']),
          ])) as unknown[];
          return String(chunk).slice(0, 3);
        }),
      );
      expect(greetings.filter((code) => code === '220')).toHaveLength(50);
      expect(greetings.filter((code) => code !== '220' && code !== '421')).toEqual([]);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await vi.waitFor(async () =>
      expect(await submit(host.port('mail'), ['alerts@x'], 'Subject: a\r\n\r\nx')).toMatch(/^250 /),
    );
  });
});
