import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { createFakeClock, type FakeClock } from '../support/clock.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { openHome, phoneAddress, type Answer, type Home } from '../support/gateway/phone.ts';
import { admin, openTestHost } from '../support/host.ts';
import { readCode } from '../support/second-factor.ts';
import { openEvents } from '../services/control/event-stream.ts';
import { readDeclaredRoutes } from './declared-routes.ts';

type Headers = Readonly<Record<string, string>>;
interface SignedIn {
  readonly session: string;
  readonly needsEnrollment?: true;
}

const password = 'velvet-otter-93-lantern';
const mia = { name: 'mia', password };
const site = 'https://lamp.nas.local';
const code = 'accounts.second_factor_required';
/** Routes that a session without the required second factor may use. Public ones do not treat it as signed in. */
const enrollmentRoutes: readonly string[] = [
  'DELETE /api/session',
  'GET /api/account',
  'GET /api/account/second-factor',
  'GET /api/session',
  'POST /api/account/second-factor',
  'POST /api/account/second-factor/confirm',
  'POST /api/session',
  'POST /api/session/second-step',
];

let clock: FakeClock;
let home: Home;
/** A token of the administrator, which no policy affects. */
let byToken: Headers;
beforeEach(async () => {
  clock = createFakeClock(Date.now());
  const services = [fixtureService('lamp'), push, control, gateway];
  home = await openHome({ services, clock, settings: { shared: ['lamp'] } });
  const { text } = await api<{ text: string }>(base(), `/api/accounts/${admin.name}/tokens`, {
    method: 'POST',
    body: '{}',
  });
  byToken = { Authorization: `Bearer ${text}` };
  await administer('POST', '/api/accounts', {
    ...mia,
    grants: [{ service: 'lamp', resource: '*', permission: 'read-write' }],
  });
});
afterEach(() => home[Symbol.asyncDispose]());

const base = (): string => home.host.url('control');
const call = (method: string, path: string, headers: Headers, body?: unknown): Promise<Response> =>
  fetch(base() + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
async function administer<T>(method: string, path: string, body?: unknown): Promise<T> {
  const reply = await call(method, path, byToken, body);
  expect([path, reply.status]).toEqual([path, 200]);
  return (await reply.json()) as T;
}
const setRequirement = (requireSecondFactor: string): Promise<unknown> =>
  administer('PATCH', '/api/settings/host', { requireSecondFactor });
const basic = (name: string, secret: string): Headers => ({
  Authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
});
async function signIn(account: { name: string; password: string }): Promise<SignedIn & { readonly headers: Headers }> {
  const reply = (await (await call('POST', '/api/session', {}, account)).json()) as SignedIn;
  return { ...reply, headers: { 'Homeport-Session': reply.session } };
}
/** Returns the status and the error code of a request. */
async function ask(method: string, path: string, headers: Headers, body?: unknown): Promise<[number, string]> {
  const reply = await call(method, path, headers, body);
  return [reply.status, /"code":"([^"]*)"/.exec(await reply.text())?.[1] ?? ''];
}
async function enroll(headers: Headers): Promise<void> {
  const begun = await call('POST', '/api/account/second-factor', headers, { password });
  const { secret } = (await begun.json()) as { secret: string };
  const confirmed = { code: readCode(secret, 0, clock.now()) };
  expect((await call('POST', '/api/account/second-factor/confirm', headers, confirmed)).status).toBe(200);
}
const atGateway = (headers: Headers): Promise<Answer> => home.ask(`${site}/`, { headers });
const lines = (): readonly string[] => home.host.log.filter((line) => line.includes('event=second_factor_required '));

