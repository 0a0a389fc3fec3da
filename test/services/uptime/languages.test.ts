import * as causes from '#messages/uptime-causes';
import * as texts from '#messages/uptime-texts';
import { beforeAll, expect, it, vi } from 'vitest';
import { withLanguage } from '../../../messages/language.ts';
import { loadLanguage } from '../../../messages/runtime.ts';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { push } from '../../../services/push/index.ts';
import { uptime } from '../../../services/uptime/index.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openMailServer } from '../../support/mail-server.ts';
import { openUptime, type UptimeRig } from './rig.ts';

const hostLanguage = 'fr';

beforeAll(async () => {
  await loadLanguage('de');
  await loadLanguage('fr');
});

/** Opens a French host with a status page that sends mail and push messages. */
async function openFrenchHost(mailPort: number): Promise<UptimeRig> {
  const subscriberMail = `mailto://127.0.0.1:${String(mailPort)}?from=status@example.org&mode=insecure`;
  const rig = await openUptime({
    services: [uptime, push, notify, inbox, control],
    environment: { UPTIME_SUBSCRIBER_MAIL: subscriberMail, HOMEPORT_LANGUAGE: hostLanguage },
  });
  await rig.call('POST', '/api/status-pages', { slug: 'shop', title: 'Shop' });
  await rig.call('PUT', '/api/status-pages/shop', { subscribable: true, pushTopic: 'shop', publicGroupList: [] });
  return rig;
}

/** Calls the app API as a German page does. */
async function callFromGermanPage(rig: UptimeRig, path: string, body: object): Promise<void> {
  const response = await fetch(`${rig.host.url('control')}${path}`, {
    method: 'POST',
    headers: { authorization: adminAuthorization, 'accept-language': 'de', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBe(200);
}

it('sends the confirmation of a subscription in the language of the visitor, with its link', async () => {
  await using mail = await openMailServer();
  await using rig = await openFrenchHost(mail.port);
  const response = await fetch(`${rig.url}/status/shop/subscribe`, {
    method: 'POST',
    headers: { 'accept-language': 'de', 'content-type': 'application/x-www-form-urlencoded' },
    body: 'email=ada%40example.com',
  });
  expect(await response.text()).toContain(withLanguage('de', texts.checkMailbox));
  const sent = await vi.waitUntil(() => mail.taken[0], 60_000);
  const source = decodeQuotedPrintable(sent.source.toString());
  const [linkLabel = ''] = withLanguage('de', () => texts.mailConfirmLink({ url: '|' })).split('|');
  expect(source).toContain(withLanguage('de', () => texts.mailConfirmBody({ page: 'Shop' })).slice(0, 30));
  expect(source).toContain(linkLabel.trim());
});

it('announces a note of a German page to followers in the language of the host', async () => {
  await using mail = await openMailServer();
  await using rig = await openFrenchHost(mail.port);
  await callFromGermanPage(rig, '/api/uptime/status-pages/shop/incidents', { title: 'Disk', content: 'Text' });
  const message = await vi.waitUntil(async () => {
    const reply = await fetch(`${rig.host.url('push')}/shop/json?poll=1`, {
      headers: { authorization: adminAuthorization },
    });
    return (await reply.text()).split('\n').find((line) => line.includes('"title"'));
  }, 60_000);
  const expected = withLanguage(hostLanguage, () => texts.newsSubject({ page: 'Shop', text: 'Disk' }));
  expect(expected).not.toBe(withLanguage('de', () => texts.newsSubject({ page: 'Shop', text: 'Disk' })));
  expect(JSON.parse(message)).toMatchObject({ title: expected });
});

it('describes the failure of a check that a German page requested in the language of the host', async () => {
  await using rig = await openUptime({ environment: { HOMEPORT_LANGUAGE: hostLanguage } });
  const { id } = await rig.add({
    ...{ type: 'http', name: 'Cloud', url: 'http://169.254.169.254/', interval: 3600 },
  });
  await callFromGermanPage(rig, `/api/uptime/monitors/${String(id)}/check`, {});
  const [event] = await rig.events('down', id);
  const explain = (): string => causes.linkLocalRefused({ address: '169.254.169.254' });
  expect(event?.title).toBe(withLanguage(hostLanguage, () => texts.eventDown({ name: 'Cloud' })));
  expect(event?.body).toContain(withLanguage(hostLanguage, explain));
  expect(event?.event['msg']).toContain('169.254.169.254 is a link-local or cloud metadata address');
});

function decodeQuotedPrintable(source: string): string {
  const bytes = source
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
