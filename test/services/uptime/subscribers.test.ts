import * as problems from '#messages/uptime-problems';
import * as texts from '#messages/uptime-texts';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { push } from '../../../services/push/index.ts';
import { uptime } from '../../../services/uptime/index.ts';
import { createFakeClock } from '../../support/clock.ts';
import { openMailServer } from '../../support/mail-server.ts';
import { openUptime, type UptimeRig } from './rig.ts';

type MailServer = Awaited<ReturnType<typeof openMailServer>>;
let mail: MailServer;
let rig: UptimeRig;
beforeAll(async () => {
  mail = await openMailServer();
  const subscriberMail = `mailto://127.0.0.1:${String(mail.port)}?from=status@example.org&to=everybody@example.org&mode=insecure`;
  rig = await openUptime({
    services: [uptime, push, notify, inbox, control],
    environment: { UPTIME_SUBSCRIBER_MAIL: subscriberMail },
  });
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

async function addPage(slug: string, overrides: object = {}): Promise<number> {
  const job = await rig.add({ type: 'manual', name: `job of ${slug}`, manual_status: 1, interval: 3600 });
  await rig.call('POST', '/api/status-pages', { slug, title: `Page ${slug}` });
  await rig.call('PUT', `/api/status-pages/${slug}`, {
    subscribable: true,
    publicGroupList: [{ name: 'All', monitorList: [{ id: job.id }] }],
    ...overrides,
  });
  await rig.until(job.id, 1);
  return job.id;
}

/** Submits a form as a browser does, from a loopback address. */
function post(
  path: string,
  fields: Record<string, string> = {},
  from = '127.0.0.1',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const sent = request(new URL(path, rig.url), { method: 'POST', headers, localAddress: from }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(new URLSearchParams(fields).toString());
  });
}

/** Waits for the mail to an address with a subject and returns its text. */
function mailTo(address: string, subject: string): Promise<string> {
  return vi.waitUntil(() => {
    const sentMail = mail.taken.find(
      ({ to, source }) => to.includes(address) && source.toString().includes(`Subject: ${subject}`),
    );
    return sentMail?.source.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
  }, 60_000);
}

function linkIn(text: string, what: 'confirm' | 'unsubscribe'): string {
  const [link = ''] = new RegExp(`http://\\S+/${what}\\?of=\\d+\\.\\w{32}`).exec(text) ?? [];
  return link;
}

it('subscribes after the confirmation and unsubscribes by the link of a mail', async () => {
  const job = await addPage('shop', { pushTopic: 'status-shop' });
  const html = await (await fetch(`${rig.url}/status/shop`)).text();
  expect(html).toContain('<form method="post" action="/status/shop/subscribe">');
  expect(html).toContain(`<a href="${rig.host.url('push')}/status-shop"`);
  const response = await post('/status/shop/subscribe', { email: ' Ada@Example.com ' });
  expect([response.status, response.text]).toEqual([200, expect.stringContaining(texts.checkMailbox())]);
  const confirmation = await mailTo('Ada@example.com', texts.mailConfirmSubject({ page: 'Page shop' }));
  const link = linkIn(confirmation, 'confirm');
  // No mail is sent before, and opening the link changes nothing.
  await rig.call('PATCH', `/api/monitors/${String(job)}`, { manual_status: 0 });
  await rig.events('down', job);
  const question = await fetch(link);
  expect([question.status, question.headers.get('referrer-policy'), await question.text()]).toEqual([
    200,
    'no-referrer',
    expect.stringContaining(texts.confirmButton()),
  ]);
  expect(await rig.call('GET', '/api/status-pages/shop/subscribers')).toEqual({
    mail: true,
    items: [{ id: 1, address: 'Ada@example.com', confirmed: false, createdAt: expect.any(Number) }],
  });
  expect((await post(link)).text).toContain(texts.subscribed());
  await rig.call('PATCH', `/api/monitors/${String(job)}`, { manual_status: 1 });
  const subscriberMail = await mailTo('Ada@example.com', 'Page shop: job of shop is up again');
  expect(mail.taken.filter(({ to }) => to.includes('Ada@example.com')).map(({ to }) => to)).toEqual([
    ['Ada@example.com'],
    ['Ada@example.com'],
  ]);
  expect(subscriberMail).toContain(`${rig.url}/status/shop`);
  expect((await post(linkIn(subscriberMail, 'unsubscribe'))).text).toContain(texts.unsubscribed());
  expect(await rig.call('GET', '/api/status-pages/shop/subscribers')).toMatchObject({ items: [] });
  expect((await post(linkIn(subscriberMail, 'unsubscribe'))).status).toBe(404);
  await rig.call('POST', '/api/status-pages/shop/incidents', { title: 'Later', content: 'x' });
  await vi.waitUntil(async () => (await (await fetch(`${rig.url}/status/shop`)).text()).includes('Later'));
  expect(mail.taken.filter(({ source }) => source.toString().includes('Later'))).toEqual([]);
});

it('limits mail to strangers and reveals no subscribers', async () => {
  await addPage('many');
  const sendRequest = (email: string, from: string) => post('/status/many/subscribe', { email }, from);
  const first = await sendRequest('bob@example.com', '127.0.0.2');
  await mailTo('bob@example.com', texts.mailConfirmSubject({ page: 'Page many' }));
  // A repeated request, also by other visitors, gets the same response without another mail.
  for (const from of ['127.0.0.3', '127.0.0.4']) expect(await sendRequest('bob@example.com', from)).toEqual(first);
  const answers = [];
  for (let time = 0; time < 6; time += 1)
    answers.push((await sendRequest(`x${String(time)}@example.com`, '127.0.0.5')).status);
  expect(answers).toEqual([200, 200, 200, 200, 200, 429]);
  await mailTo('x4@example.com', 'Confirm');
  expect(mail.taken.filter(({ to }) => to.includes('bob@example.com'))).toHaveLength(1);
  for (const bad of ['', 'x', 'a@b\r\nBcc: c@d.com', '<script>@x.com']) {
    const reply = await sendRequest(bad, '127.0.0.6');
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(problems.mailAddressInvalid())]);
  }
  const wrong = `1.${'a'.repeat(32)}`;
  for (const link of [wrong, '1', '', '99.x']) expect((await post(`/status/many/confirm?of=${link}`)).status).toBe(404);
  // The link is valid only for its page, and a deleted page has no subscribers.
  await addPage('closed', { subscribable: false });
  expect((await post('/status/closed/subscribe', { email: 'a@example.com' }, '127.0.0.7')).status).toBe(404);
  expect(await (await fetch(`${rig.url}/status/closed`)).text()).not.toContain('<form');
  const page = await (await fetch(`${rig.url}/api/status-page/many`)).text();
  expect(page + rig.host.log.join()).not.toMatch(/@example\.com/);
});

