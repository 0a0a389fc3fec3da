import * as gatewayTexts from '#messages/gateway-texts';
import * as secondFactorMessages from '#messages/second-factor';
import * as stateMessages from '#messages/state';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { launchBrowser, noBrowser, openProfile } from '../support/browser.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { lan, openHome, type Home } from '../support/gateway/phone.ts';
import { admin } from '../support/host.ts';
import { containing } from '../support/message-patterns.ts';
import { addAuthenticator, readCode } from '../support/second-factor.ts';

const lamp = fixtureService('lamp', () => ({
  http: (_request, response) => void response.setHeader('Content-Type', 'text/html').end('<h1>The lamp</h1>'),
}));

describe.skipIf(noBrowser)('a passkey at the gateway', () => {
  let home: Home;
  let browser: Browser;
  const toUrl = (service: string, path = '/'): string => `https://${service}.nas.local:${String(home.port)}${path}`;

  beforeAll(async () => {
    home = await openHome({ services: [lamp, control, gateway], settings: { shared: ['lamp', 'control'] } });
    browser = await launchBrowser('engine', [`--host-resolver-rules=MAP *.nas.local ${lan}, MAP nas.local ${lan}`]);
  });
  afterAll(async () => {
    await browser.close();
    await home[Symbol.asyncDispose]();
  });

  async function enterPassword(page: Page): Promise<void> {
    await page.getByLabel(gatewayTexts.name()).fill(admin.name);
    await page.getByLabel(gatewayTexts.password(), { exact: true }).fill(admin.password);
    await page.getByRole('button', { name: gatewayTexts.signIn() }).click();
  }

  it('is created on the app at one name and signs in at another one, with the only script of these pages', async () => {
    await using context = await openProfile(browser, { ignoreHTTPSErrors: true, locale: 'en-GB' });
    const page = await context.newPage();
    const pageErrors: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && pageErrors.push(message.text())));
    await addAuthenticator(page);
    await page.goto(toUrl('control', '/account'));
    await enterPassword(page);
    await page.getByRole('button', { name: secondFactorMessages.setUp() }).click();
    const confirm = async (): Promise<void> => {
      await page.getByLabel(secondFactorMessages.yourPassword(), { exact: true }).fill(admin.password);
      await page.keyboard.press('Enter');
    };
    await confirm();
    const secret = await page.locator('.scan code').innerText();
    await page.getByLabel(secondFactorMessages.code()).fill(readCode(secret));
    await page.getByRole('button', { name: secondFactorMessages.enable() }).click();
    await page.getByRole('button', { name: secondFactorMessages.addAPasskey() }).click();
    await confirm();
    await page.getByText(containing(secondFactorMessages.passkeyDetails({ host: 'nas.local' }))).waitFor();

    pageErrors.length = 0;
    await page.goto(toUrl('lamp'));
    await enterPassword(page);
    await page.getByRole('heading', { name: gatewayTexts.codeTitle() }).waitFor();
    const cookies = async (): Promise<number> => (await context.cookies(toUrl('lamp'))).length;
    expect(await cookies()).toBe(0);
    await page.getByRole('button', { name: gatewayTexts.usePasskey() }).click();
    await page.getByRole('heading', { name: 'The lamp' }).waitFor();
    expect(await cookies()).toBe(1);
    expect(pageErrors).toEqual([]);

    // A user without this security key is informed, and can still enter a code.
    await using other = await openProfile(browser, { ignoreHTTPSErrors: true, locale: 'en-GB' });
    const second = await other.newPage();
    const key = await addAuthenticator(second);
    await second.goto(toUrl('lamp'));
    await enterPassword(second);
    await second.getByRole('button', { name: gatewayTexts.usePasskey() }).click();
    await second.getByText(stateMessages.passkeyNotConfirmed(), { exact: false }).waitFor();
    expect(await key.credentials()).toBe(0);
    await second.getByLabel(secondFactorMessages.code()).fill(readCode(secret, 1));
    await second.getByRole('button', { name: secondFactorMessages.continueLabel() }).click();
    await second.getByRole('heading', { name: 'The lamp' }).waitFor();
  });

  it('is refused if its response is forged or missing', async () => {
    const form = (fields: Record<string, string>) =>
      home.ask(toUrl('lamp', '/.homeport/sign-in'), {
        method: 'POST',
        headers: { Origin: toUrl('lamp').slice(0, -1) },
        body: new URLSearchParams({ to: '/', ...fields }).toString(),
      });
    const first = await form(admin);
    const ticket = /name="ticket" value="([^"]+)"/.exec(first.body)?.[1] ?? '';
    expect(first.headers['content-security-policy']).toContain("script-src 'self'");
    const options = JSON.parse((/data-options="([^"]+)"/.exec(first.body)?.[1] ?? '').replaceAll('&quot;', '"')) as {
      rpId: string;
      allowCredentials: { id: string }[];
    };
    expect(options.rpId).toBe('nas.local');
    const id = options.allowCredentials[0]?.id ?? '';
    const credential = { id, rawId: id, type: 'public-key', response: {}, clientExtensionResults: {} };
    for (const passkey of [
      '',
      '{',
      'null',
      '[]',
      '{}',
      JSON.stringify(credential),
      JSON.stringify({ ...credential, id: 'x' }),
    ]) {
      const { status, headers } = await form({ ticket, passkey });
      expect([401, 422, 429], passkey).toContain(status);
      expect(headers['set-cookie']).toBeUndefined();
    }
  });
});
