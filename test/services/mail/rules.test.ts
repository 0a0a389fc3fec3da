import * as texts from '#messages/mail-texts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { MailDetail, SpooledMail } from '../../../services/contracts/mail/api.ts';
import { control } from '../../../services/control/index.ts';
import { matchesAnywhere, matches } from '../../../services/mail/domain/pattern.ts';
import { fillTemplate } from '../../../services/mail/domain/template.ts';
import { mail } from '../../../services/mail/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { submit } from './support.ts';

let host: TestHost;
let offers: Offers;

beforeEach(async () => {
  const probe = createProbe(['notices', 'push', 'inbox']);
  offers = probe.offers;
  host = await openTestHost({ services: [probe.descriptor, mail, control] });
});
afterEach(() => host[Symbol.asyncDispose]());

const configure = (settings: unknown): Promise<unknown> =>
  api(host.url('control'), '/api/settings/mail', { method: 'PATCH', body: JSON.stringify(settings) });
const sendMail = (to: string, source: string): Promise<string> => submit(host.port('mail'), [to], source);
const picture = Buffer.from('iVBORw0KGgo=', 'base64');
const withPicture = [
  'From: cam@door\r\nSubject: Door\r\nContent-Type: multipart/mixed; boundary=b\r\n',
  '--b\r\nContent-Type: text/plain\r\n\r\nsee',
  '--b\r\nContent-Type: text/csv; name=log.csv\r\n\r\na,b',
  `--b\r\nContent-Type: image/png; name=door.png\r\nContent-Transfer-Encoding: base64\r\n\r\n${picture.toString('base64')}`,
  '--b--\r\n',
].join('\r\n');

