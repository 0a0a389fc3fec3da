import * as problems from '#messages/gateway-problems';
import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { api } from '../support/api.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { openHome, type Answer, type Home } from '../support/gateway/phone.ts';
import { makeSelfSigned } from '../support/self-signed.ts';

const published = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
const clientId = 'homeport';
let provider: Server;
let issuer = '';
let home: Home;
let nonce = '';
/** Returns the ID token that the provider issues. */
let issue: () => string = () => '';
let authorizationEndpoint: string | undefined;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = (): Record<string, unknown> => {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: clientId, sub: 'sub-grace', nonce, iat: now, exp: now + 300 };
};

function sign(key: KeyObject, payload: unknown, header: Record<string, unknown> = {}): string {
  const input = `${encode({ alg: 'RS256', kid: 'one', ...header })}.${encode(payload)}`;
  return `${input}.${createSign('RSA-SHA256').update(input).sign(key).toString('base64url')}`;
}

const answers: Record<string, () => unknown> = {
  '/.well-known/openid-configuration': () => ({
    ...{ issuer, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` },
    ...(authorizationEndpoint === undefined ? {} : { authorization_endpoint: authorizationEndpoint }),
    ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
    id_token_signing_alg_values_supported: ['RS256'],
  }),
  '/keys': () => ({ keys: [{ ...published.publicKey.export({ format: 'jwk' }), use: 'sig', kid: 'one' }] }),
  '/token': () => ({ access_token: 'abc', token_type: 'Bearer', expires_in: 60, id_token: issue() }),
};

beforeAll(async () => {
  provider = createServer(makeSelfSigned(), (request, response) => {
    const answer = answers[request.url ?? ''];
    response.writeHead(answer === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    request.resume().once('end', () => response.end(JSON.stringify(answer?.() ?? {})));
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  issuer = `https://localhost:${String((provider.address() as AddressInfo).port)}`;
  home = await openHome({ services: [fixtureService('lamp'), control, gateway], settings: { shared: ['lamp'] } });
  await api(home.host.url('control'), '/api/accounts', {
    method: 'POST',
    body: JSON.stringify({ name: 'grace', password: 'velvet-otter-93-lantern' }),
  });
}, 60_000);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  provider.closeAllConnections();
  provider.close();
});
let attempt = 0;
beforeEach(async () => {
  authorizationEndpoint = `${issuer}/authorize`;
  issue = () => sign(published.privateKey, claims());
  // A changed secret makes the gateway read the description of the provider again.
  attempt += 1;
  await home.change({
    ...{ oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: `secret ${String(attempt)}` },
    ...{ oidcVerify: false, oidcName: 'Harbour', oidcAccounts: ['sub-grace=grace'] },
  });
});

async function signIn(): Promise<Answer> {
  const first = await home.ask('https://lamp.nas.local/.homeport/oidc?to=/');
  expect(first.status).toBe(302);
  const params = new URL(first.headers.location ?? '').searchParams;
  nonce = params.get('nonce') ?? '';
  const Cookie = (first.headers['set-cookie'] ?? []).map((entry) => entry.split(';')[0] ?? '').join('; ');
  const query = new URLSearchParams({ code: 'one', state: params.get('state') ?? '' });
  return home.ask(`https://lamp.nas.local/.homeport/oidc/callback?${query.toString()}`, { headers: { Cookie } });
}

