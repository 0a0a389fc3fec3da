import * as accessMessages from '#messages/access';
import * as accountMessages from '#messages/accounts';
import * as frameMessages from '#messages/frame';
import * as secondFactorMessages from '#messages/second-factor';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayState } from '../../services/contracts/gateway/api.ts';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { launchBrowser, noBrowser, openProfile } from '../support/browser.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { lan, openHome, type Home } from '../support/gateway/phone.ts';
import { openProvider, type TestProvider } from '../support/gateway/provider.ts';

const lamp = fixtureService('lamp', () => ({
  http: (_request, response) => void response.setHeader('Content-Type', 'text/html').end('<h1>The lamp</h1>'),
}));

describe.skipIf(noBrowser)('the sign-in of the app at an identity provider', () => {
  let home: Home;
  let provider: TestProvider;
  let browser: Browser;
  let state: GatewayState;
  let app = '';
  beforeAll(async () => {
    home = await openHome({ services: [lamp, control, gateway], settings: { shared: ['lamp', 'control'] } });
    const { services } = await home.state();
    const shared = services.find(({ id }) => id === 'control');
    app = shared?.addresses.find(({ by }) => by === 'name')?.url ?? '';
    const redirects = [app, `https://lamp.nas.local:${String(home.port)}`];
    provider = await openProvider(
      redirects.map((base) => `${base}/.homeport/oidc/callback`),
      { 'sub-kim': { preferred_username: 'kim', groups: ['family'] } },
    );
    await home.change({
      ...{ oidcIssuer: provider.issuer, oidcClientId: provider.client.id, oidcClientSecret: provider.client.secret },
      ...{ oidcVerify: false, oidcName: 'Harbour', oidcScopes: 'openid profile groups', oidcGroups: ['family'] },
      ...{ oidcCreateAccounts: true, oidcGroupGrants: ['family=lamp read *'] },
    });
    state = await home.state();
    browser = await launchBrowser('engine', [`--host-resolver-rules=MAP *.nas.local ${lan}, MAP nas.local ${lan}`]);
  });
  afterAll(async () => {
    await browser.close();
    await home[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  const openBrowser = () => openProfile(browser, { ignoreHTTPSErrors: true, locale: 'en-GB' });
  async function signInAtProvider(page: Page): Promise<void> {
    await page.locator('input[name=login]').fill('sub-kim');
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: secondFactorMessages.continueLabel() }).click();
  }

  it('creates the account, opens the app, and ends with the sign-out', async () => {
    await using context = await openBrowser();
    const page = await context.newPage();
    await page.goto(app);
    await page.getByRole('link', { name: accessMessages.signInWithProvider({ provider: 'Harbour' }) }).click();
    await signInAtProvider(page);
    await page.getByRole('heading', { name: frameMessages.homeTitle(), exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
    const read = (): Promise<unknown> =>
      page.evaluate(async () => {
        const secret = localStorage.getItem('homeport.session') ?? '';
        const reply = await fetch('/api/session', { headers: { 'Homeport-Session': secret } });
        return ((await reply.json()) as { account: unknown }).account;
      });
    expect(await read()).toMatchObject({ name: 'kim', role: 'user' });
    // The session is in the app only, so that the sign-out there ends it.
    expect((await context.cookies(app)).filter(({ name }) => name.startsWith('__Host-homeport-'))).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: frameMessages.homeTitle(), exact: true }).waitFor();
    // The account has no password that the forms could ask for.
    await page.goto(`${app}/account`);
    await page.getByText(accountMessages.noOwnPassword()).waitFor();
    await page.getByText(secondFactorMessages.noPasswordNote()).waitFor();
    expect(await page.getByRole('button', { name: accountMessages.changeThePassword() }).count()).toBe(0);
    expect(await page.getByRole('button', { name: secondFactorMessages.setUp(), exact: true }).count()).toBe(0);
    await page.evaluate(async () => {
      const secret = localStorage.getItem('homeport.session') ?? '';
      await fetch('/api/session', { method: 'DELETE', headers: { 'Homeport-Session': secret } });
    });
    expect(await read()).toBeNull();
    await page.reload();
    await page.getByRole('button', { name: accessMessages.signIn() }).waitFor();
  });

  it('hands a session only to the origin of the app', async () => {
    await using context = await openBrowser();
    const page = await context.newPage();
    await page.goto(`https://lamp.nas.local:${String(home.port)}/.homeport/oidc?to=/`);
    await signInAtProvider(page);
    await page.getByRole('heading', { name: 'The lamp' }).waitFor();
    const request = (): Promise<number> =>
      page.evaluate(async () => (await fetch('/.homeport/app-session', { method: 'POST' })).status);
    expect(await request()).toBe(404);
    await page.goto(app);
    expect(await request()).toBe(401);
    const foreign = await home.ask(`${app}/.homeport/app-session`, {
      method: 'POST',
      headers: { Origin: 'https://evil.example' },
    });
    expect(foreign.status).toBe(403);
  });

  it('is registered at the provider with the addresses of the app', () => {
    expect(state.provider?.redirectAddresses).toContain(`${app}/.homeport/oidc/callback`);
  });

  it('is not offered without a provider', async () => {
    await home.change({ oidcIssuer: '' });
    await using context = await openBrowser();
    const page = await context.newPage();
    const reply = page.waitForResponse((response) => response.url().endsWith('/.homeport/provider'));
    await page.goto(app);
    expect(await (await reply).json()).toEqual({ name: null });
    await page.getByRole('button', { name: accessMessages.signIn() }).waitFor();
    expect(await page.getByText(accessMessages.or(), { exact: true }).count()).toBe(0);
  });
});
