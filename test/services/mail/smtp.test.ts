import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Context } from '../../../services/contracts/service.ts';
import { mail } from '../../../services/mail/index.ts';
import { Settings } from '../../../services/mail/settings.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, withReadings, type Offers, type Readings } from '../notify/support.ts';
import { Client, readSources, spoolFiles, submit } from './support.ts';

let host: TestHost;
let offers: Offers;
let readings: Readings;

const { recipients } = Settings.parse({
  recipients: [
    { address: 'aggregator', to: 'notify://aggregator' },
    { address: 'pager@nas.lan', to: 'push://pager http://any.host:8000/notify/night?tag=oncall+now' },
  ],
});

/** Number of commits that succeed but whose response is lost. */
let lostAnswers = 0;
let isFull = false;
const withLostResponses =
  (commit: Context['commit']): Context['commit'] =>
  async (work) => {
    if (isFull) throw new Problem('database.full', 507, 'The disk is full.', { retryable: true });
    const result = await commit(work);
    if (lostAnswers === 0) return result;
    lostAnswers -= 1;
    throw new Problem('database.unavailable', 503, 'The database is gone.', { retryable: true });
  };

async function openMail(settings: Partial<Settings> = {}): Promise<void> {
  const probe = createProbe(['notices', 'push']);
  const watched = withReadings({
    ...mail,
    create: (context, _settings: Settings) =>
      mail.create({ ...context, commit: withLostResponses(context.commit) }, { ..._settings, recipients, ...settings }),
  });
  offers = probe.offers;
  readings = watched.readings;
  host = await openTestHost({ services: [probe.descriptor, watched.descriptor] });
}

function processed(result: string): number | undefined {
  return readings.counters.get(`gateway_emails_processed_total{result="${result}"}`);
}

const listSources = (): readonly Buffer[] => [...readSources(host.dataDir).values()];
const listFiles = (): readonly string[] => spoolFiles(host.dataDir);
/** Larger than the memory buffer. */
const longText = `${'x'.repeat(98)}\r\n`.repeat(1000);

const mailRecipients = ['aggregator@anywhere.example'];

beforeEach(() => openMail({ maxMegabytes: 1, maxRecipients: 2, maxClients: 3 }));
afterEach(() => host[Symbol.asyncDispose]());

