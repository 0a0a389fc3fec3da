import * as gatewayTexts from '#messages/gateway-texts';
import * as problems from '#messages/gateway-problems';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { openHome, type Answer, type Home } from '../../support/gateway/phone.ts';
import { openProvider, type TestProvider } from '../../support/gateway/provider.ts';

const people = {
  'sub-grace': { preferred_username: 'grace', groups: ['family'] },
  'sub-eve': { preferred_username: 'grace', groups: ['guests'] },
  'sub-ada': { preferred_username: 'ada', groups: ['family'] },
  'sub-alan': { preferred_username: 'alan', groups: ['family'] },
  'sub-mute': { groups: ['family'] },
};
const services = [fixtureService('lamp'), control, gateway];
let clock: FakeClock;
let home: Home;
let provider: TestProvider;
beforeEach(async () => {
  clock = createFakeClock(Date.now());
  home = await openHome({ services, clock, settings: { shared: ['lamp'] } });
  provider = await openProvider([`https://lamp.nas.local:${home.port}/.homeport/oidc/callback`], people);
  await api(home.host.url('control'), '/api/accounts', {
    method: 'POST',
    body: JSON.stringify({
      ...{ name: 'grace', role: 'user' },
      grants: [{ service: 'lamp', resource: '*', permission: 'read' }],
    }),
  });
  await home.change({
    ...{ oidcIssuer: provider.issuer, oidcClientId: provider.client.id, oidcClientSecret: provider.client.secret },
    ...{ oidcVerify: false, oidcName: 'Harbour', oidcScopes: 'openid profile groups', oidcGroups: ['family'] },
  });
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const serviceUrl = 'https://lamp.nas.local';
const getCookies = ({ headers }: Answer): string =>
  (headers['set-cookie'] ?? []).map((entry) => entry.split(';')[0] ?? '').join('; ');

/** Starts a sign-in up to the redirect to the provider, and returns the cookies of the browser. */
async function begin(to = '/shelf?x=1'): Promise<{ url: string; cookie: string }> {
  const first = await home.ask(`${serviceUrl}/.homeport/oidc?to=${encodeURIComponent(to)}`);
  expect([first.status, first.body]).toEqual([302, '']);
  return { url: first.headers.location ?? '', cookie: getCookies(first) };
}

async function back(returned: string, cookie: string): Promise<Answer> {
  const { pathname, search } = new URL(returned);
  return home.ask(`${serviceUrl}${pathname}${search}`, { headers: { Cookie: cookie } });
}

async function signIn(subject: string): Promise<Answer> {
  const { url, cookie } = await begin();
  return back(await provider.signIn(url, subject), cookie);
}

describe('OpenID Connect sign-in', () => {
  it('signs in to the account and lists the session', async () => {
    expect((await home.ask(`${serviceUrl}/.homeport/sign-in?to=/shelf`)).body).toContain(
      gatewayTexts.signInWithProvider({ provider: 'Harbour' }),
    );
    const { url, cookie } = await begin();
    const params = new URL(url).searchParams;
    expect([params.get('code_challenge_method'), params.get('response_type')]).toEqual(['S256', 'code']);
    expect(params.get('nonce')).toBeTruthy();
    const response = await back(await provider.signIn(url, 'sub-grace'), cookie);
    expect([response.status, response.headers.location]).toEqual([303, '/shelf?x=1']);
    const session = { Cookie: getCookies(response).split('; ')[0] ?? '' };
    expect((await home.ask(`${serviceUrl}/`, { headers: session })).body).toBe('lamp');
    const read = (): Promise<{ sessions: { id: string; account: string }[] }> =>
      api(home.host.url('control'), '/api/gateway/sessions');
    const { sessions } = await read();
    expect(sessions.map(({ account }) => account)).toEqual(['grace']);
    await api(home.host.url('control'), `/api/gateway/sessions/${sessions[0]?.id ?? ''}`, { method: 'DELETE' });
    expect((await home.ask(`${serviceUrl}/`, { headers: session })).status).toBe(401);
  });

  it('admits users by group, name or subject and explains rejections', async () => {
    const expectedErrors: Record<string, string> = {
      'sub-eve': problems.subjectNotAllowed({ provider: 'Harbour', subject: 'sub-eve' }),
      'sub-mute': problems.subjectWithoutAccount({ provider: 'Harbour', subject: 'sub-mute' }),
      'sub-alan': problems.subjectAccountUnknown({ provider: 'Harbour', subject: 'sub-alan', account: 'alan' }),
      'sub-ada': problems.subjectIsAdministrator({ provider: 'Harbour', subject: 'sub-ada' }),
    };
    for (const [subject, sentence] of Object.entries(expectedErrors)) {
      const response = await signIn(subject);
      expect([response.status, response.headers['set-cookie']]).toEqual([403, undefined]);
      expect(response.body.replaceAll('&#39;', "'")).toContain(sentence);
    }
    await home.change({ oidcGroups: [], oidcAccounts: ['sub-ada=ada', 'sub-eve=grace'] });
    expect((await signIn('sub-ada')).status).toBe(303);
    expect((await signIn('sub-eve')).status).toBe(303);
    expect((await signIn('sub-grace')).status).toBe(403);
    // The account belongs to the user who signed in to it, also after the assignment ended.
    await home.change({ oidcAccounts: [], oidcSubjects: ['sub-grace'] });
    expect((await signIn('sub-grace')).status).toBe(403);
    await home.change({ oidcAccounts: ['sub-grace=grace'] });
    expect((await signIn('sub-grace')).status).toBe(303);
    await api(home.host.url('control'), '/api/accounts/grace', { method: 'PATCH', body: '{"enabled":false}' });
    expect((await signIn('sub-grace')).status).toBe(403);
  });

  it('accepts a callback once, in the same browser, in time and for the same host', async () => {
    const { url, cookie } = await begin();
    const returned = await provider.signIn(url, 'sub-grace');
    const stranger = await begin();
    expect((await back(returned, '')).status).toBe(401);
    expect((await back(returned, stranger.cookie)).status).toBe(401);
    expect((await back(returned.replace(/state=[^&]+/, 'state=made-up'), cookie)).status).toBe(401);
    const [name = '', value = ''] = cookie.split('=');
    expect((await back(returned, `${name}=tossed; ${name}=${value}`)).status).toBe(401);
    expect((await back(returned, cookie)).status).toBe(303);
    expect((await back(returned, cookie)).status).toBe(401);
    const slow = await begin();
    const late = await provider.signIn(slow.url, 'sub-grace');
    clock.advance(11 * 60_000);
    expect((await back(late, slow.cookie)).status).toBe(401);
  });

  it('redirects to the same host only and reports provider errors', async () => {
    const foreignRedirect = await begin('https://evil.example/');
    const response = await back(await provider.signIn(foreignRedirect.url, 'sub-grace'), foreignRedirect.cookie);
    expect([response.status, response.headers.location]).toEqual([303, '/']);
    const signIn = await begin();
    const refused = await back(await provider.giveUp(signIn.url), signIn.cookie);
    expect([refused.status, refused.body]).toEqual([
      403,
      expect.stringContaining(problems.providerSignInCanceled({ provider: 'Harbour' })),
    ]);
    const forged = await begin();
    const wrong =
      `${serviceUrl}/.homeport/oidc/callback?code=made-up&` +
      `state=${new URL(forged.url).searchParams.get('state') ?? ''}&` +
      `iss=${encodeURIComponent(provider.issuer)}`;
    expect((await back(wrong, forged.cookie)).status).toBe(403);
    await home.change({ oidcVerify: true });
    const untrusted = await home.ask(`${serviceUrl}/.homeport/oidc`);
    expect([untrusted.status, untrusted.body]).toEqual([
      502,
      expect.stringContaining(problems.providerUnavailable({ provider: 'Harbour', reason: '' })),
    ]);
    await home.change({ oidcVerify: false, oidcClientId: 'somebody-else' });
    expect((await home.ask(`${serviceUrl}/.homeport/oidc`)).status).toBe(302);
    await home.change({ oidcIssuer: '' });
    expect((await home.ask(`${serviceUrl}/.homeport/oidc`)).status).toBe(404);
    expect((await home.ask(`${serviceUrl}/.homeport/sign-in`)).body).not.toContain('Harbour');
  });

  it('stores the client secret sealed', () => {
    const file = readdirSync(home.host.dataDir).find((name) => name.endsWith('.yaml')) ?? '';
    const fileText = readFileSync(join(home.host.dataDir, file), 'utf8');
    expect(fileText).toContain('oidcClientSecret');
    expect(fileText).not.toContain(provider.client.secret);
  });
});
