import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { describe, expect, it } from 'vitest';
import { createFetch } from '../../../../main/host/fetch/fetch.ts';
import { openProvider, sendTo, type ProviderResponse } from './provider-server.ts';

async function failing(url: string, answer: ProviderResponse | undefined) {
  await using provider = await openProvider();
  provider.answer = () => answer;
  const [result] = await sendTo(url, { title: 'T', body: 'x' }, provider.outlets);
  return { result, asked: provider.requests.length };
}

/** URL of each kind that uses HTTP, with a secret that no result may contain. */
const urls = [
  'json://user:s3cretword@host/hook',
  'gotify://host/s3cretword',
  'discord://1234/s3cretword',
  'slack://T1/B2/s3cretword',
  'slack://xoxb-s3cretword/#general',
  'tgram://123456789:s3cretword/-100',
  'pover://user@s3cretword',
  'matrix://user:s3cretword@host/#room',
  'mmost://host/s3cretword',
  'rocket://user:s3cretword@host/#chan',
  'workflow://host/id/s3cretword',
  'gchat://space/key/s3cretword',
  'hassio://host/s3cretword',
  'signal://u:s3cretword@host/+4912345678',
  'bark://host/s3cretword',
  'pbul://s3cretword',
  'pagerduty://key@s3cretword',
  'zulip://bot@org/s3cretword/general',
  'nctalk://user:s3cretword@host/room',
  'twilio://AC1:s3cretword@15551234567/15557654321',
] as const;

describe.each(urls)('%s', (url) => {
  it.each([
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [408, true],
    [413, false],
    [429, true],
    [500, true],
    [503, true],
  ])('is retried after status %i: %s', async (status, retryable) => {
    const [secret = ''] = /(xoxb-)?s3cretword/.exec(url) ?? [];
    const body = { ok: false, message: `no ${secret} here`, error: secret };
    const { result, asked: requests } = await failing(url, { status, body });
    expect(result).toMatchObject({ ok: false, retryable, status });
    expect(requests).toBe(1);
    expect(result?.detail).toContain(`error=${status}`);
    expect(JSON.stringify(result)).not.toContain('s3cretword');
  });
});