describe('an account without the required second factor', () => {
  it('gets a session that becomes complete once it has enrolled', async () => {
    await setRequirement('everybody');
    const { needsEnrollment, headers } = await signIn(mia);
    expect(needsEnrollment).toBe(true);
    expect(await (await call('GET', '/api/session', headers)).json()).toMatchObject({
      account: { name: 'mia', role: 'user', needsEnrollment: true },
    });
    expect(await ask('GET', '/api/account', headers)).toEqual([200, '']);
    expect(await ask('GET', '/api/services', headers)).toEqual([403, code]);
    await enroll(headers);
    expect(await ask('GET', '/api/services', headers)).toEqual([200, '']);
    const { account } = (await (await call('GET', '/api/session', headers)).json()) as { account: object };
    expect(account).toEqual({ name: 'mia', role: 'user' });
    expect(await ask('POST', '/api/session', {}, mia)).toEqual([200, '']);
    expect((await signIn(mia)).session).toBeUndefined();
  });

  it('may use no route but those of the enrolment, and may sign out', async () => {
    await setRequirement('everybody');
    const { headers } = await signIn(mia);
    const open: string[] = [];
    for (const { name, method, path, access, takesBody } of await readDeclaredRoutes()) {
      if (enrollmentRoutes.includes(name) || access === 'public') continue;
      const [status, answer] = await ask(method, path.replace(/:\w+/g, 'nothing'), headers, takesBody ? {} : undefined);
      if (answer !== code && answer !== 'api.unknown_path') open.push(`${name}: ${String(status)} ${answer}`);
    }
    expect(open).toEqual([]);
    expect((await call('GET', '/api/events', headers)).status).toBe(401);
    expect((await call('GET', '/metrics', headers)).status).toBe(401);
    expect(await ask('DELETE', '/api/session', headers)).toEqual([200, '']);
    expect(await ask('GET', '/api/account', headers)).toEqual([401, 'api.sign_in']);
  });

  it('cannot sign in with its password elsewhere, but with an access token', async () => {
    const { text } = await administer<{ text: string }>('POST', '/api/accounts/mia/tokens', {});
    await setRequirement('everybody');
    const byPassword = basic('mia', password);
    expect(await ask('GET', '/api/account', byPassword)).toEqual([401, code]);
    const pushed = await fetch(`${home.host.url('push')}/v1/account`, { headers: byPassword });
    expect([pushed.status, await pushed.text()]).toEqual([401, expect.stringContaining('set up two-step sign-in')]);
    const refused = await atGateway(byPassword);
    expect([refused.status, refused.body]).toEqual([401, expect.stringContaining('set up two-step sign-in')]);
    expect(await ask('GET', '/api/account', basic('mia', text))).toEqual([200, '']);
    expect((await atGateway(basic('mia', text))).body).toBe('lamp');
    const form = await home.ask(`${site}/.homeport/sign-in`, {
      method: 'POST',
      headers: { Origin: `${site}:${String(home.port)}` },
      body: new URLSearchParams({ ...mia, to: '/' }).toString(),
    });
    expect([form.status, form.headers['set-cookie']]).toEqual([403, undefined]);
    expect(form.body).toContain('Sign in to the Homeport app');
    expect(lines()).toHaveLength(4);
    expect(lines().every((line) => line.endsWith('account=mia detail=password'))).toBe(true);
    expect(lines().filter((line) => line.includes(`address=${phoneAddress} `))).toHaveLength(2);
    await signIn(mia);
    expect(lines().at(-1)).toContain('target=control account=mia detail=session');
  });

  it('loses access with its open sessions until it has enrolled', async () => {
    const { headers } = await signIn(mia);
    const Cookie = await home.signIn(site, mia.name, mia.password);
    await using stream = await openEvents(base(), { headers });
    expect((await atGateway({ Cookie })).body).toBe('lamp');
    await setRequirement('everybody');
    expect((await atGateway({ Cookie })).status).toBe(401);
    expect(await ask('GET', '/api/services', headers)).toEqual([403, code]);
    clock.advance(90_000);
    while ((await stream.next()) !== undefined) continue;
    await enroll(headers);
    expect((await atGateway({ Cookie })).body).toBe('lamp');
  });

  it('can sign out at the gateway, and another account can sign in there', async () => {
    const Cookie = await home.signIn(site, mia.name, mia.password);
    await administer('POST', '/api/accounts', { name: 'jo', password, role: 'admin' });
    await setRequirement('everybody');
    await enroll((await signIn({ name: 'jo', password })).headers);
    const headers = { Cookie, Origin: `${site}:${String(home.port)}` };
    const first = await home.ask(`${site}/.homeport/sign-in`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ name: 'jo', password, to: '/' }).toString(),
    });
    expect([first.status, first.body]).toEqual([200, expect.stringContaining('name="ticket"')]);
    expect((await home.ask(`${site}/.homeport/sign-out`, { method: 'POST', headers })).status).toBe(303);
    await setRequirement('off');
    expect((await atGateway({ Cookie })).status).toBe(401);
  });
});

