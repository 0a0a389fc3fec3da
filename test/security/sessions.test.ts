import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { lan, openHome, phoneAddress, type Home } from '../support/gateway/phone.ts';
import { openEvents, type EventStream } from '../services/control/event-stream.ts';

const day = 24 * 60 * 60_000;
/** Maximum delay in ms of a throttled sign-in. */
const maxThrottleDelayMs = 10_000;
const mia = { name: 'mia', password: 'velvet-otter-93-lantern' };
const site = 'https://lamp.nas.local';
/** Service behind the sign-in of the gateway, whose WebSocket connections stay open. */
const lamp = fixtureService('lamp', () => {
  const sockets = new WebSocketServer({ noServer: true });
  return {
    http: (_request, response) => void response.end('on'),
    upgrade: (request, socket, head) => sockets.handleUpgrade(request, socket, head, () => undefined),
  };
});
let clock: FakeClock;
let home: Home;
beforeEach(async () => {
  clock = createFakeClock(Date.now());
  home = await openHome({ services: [lamp, push, control, gateway], clock, settings: { shared: ['lamp'] } });
  await administer('POST', '/api/accounts', {
    ...mia,
    grants: [{ service: 'lamp', resource: '*', permission: 'read-write' }],
  });
});
afterEach(() => home[Symbol.asyncDispose]());

const base = (): string => home.host.url('control');
const administer = <T = unknown>(method: string, path: string, body: unknown = {}): Promise<T> =>
  api<T>(base(), path, { method, ...(method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(body) }) });

