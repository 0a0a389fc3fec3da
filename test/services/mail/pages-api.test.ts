import * as problems from '#messages/mail-problems';
import * as texts from '#messages/mail-texts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MailCheck, MailDetail, SpooledMail } from '../../../services/contracts/mail/api.ts';
import { mailActivity } from '../../../services/contracts/mail/api.ts';
import { control } from '../../../services/control/index.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { toLocalDay } from '../../../services/kit/local-days.ts';
import { mail } from '../../../services/mail/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { SmtpDialogue } from '../../support/smtp.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { readSources, openMailDatabase, submit } from './support.ts';

describe('mail app API', () => {
  let host: TestHost;
  let offers: Offers;
  beforeEach(async () => {
    const probe = createProbe(['notices', 'push']);
    offers = probe.offers;
    host = await openTestHost({ services: [mail, control, probe.descriptor] });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const ask = <T>(path: string, method = 'GET', body?: unknown): Promise<T> =>
    api<T>(host.url('control'), path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const list = async (query = ''): Promise<readonly SpooledMail[]> =>
    (await ask<{ messages: SpooledMail[] }>(`/api/mail/messages${query}`)).messages;
  const send = async (subject: string, to = 'alerts@nas'): Promise<string> => {
    using dialogue = await SmtpDialogue.open(host.port('mail'));
    const reply = await dialogue.send(to, subject, 'Body');
    return /queued as (\w+)/.exec(reply)?.[1] ?? reply;
  };
  const setRecipients = (recipients: readonly { address: string; to: string }[]): Promise<unknown> =>
    ask('/api/settings/mail', 'PATCH', { recipients });

  it('returns the target and type of an address, or its refusal', async () => {
    await setRecipients([
      { address: 'cam?@*.lan', to: 'push://door notify://house?tag=night' },
      { address: 'alerts', to: 'notify://aggregator' },
    ]);
    const check = (address: string): Promise<MailCheck> =>
      ask(`/api/mail/check?address=${encodeURIComponent(address)}`);
    await expect
      .poll(() => check('alerts.failure@any'))
      .toEqual({
        accepted: true,
        code: 250,
        pattern: 'alerts',
        type: 'failure',
        targets: ['notify://aggregator'],
      });
    expect(await check('CAM1@garden.LAN')).toMatchObject({
      pattern: 'cam?@*.lan',
      type: 'info',
      targets: ['push://door', 'notify://house?tag=night'],
    });
    expect(await check('nobody@nas')).toEqual({ accepted: false, code: 550, pattern: null, type: null, targets: [] });
    expect(await send('refused', 'nobody@nas')).toMatch(/^550 /);
    await expect(check('two words')).rejects.toThrow(problems.addressInvalid());
  });

  /** Delivers three mails and returns their IDs. */
  async function sendThree(): Promise<string[]> {
    const ids: string[] = [];
    for (const [subject, to] of [
      ['=?utf-8?q?Gr=C3=BC=C3=9Fe?=', 'alerts@nas'],
      ['second', 'alerts@camera'],
      ['third', 'aggregator@nas'],
    ] as const)
      ids.unshift(await send(subject, to));
    await expect.poll(async () => (await list()).map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    return ids;
  }

  it('lists mails newest first in pages with their state', async () => {
    const ids = await sendThree();
    const all = await list();
    expect(all.map(({ targets }) => targets)).toEqual(all.map(() => ['notify://aggregator']));
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    expect(all.map(({ subject }) => subject).sort()).toEqual(['Grüße', 'second', 'third']);
    expect(all.map(({ receivedAt }) => receivedAt)).toEqual(
      all
        .map(({ receivedAt }) => receivedAt)
        .sort()
        .reverse(),
    );
    const paged: SpooledMail[] = [];
    for (let last: SpooledMail | undefined; paged.length < 3; last = paged.at(-1)) {
      const query = last === undefined ? '' : `&before=${String(last.receivedAt)}.${last.id}`;
      paged.push(...(await list(`?limit=1${query}`)));
    }
    expect(paged).toEqual(all);
  });

  it.each(['en', 'de', 'fr', 'es'])('sends a test mail in the language %s of its reader', async (language) => {
    await api(host.url('control'), '/api/mail/test', {
      method: 'POST',
      headers: { 'Accept-Language': language },
      body: JSON.stringify({ address: 'alerts@nas' }),
    });
    const [subject, text] = await runInLanguage({ language, locale: language }, () => [
      texts.testSubject(),
      texts.testBody(),
    ]);
    await expect.poll(async () => (await list())[0]).toMatchObject({ subject, state: 'done' });
    expect([...offers.notices.values()].at(-1)).toMatchObject({
      notice: { body: expect.stringContaining(text) as string },
    });
  });

  it('finds mails by sender, recipient and subject', async () => {
    await sendThree();
    const find = async (q: string) => (await list(`?q=${q}`)).map(({ subject }) => subject);
    expect(await find('CAMERA')).toEqual(['second']);
    expect(await find('nas@example.org')).toHaveLength(3);
    expect(await find('GRÜSSE')).toEqual([]);
    expect(await find('GRÜß')).toEqual(['Grüße']);
    expect(await find('Second')).toEqual(['second']);
    expect(await find('100%25')).toEqual([]);
    expect(await find('n_s')).toEqual([]);
  });

  it('returns the reason of a pending mail, and requires an administrator', async () => {
    await using minimalHost = await openTestHost({ services: [mail, control] });
    using dialogue = await SmtpDialogue.open(minimalHost.port('mail'));
    expect(await dialogue.send('alerts@nas', 'Waits', 'Body')).toMatch(/^250 /);
    const first = async () =>
      (await api<{ messages: SpooledMail[] }>(minimalHost.url('control'), '/api/mail/messages')).messages[0];
    const id = (await first())?.id ?? '';
    const delivery = async () =>
      (await api<MailDetail>(minimalHost.url('control'), `/api/mail/messages/${id}`)).deliveries[0];
    await expect.poll(async () => (await delivery())?.reason).not.toBe('');
    expect(await delivery()).toMatchObject({ part: 0, target: 'notify://aggregator', state: 'waiting', attempts: 1 });
    expect((await first())?.state).toBe('waiting');
    const narrowed = async (state: string): Promise<readonly string[]> =>
      (
        await api<{ messages: SpooledMail[] }>(minimalHost.url('control'), `/api/mail/messages?state=${state}`)
      ).messages.map((message) => message.id);
    expect(await narrowed('waiting')).toEqual([id]);
    expect(await narrowed('dead')).toEqual([]);
    expect(await narrowed('dropped')).toEqual([]);
    expect(await api(minimalHost.url('control'), '/api/mail/outcomes')).toMatchObject({
      days: { length: 7, 6: toLocalDay(Date.now()) },
      told: { 6: 0 },
      waiting: { 6: 1 },
      failed: { 6: 0 },
      dropped: { 6: 0 },
    });
    expect((await delivery())?.nextAt).toBeGreaterThan(0);
    expect((await fetch(`${minimalHost.url('control')}/api/mail/messages`)).status).toBe(401);
  });

  /** Recent mails with one delivery each: failed ones, then waiting, running, delivered, and ones without record. */
  const insertMails = (dead: number, waiting: number, running = 0): void => {
    using opened = openMailDatabase(host.dataDir);
    const now = String(Date.now());
    const numbers = (count: number) =>
      `with recursive n(a) as (select 1 union all select a + 1 from n where a < ${String(count)})`;
    opened.database.exec(`
      insert into messages (id, sender, recipients, size, deliveries, received_at)
        ${numbers(dead + waiting + running + 2)} select 'm' || a, 'a@b', '[]', 1, '[{"target":"inbox://"}]', ${now} from n;
      insert into jobs (kind, job_key, state, payload, attempts, created_at, run_at, lease_owner, lease_until)
        ${numbers(dead + waiting + running + 1)} select 'mail.deliver', 'm' || a || ':0',
          case when a <= ${String(dead)} then 'dead' when a <= ${String(dead + waiting)} then 'waiting'
            when a <= ${String(dead + waiting + running)} then 'running' else 'done' end,
          '{}', 1, ${now}, ${now} + 3600000,
          case when a > ${String(dead + waiting)} and a <= ${String(dead + waiting + running)} then 'another' end,
          case when a > ${String(dead + waiting)} and a <= ${String(dead + waiting + running)} then ${now} + 3600000 end
          from n`);
  };
  const listAll = async (state: string): Promise<readonly SpooledMail[]> => {
    const matches: SpooledMail[] = [];
    for (;;) {
      const last = matches.at(-1);
      const query = last === undefined ? '' : `&before=${String(last.receivedAt)}.${last.id}`;
      const page = await list(`?limit=200&state=${state}${query}`);
      if (page.length === 0) return matches;
      matches.push(...page);
    }
  };
  const outcomes = async (): Promise<readonly unknown[]> => {
    const { told: notifications, waiting, failed } = await ask<Record<string, number[]>>('/api/mail/outcomes');
    return [notifications, waiting, failed].map((days) => days?.at(-1));
  };

  it('counts the outcomes of thousands of mails', async () => {
    insertMails(6_000, 5_500);
    expect(await outcomes()).toEqual([2, 5_500, 6_000]);
  });

  it('lists all mails of an outcome, each under one only', async () => {
    insertMails(300, 5_100, 2);
    expect((await listAll('waiting')).map(({ state }) => state)).toEqual(
      Array.from({ length: 5_102 }, () => 'waiting'),
    );
    expect(await listAll('dead')).toHaveLength(300);
    expect((await listAll('done')).map(({ id, state }) => [id, state])).toEqual([['m5403', 'done']]);
    expect(await listAll('dropped')).toEqual([]);
  });

  it('counts a mail in progress as waiting', async () => {
    insertMails(1, 1, 2);
    expect(await outcomes()).toEqual([2, 3, 1]);
  });

  it('follows mails dropped in the list of failed jobs', async () => {
    insertMails(2, 1);
    expect(await outcomes()).toEqual([2, 1, 2]);
    await ask('/api/jobs/mail/1', 'DELETE');
    await expect.poll(outcomes).toEqual([3, 1, 1]);
  });

  it('returns a hostile mail as data with a limited source', async () => {
    const source = [
      'From: =?utf-8?b?4oCubW9kbmFy?= <nas@example.org>',
      'Subject: a\u202egnp.exe\u200b',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/html; charset=utf-8',
      '',
      `<script>alert(1)</script><style>*{}</style><svg onload=alert(1)></svg><p>kept\0</p>${'x'.repeat(1_000_000)}`,
      '--b',
      'Content-Type: image/png; name="../../etc/passwd"',
      'Content-Transfer-Encoding: base64',
      '',
      'AAAA',
      '--b--',
      '',
    ].join('\r\n');
    expect(await submit(host.port('mail'), ['alerts@nas'], source)).toMatch(/^250 /);
    const [row] = await list();
    const detail = await ask<MailDetail>(`/api/mail/messages/${row?.id ?? ''}`);
    expect(detail.format).toBe('html');
    expect(detail.body).toContain('kept');
    expect(detail.body.length).toBeLessThanOrEqual(512 * 1024 + 1);
    expect(detail.attachments).toEqual([{ name: '../../etc/passwd', type: 'image/png', size: 3 }]);
    expect(Buffer.byteLength(detail.source ?? '')).toBe(64 * 1024);
    expect(detail.sourceCut).toBe(true);
    expect(detail.size).toBeGreaterThan(1_000_000);
  });

  it('resends a mail with new keys to the current targets of its recipients', async () => {
    const id = await send('Again');
    await expect.poll(() => [...offers.notices.keys()]).toEqual([`mail:${id}:0`]);
    await setRecipients([{ address: 'alerts', to: 'notify://aggregator push://door' }]);
    await expect.poll(() => ask(`/api/mail/messages/${id}/send`, 'POST')).toEqual({ deliveries: 2 });
    await expect.poll(() => [...offers.notices.keys()]).toEqual([`mail:${id}:0`, `mail:${id}:1`]);
    await expect.poll(() => [...offers.push.keys()]).toEqual([`mail:${id}:2`]);
    const deliveries = async () =>
      (await ask<MailDetail>(`/api/mail/messages/${id}`)).deliveries.map(({ part, target, state }) => [
        part,
        target,
        state,
      ]);
    await expect.poll(deliveries).toEqual([
      [0, 'notify://aggregator', 'done'],
      [1, 'notify://aggregator', 'done'],
      [2, 'push://door', 'done'],
    ]);
    await setRecipients([{ address: 'other', to: 'push://door' }]);
    await expect(ask(`/api/mail/messages/${id}/send`, 'POST')).rejects.toThrow(problems.noTarget());
  });

  it('deletes row and source, and responds with 410 or 404 to missing ones', async () => {
    const id = await send('Away');
    expect([...readSources(host.dataDir).keys()]).toEqual([id]);
    await ask(`/api/mail/messages/${id}`, 'DELETE');
    expect([...readSources(host.dataDir).keys()]).toEqual([]);
    expect(await list()).toEqual([]);
    await expect(ask(`/api/mail/messages/${id}`)).rejects.toThrow('404');
    await expect(ask('/api/mail/messages/..%2F..%2Fdb/send', 'POST')).rejects.toThrow('404');
  });

  it('keeps a row without source, and reports why it cannot be read', async () => {
    const id = await send('Lost');
    await expect.poll(() => offers.notices.size).toBe(1);
    using opened = openMailDatabase(host.dataDir);
    opened.database.exec('delete from sources');
    expect((await list())[0]).toMatchObject({ id, subject: 'Lost' });
    expect(await ask(`/api/mail/messages/${id}`)).toMatchObject({ source: null, body: '' });
    await expect(ask(`/api/mail/messages/${id}/source`)).rejects.toThrow('410');
    await expect(ask(`/api/mail/messages/${id}/send`, 'POST')).rejects.toThrow('410');
  });

  it('notifies pages at a limited rate', async () => {
    let notifications = 0;
    using _listening = offers.context?.bus.subscribe(mailActivity, () => (notifications += 1));
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(`Mail ${String(index)}`)));
    await expect.poll(() => notifications).toBeGreaterThan(0);
    expect(notifications).toBeLessThan(20);
  });
});