describe('an ID token', () => {
  it('opens a session when the provider signed it', async () => {
    const { status, headers } = await signIn();
    expect([status, headers['set-cookie']?.length]).toEqual([303, expect.any(Number)]);
  });

  it('opens a session without the second factor that accounts with a password must have', async () => {
    const grants = [{ service: 'lamp', resource: '*', permission: 'read' }];
    await api(home.host.url('control'), '/api/accounts/grace', { method: 'PATCH', body: JSON.stringify({ grants }) });
    const { text } = await api<{ text: string }>(home.host.url('control'), '/api/accounts/ada/tokens', {
      method: 'POST',
      body: '{}',
    });
    const setRequirement = (requireSecondFactor: string): Promise<unknown> =>
      api(home.host.url('control'), '/api/settings/host', {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${text}` },
        body: JSON.stringify({ requireSecondFactor }),
      });
    await setRequirement('everybody');
    try {
      const { headers } = await signIn();
      const Cookie = (headers['set-cookie'] ?? []).map((each) => each.split(';')[0] ?? '').join('; ');
      expect((await home.ask('https://lamp.nas.local/', { headers: { Cookie } })).body).toBe('lamp');
    } finally {
      await setRequirement('off');
    }
  });

  const tampered = (): string => {
    const [head = '', , signature = ''] = sign(published.privateKey, claims()).split('.');
    return `${head}.${encode({ ...claims(), sub: 'sub-grace', email: 'x' })}.${signature}`;
  };
  it.each<[string, () => string]>([
    ['was signed with another key', () => sign(other.privateKey, claims())],
    ['was signed with another key of an unknown id', () => sign(other.privateKey, claims(), { kid: 'two' })],
    ['was changed after it was signed', tampered],
    ['has no signature', () => `${encode({ alg: 'none' })}.${encode(claims())}.`],
    ['has an empty signature', () => `${sign(published.privateKey, claims()).split('.').slice(0, 2).join('.')}.`],
    ['brings its own key', () => sign(other.privateKey, claims(), { jwk: other.publicKey.export({ format: 'jwk' }) })],
    ['is for another client', () => sign(published.privateKey, { ...claims(), aud: 'somebody-else' })],
    ['is of another issuer', () => sign(published.privateKey, { ...claims(), iss: 'https://evil.example' })],
    ['has another nonce', () => sign(published.privateKey, { ...claims(), nonce: 'x' })],
    ['has expired', () => sign(published.privateKey, { ...claims(), iat: 1_000, exp: 2_000 })],
  ])('is refused when it %s', async (_case, token) => {
    issue = token;
    const { status } = await signIn();
    expect([403, 502]).toContain(status);
  });
});

describe('an OpenID sign-in without an account', () => {
  const names = async (): Promise<readonly string[]> => {
    const { accounts } = await api<{ accounts: { name: string }[] }>(home.host.url('control'), '/api/accounts');
    return accounts.map(({ name }) => name);
  };
  let number = 0;
  /** Claims of a new subject with a new name. */
  const newUser = (groups: unknown): Record<string, unknown> => {
    number += 1;
    return { ...claims(), sub: `sub-${String(number)}`, preferred_username: `user-${String(number)}`, groups };
  };
  beforeEach(() =>
    home.change({
      ...{ oidcCreateAccounts: true, oidcGroups: ['family'], oidcAccounts: [], oidcEmailDomains: [] },
      ...{ oidcGroupsClaim: 'groups', oidcAdminGroups: [], oidcGroupGrants: ['family=lamp read *'] },
    }),
  );

  it.each<[string, unknown, number]>([
    ['a string', 'family', 303],
    ['a list', ['guests', 'family'], 303],
    ['a list of 10,000 groups', [...Array.from({ length: 10_000 }, (_each, index) => `group-${index}`), 'family'], 303],
    ['a string of several names', 'guests,family', 403],
    ['a nested list', [['family']], 403],
    ['a list of objects', [{ name: 'family' }], 403],
    ['an object', { family: true }, 403],
    ['a list of other types', [1, null, true, {}], 403],
    ['null', null, 403],
    ['nothing', undefined, 403],
  ])('evaluates groups as %s', async (_case, groups, status) => {
    let sent: Record<string, unknown> = {};
    issue = () => sign(published.privateKey, (sent = newUser(groups)));
    expect((await signIn()).status).toBe(status);
    expect((await names()).includes(String(sent['preferred_username']))).toBe(status === 303);
  });

  it.each(['__proto__', 'constructor', 'groups.length', 'toString.name', 'groups.0.constructor'])(
    'reads no inherited properties: %s',
    async (oidcGroupsClaim) => {
      await home.change({ oidcGroupsClaim, oidcGroups: ['Object', 'toString', '1'] });
      issue = () => sign(published.privateKey, newUser(['family']));
      expect((await signIn()).status).toBe(403);
    },
  );

  it.each<[string, Record<string, unknown>]>([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another nonce', { nonce: 'x' }],
    ['a reserved name', { preferred_username: '*' }],
    ['a name that is no account name', { preferred_username: '../ada' }],
    ['a name that is too long', { preferred_username: 'x'.repeat(65) }],
    ['a name that is no text', { preferred_username: ['ada'] }],
    ["an administrator's name", { preferred_username: 'ada' }],
    ["an administrator's name in capitals", { preferred_username: 'ADA' }],
  ])('creates no account for %s', async (_case, changed) => {
    const before = await names();
    issue = () => sign(published.privateKey, { ...newUser(['family']), ...changed });
    expect([403, 502]).toContain((await signIn()).status);
    expect(await names()).toEqual(before);
  });

  it('cannot reuse the nonce of an earlier sign-in', async () => {
    const user = newUser(['family']);
    issue = () => sign(published.privateKey, { ...user, nonce });
    expect((await signIn()).status).toBe(303);
    const replayed = sign(published.privateKey, { ...user, nonce });
    issue = () => replayed;
    expect([403, 502]).toContain((await signIn()).status);
  });
});

describe('an authorization endpoint', () => {
  it.each([
    ['without https', (): string => issuer.replace('https:', 'http:') + '/authorize'],
    ['with another scheme', (): string => 'javascript:alert(1)'],
    ['that is no address', (): string => 'authorize'],
    ['that is missing', (): undefined => undefined],
  ])('is answered with a clear error: %s', async (_case, endpoint) => {
    authorizationEndpoint = endpoint();
    const response = await home.ask('https://lamp.nas.local/.homeport/oidc?to=/', { headers: { Accept: 'text/html' } });
    expect(response.status).toBe(502);
    expect(response.body).toContain(problems.providerNeedsHttps({ provider: 'Harbour' }));
    expect(response.headers.location).toBeUndefined();
  });
});