describe('mail targets', () => {
  it('lists keys, topics, the inbox and destinations, without revealing secrets', async () => {
    await configure({
      recipients: [
        { address: 'all', to: 'notify://house?tag=a push://door inbox://', destinations: 'json://me:s3cr3t@host/hook' },
      ],
    });
    await vi.waitFor(async () => expect(await sendMail('all.warning@x', withPicture)).toMatch(/^250 /));
    await vi.waitFor(() => expect([offers.notices.size, offers.push.size, offers.inbox.size]).toEqual([2, 1, 1]));
    const [byKey, byUrl] = [...offers.notices.values()].sort((a, b) => (a.urls?.length ?? 0) - (b.urls?.length ?? 0));
    expect(byKey).toMatchObject({ configuration: 'house', tag: 'a', notice: { type: 'warning' } });
    expect(byKey?.files?.map(({ name, type }) => [name, type])).toEqual([
      ['log.csv', 'text/csv'],
      ['door.png', 'image/png'],
    ]);
    expect(Buffer.from(byKey?.files?.[1]?.bytes ?? []).equals(picture)).toBe(true);
    expect(byUrl?.urls).toEqual(['json://me:s3cr3t@host/hook']);
    // A push message has one file: the image is attached, the other file is named.
    const [pushed] = [...offers.push.values()];
    expect(pushed).toMatchObject({ topic: 'door', priority: 4, message: 'see\n\n[attachment: log.csv]' });
    expect(pushed?.file?.name).toBe('door.png');
    expect([...offers.inbox.values()]).toMatchObject([{ title: 'Door (cam@door)', priority: 4, source: 'mail' }]);

    const { messages } = await api<{ messages: SpooledMail[] }>(host.url('control'), '/api/mail/messages');
    const detail = await api<MailDetail>(host.url('control'), `/api/mail/messages/${messages[0]?.id ?? ''}`);
    expect(detail.deliveries.map(({ target }) => target.replace(/#.*/, ''))).toEqual([
      ...['notify://house?tag=a', 'push://door', 'inbox://', 'json://…'],
    ]);
    const settings = await api(host.url('control'), '/api/settings');
    expect([JSON.stringify([messages, detail, settings]), host.log.join('\n')].join()).not.toContain('s3cr3t');
  });

  it("uses the recipient's templates and escapes the sender's markup", async () => {
    await configure({
      recipients: [
        {
          address: 'plain',
          to: 'notify://a',
          title: '[$type] $subject',
          body: '$from to $to by ${config}: $body $$5 $no',
        },
        { address: 'mark', to: 'push://b', format: 'markdown' },
        { address: 'web', to: 'notify://c', format: 'html', body: '<b>$subject</b> $body' },
      ],
    });
    const source = 'From: <a@b>\r\nSubject: 1 < 2\r\n\r\n*x* & <y>\r\n';
    await vi.waitFor(async () => expect(await sendMail('plain.failure@X', source)).toMatch(/^250 /));
    for (const to of ['mark@x', 'web@x']) expect(await sendMail(to, source)).toMatch(/^250 /);
    await vi.waitFor(() => expect([offers.notices.size, offers.push.size]).toEqual([2, 1]));
    const [first, second] = [...offers.notices.values()].sort((a, b) => (a.configuration < b.configuration ? -1 : 1));
    expect(first?.notice).toMatchObject({
      title: '[failure] 1 < 2',
      body: '<a@b> to plain@x by plain: *x* & <y> $5 $no',
      format: 'text',
    });
    expect(second?.notice).toMatchObject({ body: '<b>1 &lt; 2</b> *x* &amp; &lt;y&gt;', format: 'html' });
    expect([...offers.push.values()]).toMatchObject([{ message: '*x* & <y>', markdown: true }]);
  });
});

describe('mail rules', () => {
  it('drops, changes and redirects mails by sender and subject; the first match applies', async () => {
    await configure({
      recipients: [{ address: 'alerts', to: 'notify://aggregator push://all' }],
      rules: [
        { from: 'noisy@*', drop: true },
        { subject: 'grün', type: 'success', priority: 5, tag: 'garden' },
        { subject: 'grün', type: 'failure' },
        { to: 'alerts.warning@*', goesTo: 'inbox://' },
      ],
    });
    await vi.waitFor(async () =>
      expect(await sendMail('alerts@x', 'From: noisy@x\r\nSubject: dropped\r\n\r\nx')).toMatch(/^250 /),
    );
    await sendMail('alerts@x', 'From: a@x\r\nSubject: =?utf-8?q?Alles_GR=C3=9CN?=\r\n\r\nx');
    await sendMail('alerts.warning@x', 'From: a@x\r\nSubject: elsewhere\r\n\r\nx');
    await vi.waitFor(() => expect([offers.notices.size, offers.push.size, offers.inbox.size]).toEqual([1, 1, 1]));
    expect([...offers.notices.values()]).toMatchObject([{ tag: 'garden', notice: { type: 'success' } }]);
    expect([...offers.push.values()]).toMatchObject([{ topic: 'all', priority: 5 }]);
    expect([...offers.inbox.values()]).toMatchObject([{ title: 'elsewhere (a@x)' }]);
    const { messages } = await api<{ messages: SpooledMail[] }>(host.url('control'), '/api/mail/messages');
    expect(messages.filter(({ note }) => note !== '')).toMatchObject([
      { subject: 'dropped', state: 'dropped', note: texts.droppedByRule({ number: '1' }) },
    ]);
  });

  it('are not slowed down by an endless subject', async () => {
    await configure({
      recipients: [{ address: 'alerts', to: 'inbox://' }],
      rules: Array.from({ length: 200 }, (_, index) => ({
        subject: `*${'a'.repeat(180)}${String(index)}*`,
        drop: true,
      })),
    });
    const subject = Array.from({ length: 250 }, () => ` ${'a'.repeat(900)}`).join('\r\n');
    expect(await sendMail('alerts@x', `From: a@x\r\nSubject:${subject}\r\n\r\nx`)).toMatch(/^250 /);
  });

  it('reports the invalid field of rules and recipients', async () => {
    await expect(configure({ rules: [{ goesTo: 'nowhere' }] })).rejects.toThrow(/rules\.0\.goesTo.*notify:/);
    await expect(configure({ recipients: [{ address: 'a', to: '' }] })).rejects.toThrow(/recipients\.0/);
    await expect(configure({ recipients: [{ address: 'a', to: 'no' }] })).rejects.toThrow(/recipients\.0\.to.*notify:/);
    const bad = configure({ recipients: [{ address: 'a', destinations: 's3cr3t word' }] });
    await expect(bad).rejects.toThrow(/recipients\.0\.destinations/);
    await expect(bad).rejects.not.toThrow(/s3cr3t/);
  });
});

describe('pattern', () => {
  it.each([
    ['cam[0-9]', 'cam7', true],
    ['cam[0-9]', 'camx', false],
    ['[!a]x', 'bx', true],
    ['[!a]x', 'ax', false],
    ['a[', 'a[', true],
    ['*[xyz]?', 'aaay1', true],
  ])('matches %s with %s: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it('matches a pattern without wildcards anywhere, ignoring case', () => {
    expect([
      matchesAnywhere('DISK', 'the disk is full'),
      matchesAnywhere('disk*', 'the disk'),
      matchesAnywhere('', 'x'),
    ]).toEqual([true, false, true]);
  });
});

it('keeps unknown variables of a template', () => {
  const values = { subject: '$body', from: 'f', body: 'b', to: 't', config: 'c', type: 'info' };
  expect(fillTemplate('$subject ${from}x $$type $Subject ${nope} $', values)).toBe('$body fx $type $Subject ${nope} $');
});