describe('the requirement of a second factor', () => {
  it('limits only administrators when it is set so, with all their rights', async () => {
    await administer('POST', '/api/accounts', { name: 'grace', password, role: 'admin' });
    const before = await signIn({ name: 'grace', password });
    const { links } = (await (
      await call('POST', '/api/links', before.headers, { paths: ['/api/backups/none/file'] })
    ).json()) as { links: [string] };
    expect((await fetch(base() + links[0])).status).toBe(404);
    await setRequirement('administrators');
    expect(await ask('GET', '/api/services', (await signIn(mia)).headers)).toEqual([200, '']);
    expect(await ask('GET', '/api/account', basic('mia', password))).toEqual([200, '']);
    expect((await fetch(base() + links[0])).status).toBe(401);
    const { headers } = await signIn({ name: 'grace', password });
    const change = { requireSecondFactor: 'off' };
    expect(await ask('PATCH', '/api/settings/host', headers, change)).toEqual([403, code]);
    expect(await ask('PATCH', '/api/settings/host', basic('grace', password), change)).toEqual([401, code]);
    await enroll(headers);
    expect(await ask('PATCH', '/api/settings/host', headers, change)).toEqual([200, '']);
  });

  it('does not affect service accounts, and is off by default', async () => {
    expect((await signIn(mia)).needsEnrollment).toBeUndefined();
    const grants = [{ service: 'lamp', resource: '*', permission: 'read' }];
    await administer('POST', '/api/accounts', { name: 'robot', kind: 'service', password, grants });
    await setRequirement('everybody');
    expect((await atGateway(basic('robot', password))).body).toBe('lamp');
  });

  it('does not affect the window of the desktop app, also after a change of the password there', async () => {
    await setRequirement('everybody');
    const window = await home.host.host.signInWindow();
    const headers = { 'Homeport-Session': window?.secret ?? '' };
    expect(await ask('GET', '/api/settings', headers)).toEqual([200, '']);
    const changed = await call('PUT', '/api/account/password', headers, {
      current: admin.password,
      password: 'another-otter-94-lantern',
    });
    const { session } = (await changed.json()) as SignedIn;
    expect(await ask('GET', '/api/settings', { 'Homeport-Session': session })).toEqual([200, '']);
  });

  it('limits the session of the first administrator too', async () => {
    await using host = await openTestHost({
      services: [control],
      administrator: false,
      environment: { HOMEPORT_REQUIRE_SECOND_FACTOR: 'administrators' },
    });
    const setup = new URL((await host.host.setupUrl()) ?? '').searchParams.get('code');
    const reply = await fetch(`${host.url('control')}/api/setup`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code: setup, name: 'ada', password }),
    });
    const { session, needsEnrollment } = (await reply.json()) as SignedIn;
    expect(needsEnrollment).toBe(true);
    const headers = { 'Homeport-Session': session };
    expect((await fetch(`${host.url('control')}/api/settings`, { headers })).status).toBe(403);
  });
});
