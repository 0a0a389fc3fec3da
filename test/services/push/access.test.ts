import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Grant } from '../../../services/contracts/control/accounts.ts';
import { admin, openRig, type Rig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

const toBasic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
const grantOn = (resource: string, permission: Grant['permission'] = 'read-write'): Grant => ({
  service: 'push',
  resource,
  permission,
});
let createdCount = 0;
/** Creates an account with these grants for a test. */
async function newAccount(...grants: Grant[]): Promise<{ name: string; password: string; authorization: string }> {
  createdCount += 1;
  const name = `person-${createdCount}`;
  const password = `secret-${createdCount}`;
  await rig.context.accounts.create({ name, password, grants });
  return { name, password, authorization: toBasic(name, password) };
}
const getStatus = async (method: string, path: string, authorization?: string): Promise<number> => {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  return (await rig.ask(method, path, headers, method === 'POST' ? 'x' : undefined)).status;
};

describe('authorization', () => {
  it.each(['Authorization', 'auth', 'authorization'])('accepts credentials in %s', async (carrier) => {
    const { name, password } = await newAccount(grantOn('*'));
    const { text } = await rig.context.accounts.createToken(name, { label: '', expiresAt: null });
    for (const header of [toBasic(name, password), toBasic('', text), toBasic(name, text), `Bearer ${text}`]) {
      const encoded = Buffer.from(header).toString('base64url');
      const status =
        carrier === 'Authorization'
          ? await getStatus('POST', '/t', header)
          : await getStatus('POST', `/t?${carrier}=${encoded}`);
      expect(status, header.slice(0, 6)).toBe(200);
    }
  });

  it("uses the longest pattern, prefers write on a tie, and the account's grants before those of everyone", async () => {
    const { authorization } = await newAccount(
      grantOn('*-*-backup', 'write'),
      grantOn('db-*-backup', 'none'),
      grantOn('db-info-backup', 'read'),
      grantOn('a*-x', 'read'),
      grantOn('*a-x', 'write'),
    );
    await rig.context.accounts.setGrant('*', 'push', '*-open', 'read-write');
    const readAndWriteStatus = async (topic: string) => [
      await getStatus('POST', `/${topic}`, authorization),
      await getStatus('GET', `/${topic}/auth`, authorization),
    ];
    expect(await readAndWriteStatus('web-info-backup')).toEqual([200, 403]);
    expect(await readAndWriteStatus('db-error-backup')).toEqual([403, 403]);
    expect(await readAndWriteStatus('db-info-backup')).toEqual([403, 200]);
    expect(await readAndWriteStatus('aa-x')).toEqual([200, 403]);
    expect(await readAndWriteStatus('web-open')).toEqual([200, 200]);
    expect([await getStatus('POST', '/web-open'), await getStatus('GET', '/web-info-backup/auth')]).toEqual([200, 403]);
  });

  it('requires access to every requested topic', async () => {
    const { authorization } = await newAccount(grantOn('one'));
    expect(await getStatus('GET', '/one/json?poll=1', authorization)).toBe(200);
    expect(await getStatus('GET', '/one,two/json?poll=1', authorization)).toBe(403);
  });

  it('refuses wrong credentials on open paths, and ignores unknown schemes', async () => {
    for (const path of ['/v1/health', '/v1/config', '/v1/stats', '/web-open/auth']) {
      expect(await getStatus('GET', path, toBasic('admin', 'wrong-one')), path).toBe(401);
    }
    await rig.context.accounts.setGrant('*', 'push', '*-open', 'read-write');
    expect(await getStatus('GET', '/web-open/auth', 'vapid t=a, k=b')).toBe(200);
    expect(await getStatus('GET', '/v1/health', 'WebPush abc')).toBe(200);
  });

  it('is not mixed up between concurrent requests of one address', async () => {
    const reader = await newAccount(grantOn('mine-*'));
    const stranger = await newAccount();
    const requests = Array.from({ length: 300 }, (_, index) => {
      const [selected, expected] = [
        [reader.authorization, 200],
        [stranger.authorization, 403],
        [undefined, 403],
        [admin, 200],
      ][index % 4] as [string | undefined, number];
      return getStatus('POST', '/mine-1', selected).then((status) => [status, expected]);
    });
    for (const [status, expected] of await Promise.all(requests)) expect(status).toBe(expected);
  });
});

describe('open stream', () => {
  const cases: Record<string, (name: string) => Promise<unknown>> = {
    'when its grant goes': (name) => rig.context.accounts.setGrant(name, 'push', 'news', undefined),
    'when its grant becomes a denial': (name) => rig.context.accounts.setGrant(name, 'push', 'news', 'none'),
    'when the password changes': (name) => rig.context.accounts.change(name, { password: 'another-one' }),
    'when the account is switched off': (name) => rig.context.accounts.change(name, { enabled: false }),
    'when the account is deleted': (name) => rig.context.accounts.remove(name),
    'when an administrator deletes the account over the API': (name) =>
      send('DELETE', '/v1/users', { username: name }, admin),
    'when an administrator takes the grant over the API': (name) =>
      send('DELETE', '/v1/users/access', { username: name, topic: 'news' }, admin),
  };
  it.each(Object.keys(cases))('ends when %s', async (what) => {
    const { name, authorization } = await newAccount(grantOn('news', 'read'));
    using stream = await rig.listen('/news/json', { authorization });
    using other = await rig.listen('/news/json');
    await cases[what]?.(name);
    await stream.ended;
    await rig.publish('/news', 'still there');
    await expect.poll(() => other.messages.length).toBe(1);
    expect(stream.messages).toEqual([]);
  });

  it('ends when its token is deleted, but not when another token is', async () => {
    const { name } = await newAccount(grantOn('news', 'read'));
    const createToken = () => rig.context.accounts.createToken(name, { label: '', expiresAt: null });
    const [deleted, remaining] = [await createToken(), await createToken()];
    using first = await rig.listen('/news/json', { authorization: `Bearer ${deleted.text}` });
    using second = await rig.listen('/news/json', { authorization: `Bearer ${remaining.text}` });
    const response = await rig.ask('DELETE', '/v1/account/token', {
      authorization: `Bearer ${remaining.text}`,
      'x-token': deleted.text,
    });
    expect(response.status).toBe(200);
    await first.ended;
    await rig.publish('/news', 'for the other');
    await expect.poll(() => second.messages.length).toBe(1);
  });

  it('ends a stream of a visitor when the grant of everyone is removed', async () => {
    await rig.context.accounts.setGrant('*', 'push', 'square', 'read');
    using stream = await rig.listen('/square/json', {});
    await rig.context.accounts.setGrant('*', 'push', 'square', undefined);
    await stream.ended;
  });
});

async function send(method: string, path: string, body: unknown, authorization: string) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = { authorization, 'content-length': String(Buffer.byteLength(text)) };
  const response = await rig.ask(method, path, headers, text);
  return { status: response.status, body: response.text === '' ? undefined : JSON.parse(response.text) };
}