describe('SMTP dialogue', () => {
  it('offers the usual extensions, without sign-in', async () => {
    using client = await Client.open(host.port('mail'));
    expect(await client.reply()).toBe('220 localhost ESMTP Homeport');
    const extensions = (await client.command('EHLO [127.0.0.1]')).split('\r\n').map((line) => line.slice(4));
    expect(extensions.slice(1)).toEqual(['PIPELINING', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES', 'SIZE 1048576']);
    expect(await client.command('AUTH PLAIN AGEAYg==')).toMatch(/^500 /);
    expect(await client.command('MAIL FROM:<>')).toMatch(/^250 /);
  });

  it('refuses unknown recipients and invalid addresses, and accepts the others', async () => {
    using client = await Client.open(host.port('mail'));
    await client.reply();
    await client.command('EHLO test');
    await client.command('MAIL FROM:<a@b.c>');
    expect(await client.command('RCPT TO:<nobody@anywhere>')).toMatch(/^550 5\.1\.1 /);
    expect(await client.command('RCPT TO:<pager@elsewhere>')).toMatch(/^550 5\.1\.1 /);
    expect(await client.command('RCPT TO:<broken')).toMatch(/^501 5\.1\.3 /);
    expect(await client.command('DATA')).toMatch(/^503 /);
    expect(await client.command('RCPT TO:<AGGREGATOR.Warning@x>')).toMatch(/^250 /);
    expect(await client.command('RCPT TO:<pager@NAS.lan>')).toMatch(/^250 /);
    expect(await client.command('RCPT TO:<aggregator.info@x>')).toMatch(/^452 4\.5\.3 /);
    expect(processed('rejected')).toBe(2);
  });

  it.each([
    ['without brackets', 'mail from: cam@x', 'rcpt to: aggregator@x'],
    [
      'without brackets, with parameters',
      'MAIL FROM: cam@x SIZE=100 BODY=8BITMIME',
      'RCPT TO: aggregator@x NOTIFY=NEVER',
    ],
    ['without a domain, as of cron', 'MAIL FROM:<root>', 'RCPT TO:<aggregator>'],
    ['without either', 'MAIL FROM:root', 'RCPT TO:aggregator.warning'],
    ['with a name', 'MAIL FROM:"Front Door" <cam@x>', 'RCPT TO:Ada Lovelace <aggregator@x>'],
    ['with spaces', 'MAIL FROM: < cam@x >', 'RCPT TO:  <aggregator@x> '],
  ])('accepts addresses %s', async (_case, from, mailRecipients) => {
    using client = await Client.open(host.port('mail'));
    await client.reply();
    await client.command('EHLO front door cam_1');
    expect(await client.command(from)).toMatch(/^250 /);
    expect(await client.command(mailRecipients)).toMatch(/^250 /);
    expect(await client.command('DATA')).toMatch(/^354 /);
    expect(await client.finish(Buffer.from('Subject: x\r\n\r\nx\r\n'))).toMatch(/^250 /);
    await vi.waitFor(() => expect(offers.notices.size).toBe(1));
  });

  it.each([
    'MAIL FROM:',
    'MAIL FROM:<a',
    'MAIL FROM:<@x>',
    'MAIL FROM:<a@>',
    'MAIL FROM:SIZE=7',
    'MAIL FROM:<a@b@c>',
    'MAIL FROM a@b',
  ])('refuses %s', async (from) => {
    using client = await Client.open(host.port('mail'));
    await client.reply();
    await client.command('HELO front door');
    expect(await client.command(from)).toMatch(/^501 /);
    expect(await client.command('MAIL FROM:<>')).toMatch(/^250 /);
  });

  it('accepts pipelined commands', async () => {
    using client = await Client.open(host.port('mail'));
    await client.reply();
    client.write('EHLO t\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<aggregator@x>\r\nDATA\r\n');
    for (const code of ['250', '250', '250', '354']) expect(await client.reply()).toMatch(new RegExp(`^${code}`));
    client.write('Subject: one\r\n\r\n1\r\n.\r\nMAIL FROM:<a@b.c>\r\nRCPT TO:<aggregator@x>\r\nDATA\r\n');
    for (const code of ['250', '250', '250', '354']) expect(await client.reply()).toMatch(new RegExp(`^${code}`));
    client.write('Subject: two\r\n\r\n2\r\n.\r\nQUIT\r\n');
    for (const code of ['250 2.0.0 queued', '221']) expect(await client.reply()).toMatch(new RegExp(`^${code}`));
    await vi.waitFor(() => {
      expect([...offers.notices.values()].map(({ notice }) => notice.title)).toEqual([
        'one ([no sender])',
        'two ([no sender])',
      ]);
    });
  });

  it('ends data only at a dot between CRLF line ends', async () => {
    using client = await Client.open(host.port('mail'));
    await client.begin(mailRecipients);
    client.write('Subject: smuggled\r\n\r\nfirst\n.\nMAIL FROM:<evil@x>\r\nlast\r\n.\r\n');
    expect(await client.reply()).toMatch(/^250 /);
    await vi.waitFor(() => expect(offers.notices.size).toBe(1));
    expect([...offers.notices.values()][0]?.notice.body).toContain('MAIL FROM:<evil@x>');
  });

  it('refuses HTTP requests and connections above the limit', async () => {
    using web = await Client.open(host.port('mail'));
    await web.reply();
    expect(await web.command('POST / HTTP/1.1')).toMatch(/^421 /);
    const clients = await Promise.all([1, 2, 3].map(() => Client.open(host.port('mail'))));
    for (const client of clients) expect(await client.reply()).toMatch(/^220 /);
    using fourth = await Client.open(host.port('mail'));
    expect(await fourth.reply()).toMatch(/^421 4\.3\.2 /);
    for (const client of clients) client[Symbol.dispose]();
    await vi.waitFor(async () => {
      using next = await Client.open(host.port('mail'));
      expect(await next.reply()).toMatch(/^220 /);
    });
  });
});

describe('mail', () => {
  it('is delivered to the targets of its recipients with the type of the address', async () => {
    await submit(host.port('mail'), ['pager.failure@nas.lan'], 'From: nas@x\r\nSubject: Fire\r\n\r\nbasement\r\n');
    await vi.waitFor(() => expect([offers.notices.size, offers.push.size]).toEqual([1, 1]));
    expect([...offers.push.values()]).toMatchObject([
      { topic: 'pager', title: 'Fire (nas@x)', message: 'basement', priority: 4 },
    ]);
    expect([...offers.notices.values()]).toMatchObject([
      { configuration: 'night', tag: 'oncall now', notice: { type: 'failure' } },
    ]);
  });

  it('is delivered once per target, regardless of the number of recipients', async () => {
    await submit(host.port('mail'), ['aggregator@a', 'aggregator@b'], 'Subject: once\r\n\r\nx');
    await submit(host.port('mail'), ['aggregator@a'], 'Subject: after\r\n\r\nx');
    await vi.waitFor(() => expect(offers.notices.size).toBe(2));
    expect([...offers.notices.values()].map(({ notice }) => notice.title)).toEqual([
      'once ([no sender])',
      'after ([no sender])',
    ]);
  });

  it('is accepted once when it is resent; without Message-ID, it may be intended twice', async () => {
    const marked = 'Message-ID: <1@x>\r\nSubject: twin\r\n\r\nx';
    const first = await submit(host.port('mail'), mailRecipients, marked);
    expect(await submit(host.port('mail'), mailRecipients, marked)).toBe(first);
    const plainSource = 'Subject: alone\r\n\r\nx';
    expect(await submit(host.port('mail'), mailRecipients, plainSource)).not.toBe(
      await submit(host.port('mail'), mailRecipients, plainSource),
    );
    await vi.waitFor(() => expect(offers.notices.size).toBe(3));
    expect(listSources()).toHaveLength(3);
  });

  it('is stored as received', async () => {
    const source = Buffer.from('Subject: r\xe4w\r\n\r\n.dot\r\n\x00\xff\r\n', 'latin1');
    const id = (await submit(host.port('mail'), mailRecipients, source)).split(' ').at(-1);
    expect(
      readSources(host.dataDir)
        .get(id ?? '')
        ?.equals(source),
    ).toBe(true);
  });

  it('refuses a mail that is too large, early by its declared size and late by its actual size', async () => {
    using client = await Client.open(host.port('mail'));
    await client.reply();
    await client.command('EHLO t');
    expect(await client.command('MAIL FROM:<a@b.c> SIZE=2000000')).toMatch(/^552 5\.3\.4 /);
    const large = `Subject: large\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(12_000)}`;
    expect(await submit(host.port('mail'), mailRecipients, large)).toMatch(/^552 5\.3\.4 /);
    expect([listSources(), processed('accepted')]).toEqual([[], 0]);
    expect(await submit(host.port('mail'), mailRecipients, 'Subject: small\r\n\r\nx')).toMatch(/^250 /);
  });

  it('refuses a mail in a loop', async () => {
    expect(
      await submit(host.port('mail'), mailRecipients, `${'Received: from x\r\n'.repeat(26)}Subject: loop\r\n\r\nx`),
    ).toMatch(/^554 5\.4\.6 /);
    expect(await submit(host.port('mail'), mailRecipients, 'Subject: loop\r\nX-Notify-Hop: 4\r\n\r\nx')).toMatch(
      /^554 5\.4\.6 /,
    );
    expect(listSources()).toEqual([]);
    expect(await submit(host.port('mail'), mailRecipients, 'Subject: on its way\r\nX-Notify-Hop: 3\r\n\r\nx')).toMatch(
      /^250 /,
    );
    await vi.waitFor(() => expect([...offers.notices.values()]).toMatchObject([{ notice: { hops: 3 } }]));
  });

  it('is refused temporarily while it cannot be stored', async () => {
    // A file with the name of the spool, so that the folder cannot be created.
    writeFileSync(join(host.dataDir, 'mail', 'spool'), '');
    expect(await submit(host.port('mail'), mailRecipients, `Subject: x\r\n\r\n${longText}`)).toMatch(/^451 4\.3\.0 /);
    expect(processed('failed')).toBe(1);
  });

  it.each([
    ['small', 'x'],
    ['large', longText],
  ])('refuses a mail that is %s temporarily while the disk is full, without leaving data', async (_size, text) => {
    isFull = true;
    expect(await submit(host.port('mail'), mailRecipients, `Subject: x\r\n\r\n${text}`)).toMatch(/^452 4\.3\.1 /);
    isFull = false;
    expect([listSources(), processed('failed')]).toEqual([[], 1]);
    expect(await submit(host.port('mail'), mailRecipients, `Subject: x\r\n\r\n${text}`)).toMatch(/^250 /);
    expect(listSources()).toHaveLength(1);
  });

  it.each([
    ['small', 'x'],
    ['large', longText],
  ])('keeps a mail that is %s when the database response is lost: its client sends again', async (_size, text) => {
    lostAnswers = 1;
    const source = `Subject: kept\r\nMessage-ID: <1@nas>\r\n\r\n${text}`;
    expect(await submit(host.port('mail'), mailRecipients, source)).toMatch(/^451 /);
    expect(await submit(host.port('mail'), mailRecipients, source)).toMatch(/^250 /);
    await vi.waitFor(() => expect([...offers.notices.values()].map(({ notice }) => notice.body)).toHaveLength(1));
    expect(listSources().map(String)).toEqual([source.endsWith('\n') ? source : `${source}\r\n`]);
  });

  it('leaves no data when the client disconnects', async () => {
    using client = await Client.open(host.port('mail'));
    await client.begin(mailRecipients);
    client.write(`Subject: half\r\n\r\n${longText}`);
    await vi.waitFor(() => expect(listFiles()).toHaveLength(1));
    client[Symbol.dispose]();
    await vi.waitFor(() => expect(listFiles()).toEqual([]));
    expect(await submit(host.port('mail'), mailRecipients, 'Subject: next\r\n\r\nx')).toMatch(/^250 /);
  });

  it('waits for a target service that is not running', async () => {
    await host[Symbol.asyncDispose]();
    const withoutNetworks = createProbe([]);
    host = await openTestHost({ services: [withoutNetworks.descriptor, mail] });
    expect(await submit(host.port('mail'), ['alerts@x'], 'Subject: later\r\n\r\nx')).toMatch(/^250 /);
    expect(listSources()).toHaveLength(1);
  });
});

describe('shutdown', () => {
  it('completes a mail in progress and closes idle connections', async () => {
    using activeClient = await Client.open(host.port('mail'));
    await activeClient.begin(mailRecipients);
    activeClient.write(`Subject: just in time\r\n\r\n${longText}`);
    using idle = await Client.open(host.port('mail'));
    await idle.reply();
    await vi.waitFor(() => expect(listFiles()).toHaveLength(1));
    const closed = host[Symbol.asyncDispose]();
    expect(await idle.reply()).toMatch(/^421 /);
    expect(await activeClient.finish(Buffer.from('x'))).toMatch(/^250 2\.0\.0 queued/);
    expect(await activeClient.reply()).toMatch(/^421 /);
    await closed;
    expect(await activeClient.reply()).toBe('');
    await openMail();
  });
});

describe('hostile mail', () => {
  const mixed = (boundary: string): string => `Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`;
  const deep = Array.from({ length: 300 }, (_, level) => `--b${level}\r\n${mixed(`b${level + 1}`)}`).join('');

  it.each([
    ['parts within parts', `Subject: deep\r\n${mixed('b0')}${deep}text\r\n`],
    ['a header without end', `Subject: long\r\n${`X-${'y'.repeat(60)}: z\r\n`.repeat(8000)}\r\nbody\r\n`],
    ['nothing but line ends', `Subject: empty\r\n\r\n${'\r\n'.repeat(400_000)}`],
    ['nothing but brackets', `Subject: tags\r\nContent-Type: text/html\r\n\r\n${'<a <'.repeat(200_000)}`],
    ['nothing at all', '\r\n'],
  ])(
    'shows a mail with %s, and delivers the next one',
    async (_case, source) => {
      expect(await submit(host.port('mail'), mailRecipients, source)).toMatch(/^250 /);
      expect(await submit(host.port('mail'), mailRecipients, 'Subject: next\r\n\r\nx')).toMatch(/^250 /);
      // Parsing is stopped after 20 s.
      await vi.waitFor(() => expect(offers.notices.size).toBe(2), { timeout: 60_000 });
      const [hostile, next] = [...offers.notices.values()];
      expect(hostile?.notice.body.length).toBeGreaterThan(0);
      expect(next?.notice.title).toBe('next ([no sender])');
    },
    90_000,
  );
});
