import * as gatewayTexts from '#messages/gateway-texts';
import * as accountProblems from '#messages/account-problems';
import * as secondFactorMessages from '#messages/second-factor';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { generateCode, toTimeStep } from '../../services/kit/totp.ts';
import { api } from '../support/api.ts';
import { launchBrowser, noBrowser, openProfile } from '../support/browser.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { lan, openHome, type Home } from '../support/gateway/phone.ts';
import { openProvider, type TestProvider } from '../support/gateway/provider.ts';
import { admin } from '../support/host.ts';
import { matching } from '../support/message-patterns.ts';

/** Requests that the service behind the sign-in received, in order. */
const requests: string[] = [];
const lamp = fixtureService('lamp', () => ({
  http(request, response) {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`);
    const target = new URL(request.url ?? '', 'http://lamp').searchParams.get('redirect');
    if (target !== null) return void response.writeHead(302, { Location: target }).end();
    response.setHeader('Content-Type', 'text/html').end('<h1>The lamp</h1>');
  },
}));
/** Compromised service whose pages have the same site as the others. */
const evil = fixtureService('evil', () => ({
  http: (_request, response) => void response.setHeader('Content-Type', 'text/html').end('<h1>Evil</h1>'),
}));

describe.skipIf(noBrowser)('a browser of the home network', () => {
  let home: Home;
  let provider: TestProvider;
  let browser: Browser;
  /** A page of another site over plain HTTP. */
  let otherServer: Server;
  const lampAt = (path = ''): string => `https://lamp.nas.local:${home.port}${path}`;

  beforeAll(async () => {
    home = await openHome({ services: [lamp, evil, control, gateway], settings: { shared: ['lamp'], open: ['evil'] } });
    provider = await openProvider([lampAt('/.homeport/oidc/callback')], { 'sub-ada': { groups: ['family'] } });
    await home.change({
      oidcIssuer: provider.issuer,
      oidcClientId: provider.client.id,
      oidcClientSecret: provider.client.secret,
      oidcVerify: false,
      oidcName: 'Harbour',
      oidcScopes: 'openid',
      oidcAccounts: ['sub-ada=ada'],
    });
    otherServer = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end('<h1>Elsewhere</h1>');
    }).listen(0, '127.0.0.1');
    await once(otherServer, 'listening');
    browser = await launchBrowser('engine', [
      `--host-resolver-rules=MAP *.nas.local ${lan}, MAP nas.local ${lan}, MAP rebound.example ${lan}`,
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await home[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
    otherServer.closeAllConnections();
    await new Promise((resolve) => otherServer.close(resolve));
  });

  /** A profile that accepts the certificates of the authority, like a device that trusts it. */
  const openTrustingBrowser = (): Promise<BrowserContext> =>
    openProfile(browser, { ignoreHTTPSErrors: true, locale: 'en-GB' });
  async function signIn(page: Page): Promise<void> {
    await page.getByLabel(gatewayTexts.name()).fill(admin.name);
    await page.getByLabel(gatewayTexts.password()).fill(admin.password);
    await page.getByRole('button', { name: gatewayTexts.signIn() }).click();
  }

  it('opens the scanned page, which offers the certificate authority', async () => {
    const { trustUrl, certificate } = await home.state();
    await using context = await openTrustingBrowser();
    const page = await context.newPage();
    await page.goto(trustUrl ?? '');
    await page.getByText(certificate?.fingerprint ?? 'none').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page
        .getByRole('link', { name: /certificate|\.crt/i })
        .first()
        .click(),
    ]);
    expect(download.url()).toContain('/trust/homeport.');
    // The steps for the requesting device are open, the others are folded.
    await page.getByText(matching(gatewayTexts.linuxInstall())).waitFor();
    expect(await page.getByText(gatewayTexts.appleMobileTrust(), { exact: false }).isVisible()).toBe(false);
    // The browser shows a warning until the device trusts the authority.
    await using stranger = await openProfile(browser);
    await expect((await stranger.newPage()).goto(lampAt())).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
  });

  it('signs in with a password and a code of an authenticator app', async () => {
    const { session } = await api<{ session: string }>(home.host.url('control'), '/api/session', {
      method: 'POST',
      body: JSON.stringify(admin),
    });
    const callApp = <T>(path: string, body: object): Promise<T> =>
      api<T>(home.host.url('control'), `/api/account/second-factor${path}`, {
        method: 'POST',
        headers: { 'Homeport-Session': session, Authorization: '' },
        body: JSON.stringify(body),
      });
    const { secret } = await callApp<{ secret: string }>('', { password: admin.password });
    const bits = [...secret]
      .map((entry) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(entry).toString(2).padStart(5, '0'))
      .join('');
    const key = Uint8Array.from((bits.match(/.{8}/g) ?? []).map((entry) => Number.parseInt(entry, 2)));
    const { recoveryCodes } = await callApp<{ recoveryCodes: string[] }>('/confirm', {
      code: generateCode(key, toTimeStep(Date.now())),
    });
    await using context = await openTrustingBrowser();
    const page = await context.newPage();
    await page.goto(lampAt('/shelf'));
    await signIn(page);
    await page.getByRole('heading', { name: gatewayTexts.codeTitle() }).waitFor();
    await page.getByLabel(secondFactorMessages.code()).fill('000000');
    await page.getByRole('button', { name: secondFactorMessages.continueLabel() }).click();
    await page.getByRole('alert').getByText(accountProblems.wrongOrUsedCode()).waitFor();
    // The code that enabled the second factor is used up; the one of the next half minute is already valid.
    await page.getByLabel(secondFactorMessages.code()).fill(generateCode(key, toTimeStep(Date.now()) + 1));
    await page.getByRole('button', { name: secondFactorMessages.continueLabel() }).click();
    await page.getByRole('heading', { name: 'The lamp' }).waitFor();
    await expect.poll(() => page.url()).toBe(lampAt('/shelf'));
    await callApp('/off', { code: recoveryCodes[0] ?? '' });
  });

  it.each([
    ['a service on the same port', () => `https://evil.nas.local:${home.port}/`, 'Evil'],
    [
      'another scheme and port',
      () => `http://127.0.0.1:${String((otherServer.address() as AddressInfo).port)}/`,
      'Elsewhere',
    ],
  ])('follows the redirect of the requested page after a sign-in: to %s', async (_case, target, heading) => {
    await using context = await openTrustingBrowser();
    const page = await context.newPage();
    const violations: string[] = [];
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) violations.push(message.text());
    });
    const response = await page.goto(lampAt(`/?redirect=${encodeURIComponent(target())}`));
    expect(response?.headers()['content-security-policy']).toMatch(/form-action 'self';/);
    await signIn(page);
    await page.getByRole('heading', { name: heading }).waitFor();
    await expect.poll(() => page.url()).toBe(target());
    expect(violations).toEqual([]);
  });

  it('sends the form of the sign-in page to its own origin only', async () => {
    await using context = await openTrustingBrowser();
    const page = await context.newPage();
    await page.goto(lampAt('/shelf'));
    const violation = page.waitForEvent('console', (message) => message.text().includes('form-action'));
    await page.evaluate((action) => {
      const form = document.querySelector('form');
      form?.setAttribute('action', action);
      form?.submit();
    }, `https://evil.nas.local:${home.port}/collect`);
    await violation;
    expect(new URL(page.url()).hostname).toBe('lamp.nas.local');
  });

  it('replaces the page between the form and the requested page in the history', async () => {
    await using context = await openTrustingBrowser();
    const page = await context.newPage();
    await page.goto(lampAt('/shelf'));
    await signIn(page);
    await page.getByRole('heading', { name: 'The lamp' }).waitFor();
    await page.goBack().catch(() => null);
    expect(new URL(page.url()).pathname).not.toBe('/.homeport/continue');
  });

  it('signs in with another provider', async () => {
    await using context = await openTrustingBrowser();
    const page = await context.newPage();
    await page.goto(lampAt('/shelf'));
    await page.getByRole('link', { name: gatewayTexts.signInWithProvider({ provider: 'Harbour' }) }).click();
    await page.locator('input[name=login]').fill('sub-ada');
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: secondFactorMessages.continueLabel() }).click();
    await page.getByRole('heading', { name: 'The lamp' }).waitFor();
    await expect.poll(() => page.url()).toBe(lampAt('/shelf'));
    const [cookie] = (await context.cookies(lampAt())).filter(({ name }) => !name.endsWith('-provider'));
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', domain: 'lamp.nas.local' });
  });

  it.each([
    ['of another site', () => `http://127.0.0.1:${String((otherServer.address() as AddressInfo).port)}/`],
    ['of a neighbour on the same site', () => `https://evil.nas.local:${home.port}/`],
  ])('resists a hostile page: %s', async (_case, hostile) => {
    await using context = await openTrustingBrowser();
    const page = await context.newPage();
    await page.goto(lampAt());
    await signIn(page);
    await page.getByRole('heading', { name: 'The lamp' }).waitFor();
    requests.length = 0;
    const trap = await context.newPage();
    await trap.goto(hostile());
    await trap.evaluate(async (target) => {
      const quiet = (): undefined => undefined;
      const send = { method: 'POST', credentials: 'include', mode: 'no-cors', body: 'x' } as const;
      await fetch(`${target}/by-fetch`, send).catch(quiet);
      await fetch(`${target}/by-get`, { credentials: 'include', mode: 'no-cors' }).catch(quiet);
      await fetch(`${target}/.homeport/sign-out`, send).catch(quiet);
      await new Promise((resolve) => {
        const image = new Image();
        image.onload = image.onerror = resolve;
        image.src = `${target}/by-image`;
      });
      await new Promise<void>((resolve) => {
        const socket = new WebSocket(`${target.replace('https', 'wss')}/by-socket`);
        socket.onerror = socket.onclose = () => resolve();
      });
    }, lampAt());
    for (const path of ['/by-form', '/.homeport/sign-out', '/.homeport/sign-in']) {
      await trap.goto(hostile());
      await Promise.all([
        trap.waitForNavigation(),
        trap.evaluate((action) => {
          const form = Object.assign(document.createElement('form'), { method: 'POST', action });
          document.body.append(form);
          form.submit();
        }, lampAt(path)),
      ]);
    }
    // A cookie with our name that a neighboring host sets is not accepted for this host.
    await trap.goto(hostile());
    await trap.evaluate(
      (name) => (document.cookie = `${name}=tossed; Domain=nas.local; Path=/; Secure`),
      `__Host-homeport-${home.port}`,
    );
    expect(requests).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'The lamp' }).waitFor();
    // A link from there keeps the session, and only allows reading.
    await trap.evaluate((to) => location.assign(to), lampAt('/linked'));
    await trap.getByRole('heading', { name: 'The lamp' }).waitFor();
    expect(requests).toEqual(['GET /', 'GET /linked']);
  });

  it('rejects a host name that was rebound to this address', async () => {
    await using context = await openTrustingBrowser();
    const page = await context.newPage();
    const response = await page.goto(`https://rebound.example:${home.port}/`);
    expect(response?.status()).toBe(403);
    expect(await page.content()).not.toContain('lamp');
  });
});
