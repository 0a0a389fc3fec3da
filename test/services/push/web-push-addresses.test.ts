import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHome } from '../../support/gateway/phone.ts';
import { createFakeClock } from '../../support/clock.ts';
import { newBrowser, openPushService } from './push-service.ts';
import { adminAuthorization } from '../../support/host.ts';
import { admin, openRig, type Rig } from './rig.ts';

let service: Awaited<ReturnType<typeof openPushService>>;
beforeEach(async () => {
  service = await openPushService();
});
afterEach(() => service[Symbol.asyncDispose]());

const environment = (): Record<string, string> => ({ PUSH_WEB_PUSH_HOSTS: service.origin });
const json = (authorization: string): Record<string, string> => ({ authorization, 'content-type': 'application/json' });

/** Publishes a file, and a message whose links lead to this server and elsewhere. */
async function publishLinks(base: string, authorization = admin): Promise<void> {
  const put = await fetch(`${base}/door`, {
    method: 'PUT',
    headers: { authorization, filename: 'a.txt' },
    body: 'a file',
  });
  expect(put.status).toBe(200);
  const post = await fetch(`${base}/`, {
    method: 'POST',
    headers: json(authorization),
    body: JSON.stringify({
      ...{ topic: 'door', message: 'links', click: `${base}/file/x.txt`, icon: `${base}/static/icon.png` },
      actions: [
        { action: 'view', label: 'Open', url: `${base}/door` },
        { action: 'view', label: 'Elsewhere', url: 'https://example.com/door' },
      ],
    }),
  });
  expect(post.status).toBe(200);
}

/** Returns all addresses of the two received messages. */
async function receivedAddresses(browser: ReturnType<typeof newBrowser>): Promise<readonly string[]> {
  await expect.poll(() => service.received.length).toBe(2);
  const messages = service.received.map((entry) => browser.open(entry).message);
  return messages
    .flatMap(({ attachment, click, icon, actions = [] }) => [
      ...[attachment?.url, click, icon],
      ...actions.map(({ url }: { readonly url: string }) => url),
    ])
    .filter((url) => url !== undefined);
}

describe('addresses in web push payloads', () => {
  let rig: Rig | undefined;
  afterEach(() => rig?.[Symbol.asyncDispose]());
  const subscribe = async (browser: ReturnType<typeof newBrowser>, headers: Record<string, string>): Promise<void> => {
    const body = JSON.stringify({ endpoint: browser.endpoint, ...browser.keys, topics: ['door'] });
    const response = await rig?.ask('POST', '/v1/webpush', { authorization: admin, ...headers }, body);
    expect(response?.text).toContain('true');
  };

  it('leads to the address at which the browser subscribed', async () => {
    rig = await openRig({ environment: environment() });
    const browser = newBrowser(service.origin);
    await subscribe(browser, { origin: 'https://home.example' });
    await publishLinks(rig.host.url('push'));
    const [file, ...links] = await receivedAddresses(browser);
    expect(file).toMatch(/^https:\/\/home\.example\/file\/\w+\.txt$/);
    expect(links).toEqual([
      'https://home.example/file/x.txt',
      'https://home.example/static/icon.png',
      'https://home.example/door',
      'https://example.com/door',
    ]);
  });

  it('keeps the configured base address', async () => {
    rig = await openRig({ environment: { ...environment(), NTFY_BASE_URL: 'https://push.example.org' } });
    const browser = newBrowser(service.origin);
    await subscribe(browser, { origin: 'https://home.example' });
    await publishLinks(rig.host.url('push'));
    const [file, click] = await receivedAddresses(browser);
    expect(file).toMatch(/^https:\/\/push\.example\.org\/file\//);
    expect(click).toBe(`${rig.host.url('push')}/file/x.txt`);
  });

  it('leads to the same address in repetitions of urgent messages', async () => {
    const clock = createFakeClock(Date.UTC(2026, 5, 1));
    rig = await openRig({ environment: environment(), clock });
    const browser = newBrowser(service.origin);
    await subscribe(browser, { origin: 'https://home.example' });
    const rules = [{ topics: '*', mode: 'normal', quiet: [], repeatMinutes: 5 }];
    const saved = await fetch(`${rig.host.url('control')}/api/push/quiet`, {
      method: 'PUT',
      headers: json(admin),
      body: JSON.stringify({ rules, zone: 'UTC' }),
    });
    expect(saved.status).toBe(200);
    await rig.publish('/door', 'fire', { priority: '5', click: `${rig.host.url('push')}/file/x.txt` });
    await expect
      .poll(async () => (await rig?.ask('GET', '/metrics'))?.text)
      .toMatch(/push_web_push_deliveries_total\{[^}]*result="sent"[^}]*\} 1/);
    clock.advance(5 * 60_000);
    expect(await receivedAddresses(browser)).toEqual(Array(2).fill('https://home.example/file/x.txt'));
  });
});

describe('addresses in web push payloads of the page of the app', () => {
  it.each([
    [['control', 'push'], /^https:\/\/(?!127\.0\.0\.1|localhost)[^/]+\/(?:push\/)?file\/\w+\.txt$/],
    [['control'], /^http:\/\/127\.0\.0\.1:\d+\/file\/\w+\.txt$/],
  ])('leads to the shared address when %j is shared', async (shared, expected) => {
    await using home = await openHome({ environment: environment(), settings: { shared } });
    const browser = newBrowser(service.origin);
    const subscribed = await fetch(`${home.host.url('control')}/api/push/browsers`, {
      method: 'PUT',
      headers: json(adminAuthorization),
      body: JSON.stringify({ endpoint: browser.endpoint, ...browser.keys, topics: ['door'] }),
    });
    expect(subscribed.status).toBe(200);
    await publishLinks(home.host.url('push'), adminAuthorization);
    const [file, click] = await receivedAddresses(browser);
    expect(file).toMatch(expected);
    expect(click).toBe(file?.replace(/\/file\/.*/, '/file/x.txt'));
  });
});