describe('account API', () => {
  const call = send;
  const callApi = async (
    method: string,
    path: string,
    body: unknown,
    authorization: string,
  ): Promise<{ readonly status: number; readonly body: any }> => {
    const reply = await fetch(`${rig.host.url('control')}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: await reply.json() };
  };

  it('signs in, creates, extends and deletes tokens', async () => {
    const { name, authorization } = await newAccount(grantOn('t'));
    const { body: login } = await call('POST', '/v1/account/login', undefined, authorization);
    expect(login).toEqual({ token: expect.stringMatching(/^tk_[a-z0-9]{29}$/), username: name });
    const bearer = `Bearer ${login.token}`;
    const scheduledAt = Math.floor(Date.now() / 1000) + 60;
    const { body: created } = await call('POST', '/v1/account/token', { label: 'phone', expires: scheduledAt }, bearer);
    expect(created).toMatchObject({ label: 'phone', expires: scheduledAt });
    const { body: extendedToken } = await call('PATCH', '/v1/account/token', { token: created.token }, bearer);
    expect(extendedToken.expires).toBeGreaterThan(scheduledAt + 3600);
    expect((await call('PATCH', '/v1/account/token', {}, bearer)).body.token).toBe(login.token);
    expect(await getStatus('GET', '/t/auth', `Bearer ${created.token}`)).toBe(200);
    // The listed placeholder can be used in place of the token.
    const { body: account } = await call('GET', '/v1/account', undefined, bearer);
    const listed = account.tokens.find(({ label }: { label?: string }) => label === 'phone');
    expect(JSON.stringify(account)).not.toContain(created.token);
    expect(
      (await call('PATCH', '/v1/account/token', { token: listed.token, label: 'tablet' }, bearer)).body.label,
    ).toBe('tablet');
    const deletion = await rig.ask('DELETE', '/v1/account/token', { authorization: bearer, 'x-token': listed.token });
    expect(deletion.status).toBe(200);
    expect(await getStatus('GET', '/t/auth', `Bearer ${created.token}`)).toBe(401);
    expect((await rig.ask('DELETE', '/v1/account/token', { authorization: bearer })).status).toBe(200);
    expect(await getStatus('GET', '/v1/account', bearer)).toBe(401);
  });

  it('does not change tokens of other accounts, and requires a token to be named after a sign-in with password', async () => {
    const member = await newAccount();
    const other = await newAccount();
    const { text } = await rig.context.accounts.createToken(other.name, { label: '', expiresAt: null });
    expect((await call('PATCH', '/v1/account/token', { token: text }, member.authorization)).status).toBe(401);
    expect((await call('PATCH', '/v1/account/token', {}, member.authorization)).body.code).toBe(40023);
    expect((await call('PATCH', '/v1/account/token', 'no object', member.authorization)).body.code).toBe(40024);
    expect((await call('POST', '/v1/account/token', { expires: 1 }, member.authorization)).body.code).toBe(40000);
  });

  it('changes the password after confirmation of the old one, and deletes the account', async () => {
    const { name, password, authorization } = await newAccount();
    const change = { password, new_password: 'quite-new-lantern' };
    expect((await call('POST', '/v1/account/password', change, authorization)).status).toBe(200);
    expect(await getStatus('GET', '/v1/account', authorization)).toBe(401);
    const now = toBasic(name, 'quite-new-lantern');
    expect((await call('DELETE', '/v1/account', { password }, now)).body.code).toBe(40026);
    expect((await call('DELETE', '/v1/account', { password: 'quite-new-lantern' }, now)).status).toBe(200);
    expect(await rig.context.accounts.find(name)).toBeUndefined();
  });

  it('stores preferences and subscriptions, and notifies other devices', async () => {
    const { authorization } = await newAccount();
    const { body: before } = await call('GET', '/v1/account', undefined, authorization);
    expect(before.sync_topic).toMatch(/^st_[-\w]{13}$/);
    using device = await rig.listen(`/${before.sync_topic}/json`, { authorization });
    expect(device.status).toBe(200);
    await call('PATCH', '/v1/account/settings', { language: 'de', notification: { sound: 'ding' } }, authorization);
    await call('PATCH', '/v1/account/settings', { notification: { min_priority: 3 } }, authorization);
    const topic = { base_url: 'https://push.example', topic: 'a' };
    expect((await call('POST', '/v1/account/subscription', topic, authorization)).body).toEqual(topic);
    const renamed = { ...topic, display_name: 'Alpha' };
    expect((await call('PATCH', '/v1/account/subscription', renamed, authorization)).body).toEqual(renamed);
    expect((await call('PATCH', '/v1/account/subscription', { ...topic, topic: 'b' }, authorization)).status).toBe(404);
    const { body } = await call('GET', '/v1/account', undefined, authorization);
    expect(body).toMatchObject({
      language: 'de',
      notification: { sound: 'ding', min_priority: 3 },
      subscriptions: [renamed],
    });
    const headers = { authorization, 'x-baseurl': topic.base_url, 'x-topic': topic.topic };
    expect((await rig.ask('DELETE', '/v1/account/subscription', headers)).status).toBe(200);
    expect((await call('GET', '/v1/account', undefined, authorization)).body.subscriptions).toBeUndefined();
    await expect.poll(() => device.messages.length).toBe(5);
    for (const { message, expires } of device.messages)
      expect([message, expires]).toEqual(['{"event":"sync"}', undefined]);
    // Other accounts do not see it.
    const stranger = await newAccount();
    expect(await getStatus('GET', `/${before.sync_topic}/auth`, stranger.authorization)).toBe(403);
  });

  it('limits the topics with preferences of an account, and counts only those that differ from the default', async () => {
    const { name, authorization } = await newAccount(grantOn('limit-*'));
    const set = (topic: string, displayName: string) =>
      callApi('PUT', `/api/push/topics/limit-${topic}/preferences`, { displayName, sound: 'default' }, authorization);
    await set('unnamed', '');
    for (let first = 0; first < 1000; first += 50)
      await Promise.all(Array.from({ length: 50 }, (_, index) => set(String(first + index), 'Named')));
    expect(await set('more', 'One more')).toMatchObject({
      status: 409,
      body: { error: { code: 'push.too_many_preferences' } },
    });
    expect((await set('7', 'Renamed')).status).toBe(200);
    const app = { base_url: `http://127.0.0.1:${String(rig.port)}`, topic: 'limit-app', display_name: 'App' };
    expect((await call('POST', '/v1/account/subscription', app, authorization)).status).toBe(200);
    const { body } = await callApi('GET', '/api/push/topic-preferences', undefined, authorization);
    expect(body.topics).toHaveLength(1000);
    expect((await set('7', '')).status).toBe(200);
    expect((await set('more', 'One more')).status).toBe(200);
    await rig.context.accounts.remove(name);
  }, 120_000);

  it('shares display names of topics on this server between apps and pages', async () => {
    const { name, authorization } = await newAccount(grantOn('shared-*'));
    const own = { base_url: `http://127.0.0.1:${String(rig.port)}`, topic: 'shared-a' };
    const foreign = { base_url: 'https://push.example', topic: 'shared-a' };
    const readNames = async () => (await callApi('GET', '/api/push/topic-preferences', undefined, authorization)).body;
    await call('POST', '/v1/account/subscription', { ...foreign, display_name: 'Elsewhere' }, authorization);
    expect(await readNames()).toEqual({ topics: [] });
    await call('POST', '/v1/account/subscription', { ...own, display_name: 'From the app' }, authorization);
    expect(await readNames()).toEqual({
      topics: [{ topic: 'shared-a', displayName: 'From the app', sound: 'default' }],
    });
    const path = '/api/push/topics/shared-a/preferences';
    const { body: account } = await call('GET', '/v1/account', undefined, authorization);
    using device = await rig.listen(`/${account.sync_topic}/json`, { authorization });
    const change = await callApi('PUT', path, { displayName: ' Pier ', sound: 'bell' }, authorization);
    expect(change.body).toEqual({ topics: [{ topic: 'shared-a', displayName: 'Pier', sound: 'bell' }] });
    await expect.poll(() => device.messages.map(({ message }) => message)).toEqual(['{"event":"sync"}']);
    const { body } = await call('GET', '/v1/account', undefined, authorization);
    expect(body.subscriptions).toEqual([
      { ...foreign, display_name: 'Elsewhere' },
      { ...own, display_name: 'Pier' },
    ]);
    // An app that subscribes later gets the name; an app that removes the name removes it everywhere.
    const later = '/api/push/topics/shared-b/preferences';
    await callApi('PUT', later, { displayName: 'Quay', sound: 'default' }, authorization);
    const added = await call('POST', '/v1/account/subscription', { ...own, topic: 'shared-b' }, authorization);
    expect(added.body).toEqual({ ...own, topic: 'shared-b', display_name: 'Quay' });
    await call('PATCH', '/v1/account/subscription', own, authorization);
    expect((await readNames()).topics).toEqual([
      { topic: 'shared-a', displayName: '', sound: 'bell' },
      { topic: 'shared-b', displayName: 'Quay', sound: 'default' },
    ]);
    expect(
      (await callApi('PUT', '/api/push/topics/other/preferences', { displayName: 'x', sound: 'bell' }, authorization))
        .status,
    ).toBe(403);
    expect((await callApi('PUT', path, { displayName: 'x'.repeat(101), sound: 'bell' }, authorization)).status).toBe(
      422,
    );
    await rig.context.accounts.remove(name);
  });

  it('reserves a topic for an administrator and closes it to others', async () => {
    const { authorization } = await newAccount(grantOn('mine*'));
    const reserve = (othersPermission: string) =>
      call('POST', '/v1/account/reservation', { topic: 'mine1', everyone: othersPermission }, admin);
    expect((await reserve('maybe')).body.code).toBe(40025);
    expect((await reserve('read-only')).status).toBe(200);
    expect([await getStatus('GET', '/mine1/auth'), await getStatus('POST', '/mine1')]).toEqual([200, 403]);
    await rig.publish('/mine1');
    expect((await call('GET', '/v1/account', undefined, admin)).body.reservations).toEqual([
      { topic: 'mine1', everyone: 'read-only' },
    ]);
    const second = await newAccount();
    await rig.context.accounts.change(second.name, { role: 'admin' });
    const refusal = await call(
      'POST',
      '/v1/account/reservation',
      { topic: 'mine1', everyone: 'rw' },
      second.authorization,
    );
    expect(refusal.body.code).toBe(40902);
    expect(await getStatus('DELETE', '/v1/account/reservation/mine1', authorization)).toBe(401);
    const release = await rig.ask('DELETE', '/v1/account/reservation/mine1', {
      authorization: admin,
      'x-delete-messages': 'true',
    });
    expect(release.status).toBe(200);
    expect(await rig.poll('/mine1/json?poll=1')).toEqual([]);
    expect(await getStatus('GET', '/mine1/auth')).toBe(403);
  });

  it('requires an account for every call but one', async () => {
    for (const route of ['POST /v1/account/login', 'PATCH /v1/account/settings', 'GET /v1/users', 'GET /v1/version']) {
      const [method = '', path = ''] = route.split(' ');
      expect(await getStatus(method, path), route).toBe(401);
    }
    expect(await getStatus('GET', '/v1/account')).toBe(200);
    expect(await getStatus('GET', '/v1/account/nothing', admin)).toBe(404);
    expect(await getStatus('GET', '/v1/tiers', admin)).toBe(404);
  });
});