describe('a service that requests a delay', () => {
  it.each([
    ['by the standard header', { 'retry-after': '7' }, {}, 7000],
    [
      'by a date',
      { 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' },
      {},
      30_000,
    ],
    ['in the header of Discord', { 'x-ratelimit-reset-after': '1.5' }, {}, 1500],
    ['in the answer of Discord', {}, { message: 'slow down', retry_after: 2.25 }, 2250],
    ['in the answer of Telegram', {}, { ok: false, parameters: { retry_after: 35 } }, 35_000],
    ['in the answer of Matrix', {}, { errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 2000 }, 2000],
  ])('waits for the delay that %s requests', async (_case, headers, body, retryAfterMs) => {
    const { result } = await failing('discord://1/t', { status: 429, headers, body });
    expect(result).toMatchObject({ ok: false, retryable: true, retryAfterMs });
  });
});

describe('a refusal with status 200', () => {
  it.each([
    ['slack://xoxb-abc/#x', { ok: false, error: 'channel_not_found' }, false],
    ['slack://xoxb-abc/#x', { ok: false, error: 'ratelimited' }, true],
    ['synology://host/token', { success: false, error: { code: 404 } }, false],
    ['synology://host/token', { success: false, error: { code: 411 } }, true],
    ['kodi://host', { error: { message: 'Method not found' } }, false],
    ['join://key/device', { success: false, errorMessage: 'No such device' }, false],
    ['psafer://key', { status: 0, error: 'Private key does not exist' }, false],
    ['spush://key', { status: 'BadRequest', message: 'unknown key' }, false],
    ['splunk://route@key', { result: 'failure', messages: ['no such key'] }, false],
    ['rocket://a/b@host/#x', { success: false, error: 'invalid-channel' }, false],
    [
      'rocket://u:p@host/#x',
      { success: false, error: 'invalid-channel', data: { authToken: 'a', userId: 'u' } },
      false,
    ],
    ['bark://host/key', { code: 400, message: 'failed to get device token' }, false],
    ['bark://host/key', { code: 500, message: 'push failed: BadGateway' }, true],
    ['feishu://token', { code: 19_024, msg: 'Key Words Not Found' }, false],
    ['feishu://token', { code: 11_232, msg: 'frequency limited' }, true],
    ['lark://token', { code: 9499, msg: 'too many request' }, true],
    ['dingtalk://token', { errcode: 310_000, errmsg: 'sign not match' }, false],
    ['dingtalk://token', { errcode: 130_101, errmsg: 'send too fast' }, true],
    ['wecombot://key', { errcode: 93_000, errmsg: 'invalid webhook url' }, false],
    ['wecombot://key', { errcode: 45_009, errmsg: 'api freq out of limit' }, true],
    ['msteams://team/a@b/b/c', 'Webhook message delivery failed with error: returned HTTP error 429', true],
    ['msteams://team/a@b/b/c', 'Webhook message delivery failed with error: returned HTTP error 404', false],
    ['matrix://token@host', { joined_rooms: [] }, false],
  ])('is reported, and retried if it is temporary: %s', async (url, body, retryable) => {
    const { result } = await failing(url, { body });
    expect(result).toMatchObject({ ok: false, retryable });
  });
});

describe('another aggregator', () => {
  it.each([
    ['apprise://host/home', 204, 'there is no such key'],
    ['apprise://host/home?method=json', 202, 'status 202'],
  ])('detects failures with a success status: %s', async (url, status, reason) => {
    const { result } = await failing(url, { status, ...(status === 204 ? { body: '' } : {}) });
    expect(result).toMatchObject({ ok: false, retryable: false });
    expect(result?.detail).toContain(reason);
  });
});

describe('a session', () => {
  it.each([
    ['matrix://user:password@host/#room', '/send/', { access_token: 'tok', room_id: '!room:hs' }],
    ['rocket://user:password@host/#chan', '/chat.postMessage', { data: { authToken: 'tok', userId: 'u' } }],
  ])('is ended after success and failure, without an effect on the result: %s', async (url, sending, body) => {
    await using provider = await openProvider();
    for (const [broken, ok] of [
      [sending, false],
      ['/logout', true],
    ] as const) {
      provider.requests.length = 0;
      provider.answer = (request) => (request.url.includes(broken) ? { status: 404 } : { body });
      expect(await sendTo(url, { body: 'x' }, provider.outlets)).toMatchObject([{ ok }]);
      expect(provider.requests.at(-1)?.url).toMatch(/\/logout$/);
    }
  });
});

describe('a failing connection', () => {
  it('is retried without a response', async () => {
    const { result } = await failing('json://host/?rto=0.2&cto=0.1', undefined);
    expect(result).toMatchObject({ ok: false, retryable: true });
  });

  it('is not retried after an endless response, because the message may have been shown', async () => {
    const { result } = await failing('json://host/', { body: Buffer.alloc(3 * 1024 * 1024, 0x20) });
    expect(result).toMatchObject({ ok: false, retryable: false });
  });

  it('sends nothing to an untrusted certificate', async () => {
    // The package contains an expired self-signed certificate; the protocol behind it does not matter here.
    const server = new SMTPServer({ secure: true, disableReverseLookup: true });
    let connectionCount = 0;
    server.on('error', () => undefined);
    server.on('connect', () => (connectionCount += 1));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.server.address() as AddressInfo;
    await using provider = await openProvider();
    const quiet = () => undefined;
    await using fetch = createFetch({ log: { debug: quiet, info: quiet, warn: quiet, error: quiet } });
    const outlets = { ...provider.outlets, fetch };
    const [result] = await sendTo(`jsons://127.0.0.1:${port}/s3cretword`, { body: 'x' }, outlets);
    await new Promise<void>((resolve) => server.close(resolve));
    expect(result).toMatchObject({ ok: false, retryable: true, lastAttempt: 2 });
    expect(result?.detail).toContain('isn’t trusted: it has expired');
    expect(result?.detail).not.toContain('s3cretword');
    expect(connectionCount).toBe(0);
  });
});