type Headers = Readonly<Record<string, string>>;
const call = (method: string, path: string, headers: Headers, body?: unknown): Promise<Response> =>
  fetch(base() + path, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const read = async <T>(answer: Promise<Response>): Promise<T> => (await (await answer).json()) as T;
async function signIn(headers: Headers = {}): Promise<{ 'Homeport-Session': string }> {
  const { session } = await read<{ session: string }>(call('POST', '/api/session', headers, mia));
  return { 'Homeport-Session': session };
}
const status = async (headers: Headers): Promise<number> => (await call('GET', '/api/account', headers)).status;
const sessions = async (headers: Headers): Promise<readonly { id: string; current: boolean; expiresAt: number }[]> =>
  (await read<{ sessions: [] }>(call('GET', '/api/account/sessions', headers))).sessions;
/** Reads a stream to its end and skips events about changed accounts. */
async function ends(stream: EventStream): Promise<void> {
  while ((await stream.next()) !== undefined) continue;
}

/** WebSocket that a browser opened through the gateway, and its end. */
async function openSocket(cookie: string): Promise<{ ended: Promise<unknown>; socket: WebSocket }> {
  const socket = new WebSocket(`wss://lamp.nas.local:${String(home.port)}/ws`, {
    ...{ ca: home.authority, servername: 'lamp.nas.local', localAddress: phoneAddress },
    headers: { Cookie: cookie, Origin: `${site}:${String(home.port)}` },
    lookup: (_name, _options, done) => done(null, lan, 4),
  });
  const ended = once(socket, 'close');
  await once(socket, 'open');
  return { ended, socket };
}

describe('a session', () => {
  it('ends after the set number of days although it was used, with its event stream and its WebSocket', async () => {
    await administer('PATCH', '/api/settings/host', { sessionDays: 2 });
    const headers = await signIn();
    const cookie = await home.signIn(site, mia.name, mia.password);
    await using stream = await openEvents(base(), { headers });
    const { ended } = await openSocket(cookie);
    for (let hours = 0; hours < 47; hours += 1) {
      clock.set(clock.now() + day / 24);
      expect(await status(headers)).toBe(200);
    }
    const [session] = await sessions(headers);
    expect(session?.expiresAt).toBeLessThanOrEqual(clock.now() + day / 24);
    expect((await home.ask(`${site}/`, { headers: { Cookie: cookie } })).status).toBe(200);
    clock.set(clock.now() + day / 24);
    clock.advance(90_000);
    expect(await status(headers)).toBe(401);
    await ends(stream);
    await ended;
    expect((await home.ask(`${site}/`, { headers: { Cookie: cookie } })).status).toBe(401);
  });

  it('applies a change of that setting immediately, and is not listed after it expired', async () => {
    const old = await signIn();
    clock.set(clock.now() + 2 * day);
    const current = await signIn();
    expect(await sessions(current)).toHaveLength(2);
    await administer('PATCH', '/api/settings/host', { sessionDays: 1 });
    expect([await status(old), await status(current)]).toEqual([401, 200]);
    expect(await sessions(current)).toMatchObject([{ current: true }]);
  });

  it('is ended from another browser, immediately and with its open connections', async () => {
    const headers = await signIn();
    const cookie = await home.signIn(site, mia.name, mia.password);
    const oldSession = await signIn();
    await using stream = await openEvents(base(), { headers: oldSession });
    await using otherEvents = await openEvents(base(), { headers });
    const { ended } = await openSocket(cookie);
    const listed = await sessions(headers);
    expect(listed.map(({ current }) => current).filter(Boolean)).toHaveLength(1);
    for (const { id } of listed.filter(({ current }) => !current)) {
      expect((await call('DELETE', `/api/account/sessions/${id}`, headers)).status).toBe(200);
    }
    await Promise.all([ends(stream), ended]);
    expect([await status(oldSession), await status(headers)]).toEqual([401, 200]);
    expect((await home.ask(`${site}/`, { headers: { Cookie: cookie } })).status).toBe(401);
    expect(await otherEvents.next()).toMatchObject({ event: 'control.access' });
  });

  it('requires the password to end others, unless the sign-in is recent', async () => {
    const oldSession = await signIn();
    const headers = await signIn();
    clock.advance(6 * 60_000);
    const [other] = (await sessions(headers)).filter((entry) => !entry.current);
    const paths = [`/api/account/sessions/${other?.id ?? ''}`, '/api/account/sessions'];
    for (const path of paths) {
      const refused = await call('DELETE', path, headers);
      expect([refused.status, await refused.text()]).toEqual([
        403,
        expect.stringContaining('accounts.password_needed'),
      ]);
      expect((await call('DELETE', path, headers, { password: 'not the password' })).status).toBe(403);
    }
    expect(await status(oldSession)).toBe(200);
    expect((await call('DELETE', '/api/account/sessions', headers, { password: mia.password })).status).toBe(200);
    expect([await status(oldSession), await status(headers)]).toEqual([401, 200]);
  });

  it('clears the cache of the browser when it ends by a sign-out', async () => {
    const signedOut = await call('DELETE', '/api/session', await signIn());
    expect(signedOut.headers.get('clear-site-data')).toBe('"cache"');
    const cookie = await home.signIn(site, mia.name, mia.password);
    const headers = { Cookie: cookie, Origin: `${site}:${String(home.port)}` };
    const signOut = await home.ask(`${site}/.homeport/sign-out`, { method: 'POST', headers });
    expect([signOut.status, signOut.headers['clear-site-data']]).toEqual([303, '"cache"']);
  });

  it('cannot be ended by another account, or by an access token', async () => {
    const headers = await signIn();
    const [session] = await sessions(headers);
    const { text } = await administer<{ text: string }>('POST', '/api/accounts/mia/tokens');
    const byToken = { Authorization: `Bearer ${text}` };
    expect((await call('DELETE', `/api/account/sessions/${session?.id ?? ''}`, byToken)).status).toBe(403);
    expect((await call('DELETE', '/api/account/sessions', byToken)).status).toBe(403);
    await administer('POST', '/api/accounts', { name: 'jo', password: mia.password });
    const other = await read<{ session: string }>(
      call('POST', '/api/session', {}, { name: 'jo', password: mia.password }),
    );
    const byOther = { 'Homeport-Session': other.session };
    expect((await call('DELETE', `/api/account/sessions/${session?.id ?? ''}`, byOther)).status).toBe(404);
    expect((await call('DELETE', '/api/accounts/mia/sessions', byOther)).status).toBe(403);
    expect((await call('DELETE', '/api/accounts/mia/second-factor', byOther)).status).toBe(403);
    expect(await status(headers)).toBe(200);
  });

  it.each([
    [
      'its owner changes the password',
      (headers: Headers) =>
        call('PUT', '/api/account/password', headers, {
          current: mia.password,
          password: 'another-otter-94-lantern',
        }),
    ],
    [
      'an administrator sets a password',
      () => administer('PATCH', '/api/accounts/mia', { password: 'another-otter-94' }),
    ],
    ['an administrator ends all sessions', () => administer('DELETE', '/api/accounts/mia/sessions')],
    ['an administrator resets the second factor', () => administer('DELETE', '/api/accounts/mia/second-factor')],
  ])('ends in every browser when %s', async (_case, change) => {
    const headers = await signIn();
    const other = await signIn();
    const cookie = await home.signIn(site, mia.name, mia.password);
    await using stream = await openEvents(base(), { headers: other });
    const { ended } = await openSocket(cookie);
    await change(headers);
    await Promise.all([ends(stream), ended]);
    expect([await status(headers), await status(other)]).toEqual([401, 401]);
    expect((await home.ask(`${site}/`, { headers: { Cookie: cookie } })).status).toBe(401);
  });

  it('is replaced by a new sign-in in the same browser', async () => {
    const former = await signIn();
    const next = await signIn(former);
    expect([await status(former), await status(next)]).toEqual([401, 200]);
    const cookie = await home.signIn(site, mia.name, mia.password);
    await home.ask(`${site}/.homeport/sign-in`, {
      method: 'POST',
      headers: { Cookie: cookie, Origin: `${site}:${String(home.port)}` },
      body: new URLSearchParams({ ...mia, to: '/' }).toString(),
    });
    expect((await home.ask(`${site}/`, { headers: { Cookie: cookie } })).status).toBe(401);
    expect(await status(next)).toBe(200);
  });
});

describe('the credentials of an account', () => {
  it('changes only with its password, although a session is open', async () => {
    const headers = await signIn();
    const begin = (password: string): Promise<Response> =>
      call('POST', '/api/account/second-factor', headers, { password });
    expect((await begin('not it at all')).status).toBe(403);
    expect((await begin('')).status).toBe(403);
    expect((await call('POST', '/api/account/second-factor', headers, {})).status).toBe(422);
    expect(await read(call('GET', '/api/account/second-factor', headers))).toMatchObject({ on: false });
    for (const path of ['/api/account/passkeys/options', '/api/account/passkeys/x/remove']) {
      expect(await read(call('POST', path, headers, { password: 'not it at all' })), path).toMatchObject({
        error: { code: 'accounts.wrong_password' },
      });
    }
    expect((await begin(mia.password)).status).toBe(200);
  });
});

describe('wrong passwords', () => {
  const basic = (password: string): Headers => ({
    Authorization: `Basic ${Buffer.from(`${mia.name}:${password}`).toString('base64')}`,
  });
  /** Submits the sign-in form of the gateway from a loopback address, like the other requests here. */
  async function atGateway(password: string): Promise<number> {
    const sent = request({
      ...{ host: lan, port: home.port, ca: home.authority, servername: 'nas.local', localAddress: '127.0.0.1' },
      ...{ path: '/.homeport/sign-in', method: 'POST', agent: false },
      headers: { Host: `nas.local:${String(home.port)}`, Origin: `https://nas.local:${String(home.port)}` },
    }).end(new URLSearchParams({ name: mia.name, password }).toString());
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  }

  it('are counted together, at whichever sign-in they are tried', async () => {
    const headers = await signIn();
    const push = `${home.host.url('push')}/hall/json?poll=1`;
    const signInMethods: readonly (readonly [string, (password: string) => Promise<number>])[] = [
      ['sign-in of the app', async (password) => (await call('POST', '/api/session', {}, { ...mia, password })).status],
      ['API of the app', async (password) => (await call('GET', '/api/account', basic(password))).status],
      ['push', async (password) => (await fetch(push, { headers: basic(password) })).status],
      ['metrics', async (password) => (await fetch(`${base()}/metrics`, { headers: basic(password) })).status],
      ['gateway', atGateway],
      [
        'own password',
        async (password) => {
          const body = { current: password, password: 'another-otter-94-lantern' };
          return (await call('PUT', '/api/account/password', headers, body)).status;
        },
      ],
      [
        'second factor',
        async (password) => (await call('POST', '/api/account/second-factor', headers, { password })).status,
      ],
    ];
    let tried = 0;
    /**
     * Waits for a response and ends the delays of throttled attempts. The clock advances only by those: the time of
     * slow hashing would otherwise clear the throttle.
     */
    async function attempt(guess: (password: string) => Promise<number>): Promise<number> {
      tried += 1;
      let answer: number | undefined;
      void guess(`wrong guess ${String(tried)}`).then((outcome) => (answer = outcome));
      while (answer === undefined) {
        const [delay] = clock.getDelays();
        if (delay !== undefined && delay <= maxThrottleDelayMs) clock.advance(delay);
        await new Promise((resolve) => void setImmediate(resolve));
      }
      return answer;
    }
    const first: number[] = [];
    for (const [, guess] of signInMethods.slice(0, 5)) first.push(await attempt(guess));
    expect(first).toEqual([401, 401, 401, 401, 401]);
    const after: [string, number][] = [];
    for (const [door, guess] of signInMethods) after.push([door, await attempt(guess)]);
    expect(after).toEqual(signInMethods.map(([door]) => [door, 429]));
  });
});