describe('visitors', () => {
  it('can sign up when it is enabled, without grants', async () => {
    await using signUpRig = await openRig({ environment: { NTFY_ENABLE_SIGNUP: 'true' } });
    const sign = (username: string, password = 'velvet-otter-93') =>
      signUpRig.ask('POST', '/v1/account', {}, JSON.stringify({ username, password }));
    expect((await sign('joe')).status).toBe(200);
    expect(JSON.parse((await sign('joe')).text).code).toBe(40901);
    expect(JSON.parse((await sign('bad name')).text).code).toBe(40046);
    const authorization = toBasic('joe', 'velvet-otter-93');
    expect((await signUpRig.ask('GET', '/v1/account', { authorization })).status).toBe(200);
    expect((await signUpRig.ask('POST', '/t', { authorization }, 'x')).status).toBe(403);
    expect(JSON.parse((await signUpRig.ask('GET', '/v1/config')).text).enable_signup).toBe(true);
  });

  it('ignores a client that disconnects during its body', async () => {
    const socket = connect(rig.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `PATCH /v1/account/settings HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: ${admin}\r\nContent-Length: 500\r\n\r\n{"lang`,
    );
    socket.destroy();
    await once(socket, 'close');
    const long = await rig.ask(
      'PATCH',
      '/v1/account/settings',
      { authorization: admin },
      JSON.stringify({ language: 'x'.repeat(40_000) }),
    );
    expect(JSON.parse(long.text).code).toBe(41303);
    expect(await getStatus('GET', '/v1/health')).toBe(200);
  });
});