it('removes unconfirmed subscribers after two days', async () => {
  const clock = createFakeClock();
  await using mailRig = await openUptime({
    clock,
    environment: { UPTIME_SUBSCRIBER_MAIL: 'mailto://127.0.0.1:1?from=a@example.org' },
  });
  await mailRig.call('POST', '/api/status-pages', { slug: 'old', title: 'Old' });
  await mailRig.call('PUT', '/api/status-pages/old', { subscribable: true });
  const body = new URLSearchParams({ email: 'late@example.com' });
  expect((await fetch(`${mailRig.url}/status/old/subscribe`, { method: 'POST', body })).status).toBe(200);
  const list = async () => (await mailRig.call<{ items: object[] }>('GET', '/api/status-pages/old/subscribers')).items;
  clock.advance(47 * 3_600_000);
  expect(await list()).toHaveLength(1);
  clock.advance(3 * 3_600_000);
  await vi.waitUntil(async () => (await list()).length === 0);
});

it('links mails to the address at which the visitor subscribed', async () => {
  const job = await addPage('seen');
  const otherOrigin = rig.url.replace('127.0.0.1', 'localhost');
  const body = new URLSearchParams({ email: 'eve@example.com' });
  expect((await fetch(`${otherOrigin}/status/seen/subscribe`, { method: 'POST', body })).status).toBe(200);
  expect(
    (await post(linkIn(await mailTo('eve@example.com', texts.mailConfirmSubject({ page: 'Page seen' })), 'confirm')))
      .status,
  ).toBe(200);
  await rig.call('PATCH', `/api/monitors/${String(job)}`, { manual_status: 0 });
  const subscriberMail = await mailTo('eve@example.com', 'Page seen: job of seen is down');
  expect(linkIn(subscriberMail, 'unsubscribe')).toContain(`${otherOrigin}/status/seen/unsubscribe?of=`);
});
