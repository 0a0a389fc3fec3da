import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { admin, openRig, type Rig } from './rig.ts';

/** No exempt address, as in ntfy. */
const strictEnvironment = { PUSH_LIMIT_ACCOUNTS: 'true', NTFY_VISITOR_REQUEST_LIMIT_EXEMPT_HOSTS: '203.0.113.0/24' };

async function collectCodes(
  rig: Rig,
  count: number,
  ask: (index: number) => ReturnType<Rig['ask']>,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const { status, text } = await ask(index);
    statuses.push(status === 200 ? 200 : Number(JSON.parse(text).code));
  }
  return statuses;
}
const headers = { authorization: admin };

describe('limits', () => {
  it('exempts this computer and accounts by default', async () => {
    await using rig = await openRig({
      environment: { NTFY_VISITOR_REQUEST_LIMIT_BURST: '2', NTFY_VISITOR_MESSAGE_DAILY_LIMIT: '1' },
    });
    expect(await collectCodes(rig, 8, () => rig.ask('POST', '/t', headers, 'm'))).toEqual(Array(8).fill(200));
    expect(await collectCodes(rig, 8, () => rig.ask('GET', '/v1/account'))).toEqual(Array(8).fill(200));
    expect(JSON.parse((await rig.ask('GET', '/v1/account', headers)).text).stats).toMatchObject({
      messages: 8,
      messages_remaining: 0,
    });
  });

  it('restricts consecutive requests and replenishes', async () => {
    const clock = createFakeClock();
    await using rig = await openRig({
      clock,
      environment: {
        ...strictEnvironment,
        NTFY_VISITOR_REQUEST_LIMIT_BURST: '5',
        NTFY_VISITOR_REQUEST_LIMIT_REPLENISH: '10s',
      },
    });
    const poll = () => rig.ask('GET', '/lim/json?poll=1', headers);
    expect(await collectCodes(rig, 6, poll)).toEqual([200, 200, 200, 200, 200, 42901]);
    const refused = await poll();
    expect(refused.headers['retry-after']).toBe('10');
    expect(JSON.parse(refused.text)).toEqual({
      code: 42901,
      http: 429,
      error: 'limit reached: too many requests',
      link: 'https://ntfy.sh/docs/publish/#limitations',
    });
    // Other senders and open paths are not restricted.
    expect((await rig.ask('GET', '/v1/account')).status).toBe(200);
    expect(await collectCodes(rig, 9, () => rig.ask('GET', '/v1/health', headers))).toEqual(Array(9).fill(200));
    clock.advance(20_000);
    expect(await collectCodes(rig, 3, poll)).toEqual([200, 200, 42901]);
  });

  it('restricts messages per day', async () => {
    const clock = createFakeClock();
    await using rig = await openRig({
      clock,
      environment: { ...strictEnvironment, NTFY_VISITOR_MESSAGE_DAILY_LIMIT: '3' },
    });
    const publish = (index: number) => rig.ask('POST', '/lim', headers, `m${index}`);
    expect(await collectCodes(rig, 4, publish)).toEqual([200, 200, 200, 42908]);
    expect(JSON.parse((await publish(4)).text).error).toBe('limit reached: daily message quota reached');
    clock.advance(24 * 60 * 60 * 1000);
    expect(await collectCodes(rig, 1, publish)).toEqual([200]);
  });

  it('restricts open streams until one is closed', async () => {
    await using rig = await openRig({ environment: { ...strictEnvironment, NTFY_VISITOR_SUBSCRIPTION_LIMIT: '2' } });
    using first = await rig.listen('/a/json');
    using _second = await rig.listen('/b/json');
    expect((await rig.listen('/c/json')).status).toBe(429);
    expect((await rig.ask('GET', '/c/json?poll=1', headers)).status).toBe(200);
    first[Symbol.dispose]();
    await expect
      .poll(async () => {
        using reopened = await rig.listen('/c/json');
        return reopened.status;
      })
      .toBe(200);
  });

  it('restricts topics in total, and new topics per sender', async () => {
    const clock = createFakeClock();
    await using rig = await openRig({
      clock,
      environment: { ...strictEnvironment, NTFY_GLOBAL_TOPIC_LIMIT: '4', PUSH_TOPIC_LIMIT_BURST: '3' },
    });
    const publish = (index: number) => rig.ask('POST', `/t${index}`, headers, 'm');
    expect(await collectCodes(rig, 4, publish)).toEqual([200, 200, 200, 42911]);
    expect((await publish(0)).status).toBe(200);
    clock.advance(60_000);
    expect((await publish(3)).status).toBe(200);
    clock.advance(60_000);
    expect(JSON.parse((await publish(4)).text).code).toBe(42904);
    expect((await rig.ask('POST', '/', headers, '{"topic":"t9","message":"m"}')).status).toBe(429);
  });

  it('uses the address seen by the proxy', async () => {
    await using rig = await openRig({
      environment: {
        NTFY_BEHIND_PROXY: 'true',
        NTFY_VISITOR_REQUEST_LIMIT_BURST: '1',
      },
    });
    await rig.context.accounts.setGrant('*', 'push', 'open', 'read-write');
    const from = (forwarded: string) => rig.ask('GET', '/open/json?poll=1', { 'x-forwarded-for': forwarded });
    expect((await from('198.51.100.7')).status).toBe(200);
    expect((await from('198.51.100.7')).status).toBe(429);
    // The forged entry precedes the one appended by the proxy.
    expect((await from('10.0.0.1, 198.51.100.7')).status).toBe(429);
    expect((await from('198.51.100.8')).status).toBe(200);
    expect((await from('2001:db8:1:2::1')).status).toBe(200);
    expect((await from('2001:db8:1:2:ffff::9')).status).toBe(429);
    expect((await from('nonsense')).status).toBe(200);
  });

  it('counts addresses of one network together when configured', async () => {
    await using rig = await openRig({
      environment: {
        NTFY_BEHIND_PROXY: 'true',
        NTFY_VISITOR_REQUEST_LIMIT_BURST: '1',
        NTFY_VISITOR_PREFIX_BITS_IPV4: '20',
        NTFY_VISITOR_PREFIX_BITS_IPV6: '56',
      },
    });
    await rig.context.accounts.setGrant('*', 'push', 'open', 'read-write');
    const from = async (forwarded: string) =>
      (await rig.ask('GET', '/open/json?poll=1', { 'x-forwarded-for': forwarded })).status;
    expect([await from('198.51.100.7'), await from('198.51.96.200'), await from('198.51.112.1')]).toEqual([
      200, 429, 200,
    ]);
    expect([await from('2001:db8:1:200::1'), await from('2001:db8:1:2ff::9')]).toEqual([200, 429]);
    expect(await from('2001:db8:1:300::1')).toBe(200);
  });

  it('charges subscribers of UnifiedPush topics, and refuses messages without subscriber', async () => {
    const clock = createFakeClock();
    await using rig = await openRig({
      clock,
      environment: {
        NTFY_BEHIND_PROXY: 'true',
        PUSH_UNIFIED_PUSH: 'true',
        NTFY_VISITOR_SUBSCRIBER_RATE_LIMITING: 'true',
        NTFY_VISITOR_REQUEST_LIMIT_BURST: '3',
        NTFY_VISITOR_REQUEST_LIMIT_REPLENISH: '1h',
        NTFY_VISITOR_EMAIL_LIMIT_REPLENISH: '1h',
        NTFY_BASE_URL: 'https://push.example.org',
      },
    });
    await rig.context.accounts.setGrant('*', 'push', 'up*', 'read-write');
    await rig.context.accounts.setGrant('*', 'push', 'plain', 'read-write');
    const by = (address: string) => ({ 'x-forwarded-for': address });
    const [server, phone, other] = ['198.51.100.1', '203.0.113.1', '203.0.113.2'].map(by);
    const [topic, second] = ['upABCDEFGHIJKL', 'upMNOPQRSTUVWX'];
    const push = (to: string, from = server) => collectCodes(rig, 1, () => rig.ask('POST', `/${to}?up=1`, from, 'm'));

    const refused = await rig.ask('POST', `/${topic}?up=1`, by('198.51.100.9'), 'm');
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      507,
      { code: 50701, http: 507, error: 'cannot publish to UnifiedPush topic without previously active subscriber' },
    ]);
    expect((await rig.ask('GET', `/${topic}/json?poll=1`, phone)).status).toBe(200);
    expect((await rig.ask('GET', `/${second}/json?poll=1`, other)).status).toBe(200);
    // The phone has two of three left; the limits of the application server are unaffected.
    expect([await push(topic), await push(topic), await push(topic)]).toEqual([[200], [200], [42901]]);
    expect([await push(second), await push(second), await push(second)]).toEqual([[200], [200], [42901]]);
    expect(await collectCodes(rig, 3, () => rig.ask('POST', '/plain', server, 'm'))).toEqual([200, 200, 200]);
    clock.advance(25 * 60 * 60 * 1000);
    expect(await push(topic)).toEqual([50701]);
  });

  it('makes a Matrix server delete an address without subscriber for half a day', async () => {
    const clock = createFakeClock();
    await using rig = await openRig({
      clock,
      environment: {
        PUSH_UNIFIED_PUSH: 'true',
        NTFY_VISITOR_SUBSCRIBER_RATE_LIMITING: 'true',
        NTFY_BASE_URL: 'https://push.example.org',
      },
    });
    const pushkey = 'https://push.example.org/upABCDEFGHIJKL?up=1';
    const body = JSON.stringify({ notification: { devices: [{ pushkey }] } });
    const publishMatrix = async () => {
      const { status, text } = await rig.ask('POST', '/_matrix/push/v1/notify', {}, body);
      return [status, JSON.parse(text)];
    };
    expect(await publishMatrix()).toMatchObject([507, { code: 50701 }]);
    clock.advance(12 * 60 * 60 * 1000 + 1000);
    expect(await publishMatrix()).toEqual([200, { rejected: [pushkey] }]);
    await rig.ask('GET', '/upABCDEFGHIJKL/json?poll=1', headers);
    expect(await publishMatrix()).toEqual([200, { rejected: [] }]);
  });

  it('refuses repeated failed sign-ins of an address, but not the correct password', async () => {
    await using rig = await openRig();
    const wrong = (index: number) =>
      rig.ask('GET', '/v1/account', {
        authorization: `Basic ${Buffer.from(`n${index}:`).toString('base64')}`,
      });
    expect(await collectCodes(rig, 31, wrong)).toEqual([...Array<number>(30).fill(40101), 42909]);
    expect((await wrong(31)).headers['retry-after']).toMatch(/^\d+$/);
    expect((await rig.ask('GET', '/v1/account', headers)).status).toBe(200);
  });
});