it('accepts a valid bcrypt hash in place of a password', async () => {
  const users = (method: string, body: object) => {
    const text = JSON.stringify(body);
    const headers = { authorization: admin, 'Content-Length': String(Buffer.byteLength(text)) };
    return rig.ask(method, '/v1/users', headers, text);
  };
  /** Hash of `userpass12`, as created by ntfy. */
  const hash = '$2a$10$B7epPN738kNYPBtxG65ks.PJ6w1l44RtG7vapyUaRpmUYt72A4doC';
  expect((await users('POST', { username: 'hashed', hash, password: 'not this one' })).status).toBe(200);
  expect(await getStatus('GET', '/v1/account', toBasic('hashed', 'not this one'))).toBe(401);
  expect(await getStatus('GET', '/v1/account', toBasic('hashed', 'userpass12'))).toBe(200);

  const { name, password, authorization } = await newAccount(grantOn('*'));
  using stream = await rig.listen('/hash/json', { authorization });
  expect((await users('PUT', { username: name, hash })).status).toBe(200);
  // The old password no longer works, and its stream has ended.
  await stream.ended;
  expect(await getStatus('GET', '/v1/account', toBasic(name, password))).toBe(401);
  expect(await getStatus('GET', '/v1/account', toBasic(name, 'userpass12'))).toBe(200);

  for (const bad of ['x', '$2a$10$abc', '$2a$31$B7epPN738kNYPBtxG65ks.PJ6w1l44RtG7vapyUaRpmUYt72A4doC']) {
    expect(JSON.parse((await users('POST', { username: 'other', hash: bad })).text)).toMatchObject({ code: 40000 });
  }
  expect((await users('PUT', { username: 'admin', hash })).status).toBe(403);
});
