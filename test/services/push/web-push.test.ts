import { createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { newBrowser, openPushService, type Received } from './push-service.ts';
import { admin, openRig, type Rig } from './rig.ts';

let service: Awaited<ReturnType<typeof openPushService>>;
let rig: Rig;
const clock = createFakeClock(Date.UTC(2026, 5, 1));
beforeEach(async () => {
  service = await openPushService();
  rig = await openRig({ environment: { PUSH_WEB_PUSH_HOSTS: `${service.origin},*.mozilla.com` } });
});
afterEach(async () => {
  await rig[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

async function requestPush(
  method: string,
  body: unknown,
  headers: Record<string, string> = { authorization: admin },
  on = rig,
) {
  const text = JSON.stringify(body);
  const response = await on.ask(
    method,
    '/v1/webpush',
    { ...headers, 'content-length': String(Buffer.byteLength(text)) },
    text,
  );
  return { status: response.status, ...JSON.parse(response.text) };
}
const subscribe = (browser: ReturnType<typeof newBrowser>, topics: string[], headers?: Record<string, string>) =>
  requestPush('POST', { endpoint: browser.endpoint, ...browser.keys, topics }, headers);
/** Number of pending deliveries. */
const countPending = async () => {
  const page = await rig.ask('GET', '/metrics');
  return page.text;
};

describe('browser with a closed page', () => {
  it('receives encrypted messages signed with its subscribed key', async () => {
    const browser = newBrowser(service.origin);
    expect(await subscribe(browser, ['news'], { authorization: admin, origin: 'https://home.example' })).toMatchObject({
      status: 200,
    });
    const message = await rig.publish('/news', 'Fünf <b>', { priority: '5', title: 'T', 'x-sequence-id': 'job' });
    await expect.poll(() => service.received.length).toBe(1);
    const [received] = service.received;
    if (received === undefined) return;
    expect(received.body.includes('Fünf')).toBe(false);
    expect(browser.open(received)).toEqual({
      event: 'message',
      subscription_id: 'https://home.example/news',
      message,
    });
    expect(received.headers).toMatchObject({ urgency: 'high', ttl: '43200', 'content-encoding': 'aes128gcm' });
    expect(received.headers['topic']).toMatch(/^[-\w]{32}$/);
    const config = JSON.parse((await rig.ask('GET', '/v1/config')).text);
    expect(getSigner(received)).toEqual({ key: config.web_push_public_key, audience: service.origin });
  });

  it('receives the display name and the silence that its account has set for the topic', async () => {
    const browser = newBrowser(service.origin);
    await subscribe(browser, ['news']);
    const reply = await fetch(`${rig.host.url('control')}/api/push/topics/news/preferences`, {
      method: 'PUT',
      headers: { authorization: admin, 'content-type': 'application/json' },
      body: JSON.stringify({ displayName: 'Harbour news', sound: 'silent' }),
    });
    expect(reply.status).toBe(200);
    await rig.publish('/news', 'tide');
    await expect.poll(() => service.received.length).toBe(1);
    const [received] = service.received;
    if (received === undefined) return;
    expect(browser.open(received)).toMatchObject({ displayName: 'Harbour news', silent: true });
    expect(received.headers).toMatchObject({ urgency: 'low' });
  });

  it('receives clear and delete events, and nothing of other topics', async () => {
    const browser = newBrowser(service.origin);
    await subscribe(browser, ['news', 'more']);
    await rig.publish('/other');
    await rig.ask('PUT', '/news/job/clear', { authorization: admin });
    await expect.poll(() => service.received.length).toBe(1);
    expect(browser.open(service.received[0] as Received).message).toMatchObject({
      event: 'message_clear',
      topic: 'news',
    });
  });

  it('receives a long message truncated to the limit of push services', async () => {
    const browser = newBrowser(service.origin);
    await subscribe(browser, ['news']);
    const actions = JSON.stringify([{ action: 'view', label: 'x'.repeat(400), url: 'https://a.example' }]);
    await rig.publish('/news', 'ä'.repeat(2000), { actions, title: 't'.repeat(200) });
    await expect.poll(() => service.received.length).toBe(1);
    expect(service.received[0]?.body.length).toBeLessThanOrEqual(4096);
    expect(browser.open(service.received[0] as Received).message.message).toMatch(/^ä{1000,}…$/);
  });

  it('is deleted when its push service returns 410, and after unsubscribing', async () => {
    const [expiredBrowser, unsubscribed] = [newBrowser(service.origin, 'gone'), newBrowser(service.origin, 'leaving')];
    await subscribe(expiredBrowser, ['news']);
    service.answers.push(410);
    await rig.publish('/news');
    await expect.poll(() => service.received.length).toBe(1);
    await expect.poll(async () => (await countPending()).includes('result="gone"} 1')).toBe(true);
    await subscribe(unsubscribed, ['news']);
    await rig.publish('/news');
    await expect.poll(() => service.received.map(({ path }) => path)).toEqual(['/gone', '/leaving']);
    expect(await requestPush('DELETE', { endpoint: unsubscribed.endpoint }, {})).toMatchObject({
      status: 200,
      success: true,
    });
    await rig.publish('/news');
    const last = newBrowser(service.origin, 'last');
    await subscribe(last, ['end']);
    await rig.publish('/end');
    await expect.poll(() => service.received.at(-1)?.path).toBe('/last');
    expect(service.received.length).toBe(3);
  });

  it('is retried while its push service fails', async () => {
    const browser = newBrowser(service.origin);
    await subscribe(browser, ['news']);
    service.answers.push(503);
    await rig.publish('/news', 'in the end');
    await expect.poll(() => service.received.length, { timeout: 15_000 }).toBe(2);
    expect(browser.open(service.received[1] as Received).message.message).toBe('in the end');
  });

  it('receives nothing after its account lost the permission to read', async () => {
    await rig.context.accounts.create({
      name: 'mia',
      password: 'correct horse',
      grants: [{ service: 'push', resource: 'n*', permission: 'read' }],
    });
    const authorization = `Basic ${Buffer.from('mia:correct horse').toString('base64')}`;
    const [adaBrowser, adminBrowser] = [newBrowser(service.origin, 'hers'), newBrowser(service.origin, 'mine')];
    expect(await subscribe(adaBrowser, ['news', 'secret'], { authorization })).toMatchObject({ code: 40301 });
    expect(await subscribe(adaBrowser, ['news'], { authorization })).toMatchObject({ status: 200 });
    await subscribe(adminBrowser, ['news']);
    await rig.context.accounts.setGrant('mia', 'push', 'n*', undefined);
    await rig.publish('/news');
    await expect.poll(() => service.received.length).toBe(1);
    expect(service.received[0]?.path).toBe('/mine');
  });

  it('is deleted when its keys are invalid', async () => {
    const browser = newBrowser(service.origin);
    await requestPush('POST', { endpoint: browser.endpoint, auth: 'a', p256dh: 'b', topics: ['news'] });
    await rig.publish('/news');
    await expect.poll(async () => (await countPending()).includes('result="gone"} 1')).toBe(true);
    expect(service.received).toEqual([]);
  });

  it('is refused for a foreign endpoint or too many topics', async () => {
    const { keys } = newBrowser('');
    const codes = async (endpoint: string, topics = ['news']) =>
      (await requestPush('POST', { endpoint, ...keys, topics })).code as number;
    for (const endpoint of [
      'https://evil.example/a',
      'http://updates.push.services.mozilla.com/a',
      'https://updates.push.services.mozilla.com:8443/a',
      'https://mozilla.com.evil.example/a',
      'https://a:b@push.mozilla.com/a',
      'http://127.0.0.1:1/a',
      'https://169.254.169.254/latest',
      'file:///etc/passwd',
      'no address',
    ]) {
      expect(await codes(endpoint), endpoint).toBe(40039);
    }
    expect(await codes(`${service.origin}/a`, Array(51).fill('t'))).toBe(40040);
    expect(await codes('')).toBe(40038);
  });
});

describe('Homeport page', () => {
  const api = async (method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${rig.host.url('control')}${path}`, {
      method,
      headers: { authorization: admin, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: await reply.json() };
  };

  it('subscribes through the app API, reads its topics, and unsubscribes', async () => {
    const browser = newBrowser(service.origin);
    const { endpoint } = browser;
    const config = JSON.parse((await rig.ask('GET', '/v1/config')).text);
    expect((await api('GET', '/api/push/browsers')).body).toEqual({ publicKey: config.web_push_public_key });
    const order = { endpoint, ...browser.keys, topics: ['b', 'a'] };
    expect((await api('PUT', '/api/push/browsers', order)).status).toBe(200);
    expect((await api('POST', '/api/push/browsers/topics', { endpoint })).body).toEqual({ topics: ['a', 'b'] });
    await rig.publish('/a', 'hello');
    await expect.poll(() => service.received.length).toBe(1);
    expect(browser.open(service.received[0] as Received)).toMatchObject({ subscription_id: '/a' });
    expect((await api('PUT', '/api/push/browsers', { ...order, topics: [] })).status).toBe(200);
    expect((await api('POST', '/api/push/browsers/topics', { endpoint })).body).toEqual({ topics: [] });
    expect((await api('PUT', '/api/push/browsers', { ...order, topics: ['a', '*'] })).status).toBe(200);
    await rig.publish('/a', 'once');
    await rig.publish('/new', 'also what is new');
    await expect.poll(() => service.received.length).toBe(3);
    const texts = service.received.slice(1).map((received) => browser.open(received).message.message);
    expect(texts.sort()).toEqual(['also what is new', 'once']);
    expect((await requestPush('POST', { ...order, topics: ['*'] })).status).toBe(400);
    const evil = await api('PUT', '/api/push/browsers', { ...order, endpoint: 'https://evil.example/' });
    expect(evil.body.error.code).toBe('push.web_push_endpoint');
  });
});

describe('web push over time', () => {
  it('keeps keys and deliveries across a restart, and warns and deletes inactive browsers', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'web-push-'));
    using _folder = { [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) };
    const environment = { PUSH_WEB_PUSH_HOSTS: service.origin };
    const browser = newBrowser(service.origin);
    const getPublicKey = async (on: Rig) =>
      JSON.parse((await on.ask('GET', '/v1/config')).text).web_push_public_key as string;
    let key: string;
    {
      await using first = await openRig({ dataDir, environment, clock });
      key = await getPublicKey(first);
      await requestPush('POST', { endpoint: browser.endpoint, ...browser.keys, topics: ['news'] }, undefined, first);
      service.answers.push(503);
      await first.publish('/news', 'kept');
      await expect.poll(() => service.received.length).toBe(1);
    }
    {
      await using second = await openRig({ dataDir, environment, clock });
      expect(await getPublicKey(second)).toBe(key);
      clock.advance(10_000);
      await expect.poll(() => service.received.length).toBe(2);
      expect(browser.open(service.received[1] as Received).message.message).toBe('kept');
    }
    const laterClock = createFakeClock(clock.now() + 56 * 24 * 3600 * 1000);
    await using third = await openRig({ dataDir, environment, clock: laterClock });
    laterClock.advance(60_000);
    await expect.poll(() => service.received.length).toBe(3);
    expect(browser.open(service.received[2] as Received)).toEqual({ event: 'subscription_expiring' });
    expect(await getPublicKey(third)).toBe(key);
  });
});

/** Returns the key that signed the request (RFC 8292) and its audience. */
function getSigner({ headers }: Received): { key: string; audience: string } {
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=([-\w]+)$/.exec(String(headers['authorization'])) ?? [];
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const right = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  const { aud } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { aud: string };
  return { key: right ? key : 'wrong signature', audience: aud };
}
