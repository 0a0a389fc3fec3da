import * as accessMessages from '#messages/access';
import * as accountProblems from '#messages/account-problems';
import * as accountsMessages from '#messages/accounts';
import * as frameMessages from '#messages/frame';
import * as gatewayTexts from '#messages/gateway-texts';
import * as grantsMessages from '#messages/grants';
import * as partMessages from '#messages/parts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../services/contracts/control/accounts.ts';
import { control } from '../../services/control/index.ts';
import { gateway } from '../../services/gateway/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { launchBrowser, noBrowser, openPage, openProfile, signIn } from '../support/browser.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { lan, openHome, type Home } from '../support/gateway/phone.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { seriousFindings } from './axe.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const password = 'velvet-otter-93-lantern';
const newPassword = 'quiet-maple-17-harbor';

interface CreatedLink {
  readonly urls: readonly string[];
}

describe.skipIf(noBrowser)('one-time links on the pages', () => {
  let pages: Pages;
  let name = '';
  let count = 0;
  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control] });
  });
  afterAll(() => pages[Symbol.asyncDispose]());
  beforeEach(async () => {
    count += 1;
    name = `mia-${String(count)}`;
    await api(pages.url, '/api/accounts', { method: 'POST', body: JSON.stringify({ name, password }) });
  });

  const isHome = (page: Page): Promise<void> =>
    page.getByRole('heading', { name: frameMessages.homeTitle(), exact: true }).waitFor();
  const createReset = async (): Promise<string> =>
    (await api<CreatedLink>(pages.url, `/api/accounts/${name}/password-link`, { method: 'POST', body: '{}' }))
      .urls[0] ?? '';

  it('invites a person, who creates an account with the selected grants and is signed in', async () => {
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    await page.getByRole('button', { name: accountsMessages.invitePerson() }).click();
    const dialog = page.getByRole('dialog', { name: accountsMessages.invitePerson() });
    await dialog.getByRole('textbox', { name: accountsMessages.proposedName() }).fill(`guest-${String(count)}`);
    await dialog.getByRole('textbox', { name: grantsMessages.pattern() }).fill('home-*');
    await dialog.getByRole('button', { name: grantsMessages.add() }).click();
    await dialog.getByRole('table', { name: grantsMessages.grants() }).getByText('home-*').waitFor();
    await dialog.getByRole('button', { name: accountsMessages.createLink() }).click();
    await dialog.getByText(containing(accountsMessages.invitationCreated({ expires: anyText }))).waitFor();
    const link = (await dialog.locator('code').first().innerText()).replaceAll(/\s/g, '');
    expect(link).toMatch(/\/link#[\w-]{43}$/);
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: accountsMessages.done() }).click();
    await page
      .getByRole('list', { name: accountsMessages.unusedLinks() })
      .getByText(accountsMessages.invitationForName({ name: `guest-${String(count)}` }))
      .waitFor();

    await using guest = await openPage(pages.browser);
    const requested: string[] = [];
    guest.page.on('request', (request) => void requested.push(request.url()));
    await guest.page.goto(link);
    await guest.page.getByRole('heading', { name: accessMessages.createYourAccount() }).waitFor();
    expect(await guest.page.evaluate(() => location.href + JSON.stringify(history.state))).not.toContain('#');
    await guest.page.getByLabel(accessMessages.name()).fill(name);
    await guest.page.getByLabel(accessMessages.password(), { exact: true }).fill(password);
    await guest.page.getByRole('button', { name: accessMessages.makeTheAccount() }).click();
    await guest.page.getByText(accountProblems.accountExists({ name })).waitFor();
    await guest.page.getByLabel(accessMessages.name()).fill(`guest-${String(count)}`);
    await guest.page.getByRole('button', { name: accessMessages.makeTheAccount() }).click();
    await isHome(guest.page);
    const { accounts } = await api<{ accounts: Account[] }>(pages.url, '/api/accounts');
    expect(accounts.find((account) => account.name === `guest-${String(count)}`)).toMatchObject({
      role: 'user',
      grants: [{ service: 'push', resource: 'home-*', permission: 'read-write' }],
    });
    const token = link.split('#')[1] ?? '';
    expect([...requested, ...pages.host.log].filter((line) => line.includes(token))).toEqual([]);
    await page.getByRole('list', { name: accountsMessages.unusedLinks() }).waitFor({ state: 'detached' });
    expect(besidesRefusals([...visit.complaints, ...guest.complaints])).toEqual([]);
  });

  it('sets a new password with a link from the account page, once', async () => {
    await using visit = await pages.visit(`/settings/accounts/${name}`);
    const { page } = visit;
    await page.getByRole('button', { name: accountsMessages.createLink() }).click();
    const dialog = page.getByRole('dialog', { name: accountsMessages.passwordLinkFor({ name }) });
    await dialog.getByRole('button', { name: accountsMessages.createLink() }).click();
    const link = (await dialog.locator('code').first().innerText()).replaceAll(/\s/g, '');

    await using own = await openPage(pages.browser);
    await signIn(own.page.context(), pages.url, { name, password });
    await own.page.goto(pages.url);
    await isHome(own.page);
    await using other = await openPage(pages.browser);
    await other.page.goto(link);
    const heading = other.page.getByRole('heading', { name: accessMessages.setANewPassword() });
    await heading.waitFor();
    expect(await seriousFindings(other.page)).toEqual([]);
    await other.page.getByLabel(accessMessages.newPassword(), { exact: true }).fill('password123');
    await other.page.getByRole('button', { name: accessMessages.savePassword() }).click();
    await other.page.getByText(accountProblems.commonPassword()).waitFor();
    await other.page.getByLabel(accessMessages.newPassword(), { exact: true }).fill(newPassword);
    await other.page.keyboard.press('Enter');
    await isHome(other.page);
    // The session that was open is over.
    await own.page.getByText(accessMessages.signInAsNameAgain({ name })).waitFor();
    await using late = await openPage(pages.browser);
    await late.page.goto(link);
    await late.page.getByRole('alert').getByText(accountProblems.oneTimeLinkInvalid()).waitFor();
    expect(besidesRefusals([...visit.complaints, ...other.complaints, ...late.complaints])).toEqual([]);
  });

  it('revokes a link, and explains links that are incomplete', async () => {
    const link = await createReset();
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    const row = page
      .getByRole('list', { name: accountsMessages.unusedLinks() })
      .getByRole('listitem')
      .filter({ hasText: accountsMessages.newPasswordForName({ name }) });
    await row.getByRole('button', { name: accountsMessages.revoke() }).click();
    await row.getByRole('button', { name: accountsMessages.reallyRevoke() }).click();
    await row.waitFor({ state: 'detached' });
    await using other = await openPage(pages.browser);
    await other.page.goto(link);
    await other.page.getByText(accountProblems.oneTimeLinkInvalid()).waitFor();
    await other.page.goto(`${pages.url}/link`);
    await other.page.getByText(accessMessages.linkIncomplete()).waitFor();
    // A link that is pasted into the same tab is opened without a new document.
    const next = await createReset();
    await other.page.evaluate((address) => location.assign(address), next);
    await other.page.getByRole('heading', { name: accessMessages.setANewPassword() }).waitFor();
  });

  it('opens a link at the second attempt when the first one was throttled', async () => {
    const link = await createReset();
    await using other = await openPage(pages.browser);
    const { page } = other;
    const detail = accountProblems.tooManyAttempts({ seconds: 9 });
    await page.route('**/api/session/link', (route) =>
      route.fulfill({ status: 429, json: { error: { code: 'accounts.throttled', detail } } }),
    );
    await page.goto(link);
    await page.getByRole('alert').getByText(detail).waitFor();
    await page.getByRole('heading', { name: accessMessages.linkNotOpened() }).waitFor();
    await page.unroute('**/api/session/link');
    await page.getByRole('button', { name: partMessages.tryAgain() }).click();
    await page.getByRole('heading', { name: accessMessages.setANewPassword() }).waitFor();
  });

  it('fits every screen', async () => {
    const link = await createReset();
    for (const screen of screens) {
      await using visit = await pages.visit('/settings/accounts', screen);
      await visit.page.getByRole('list', { name: accountsMessages.unusedLinks() }).waitFor();
      await expectFits(visit, 'accounts-unused-links', screen);
      await using other = await openPage(pages.browser, screen);
      await other.page.goto(link);
      await other.page.getByRole('heading', { name: accessMessages.setANewPassword() }).waitFor();
      await expectFits(other, 'one-time-link', screen);
    }
  });

  it('refuses a link for the own account, and links from accounts without administration', async () => {
    const post = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${pages.url}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: '{}',
      });
    const basic = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    expect((await post('/api/account-links/invitations', { Authorization: basic })).status).toBe(403);
    expect((await post('/api/accounts/ada/password-link', { Authorization: basic })).status).toBe(403);
    const own = api(pages.url, '/api/accounts/ada/password-link', { method: 'POST', body: '{}' });
    await expect(own).rejects.toThrow('accounts.own_password_link');
  });
});

const lamp = fixtureService('lamp', () => ({
  http: (_request, response) => void response.setHeader('Content-Type', 'text/html').end('<h1>The lamp</h1>'),
}));

describe.skipIf(noBrowser)('one-time links through the gateway on a phone', () => {
  let home: Home;
  let browser: Browser;
  beforeAll(async () => {
    home = await openHome({ services: [lamp, inbox, control, gateway], settings: { shared: ['lamp'] } });
    browser = await launchBrowser('engine', [`--host-resolver-rules=MAP *.nas.local ${lan}, MAP nas.local ${lan}`]);
  });
  afterAll(async () => {
    await browser.close();
    await home[Symbol.asyncDispose]();
  });

  const invite = async (body: object): Promise<readonly string[]> =>
    (
      await api<CreatedLink>(home.host.url('control'), '/api/account-links/invitations', {
        method: 'POST',
        body: JSON.stringify(body),
      })
    ).urls;

  it('creates the account and signs in, although the app itself is not shared', async () => {
    const grants = [{ service: 'lamp', resource: '*', permission: 'read' }];
    const [link = '', local = ''] = await invite({ name: 'jo', grants });
    const base = `https://${lan}:${String(home.port)}`;
    expect(link).toMatch(/\/\.homeport\/link#[\w-]{43}$/);
    expect(new URL(link).origin).toBe(base);
    expect(local).toMatch(/^http:\/\/[^/]+\/link#/);
    await using context = await openProfile(browser, {
      ignoreHTTPSErrors: true,
      locale: 'en-GB',
      viewport: { width: 360, height: 740 },
    });
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole('heading', { name: gatewayTexts.invitationTitle() }).waitFor();
    expect(page.url()).not.toContain('#');
    expect(await page.getByLabel(gatewayTexts.name()).inputValue()).toBe('jo');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel(gatewayTexts.name()).fill('ada');
    await page.getByLabel(gatewayTexts.password()).fill(password);
    await page.getByRole('button', { name: gatewayTexts.createAccount() }).click();
    await page
      .getByRole('alert')
      .getByText(accountProblems.accountExists({ name: 'ada' }))
      .waitFor();
    await page.getByLabel(gatewayTexts.name()).fill('jo');
    await page.getByLabel(gatewayTexts.password()).fill(password);
    await page.getByRole('button', { name: gatewayTexts.createAccount() }).click();
    await page.getByRole('heading', { name: gatewayTexts.homeTitle() }).waitFor();
    await page.goto(`${base}/.homeport/session`);
    await page.getByText('jo', { exact: true }).waitFor();
    await page.goto(link);
    await page.getByRole('alert').getByText(accountProblems.oneTimeLinkInvalid()).waitFor();
  });

  it('leads to the app where that is shared, and shows a code to scan', async () => {
    await home.change({ shared: ['lamp', 'control'] });
    await using admin = await openPage(browser);
    await signIn(admin.page.context(), home.host.url('control'));
    await admin.page.goto(`${home.host.url('control')}/settings/accounts`);
    await admin.page.getByRole('button', { name: accountsMessages.invitePerson() }).click();
    await admin.page.getByRole('button', { name: accountsMessages.createLink() }).click();
    await admin.page.getByRole('img', { name: accountsMessages.linkQrLabel() }).waitFor();
    await expectFits(admin, 'invitation-code', screens[1]);
    const [link = ''] = await invite({});
    expect(link).toMatch(/^https:\/\/127\.0\.0\.2:\d+\/link#/);
    expect((await home.ask(link.split('#')[0] ?? '', { headers: { Accept: 'text/html' } })).status).toBe(200);
    await home.change({ shared: ['lamp'] });
  });

  it('refuses forms of other sites and wrong tokens', async () => {
    const send = (headers: Record<string, string>) =>
      home.ask('https://nas.local/.homeport/link', {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams({ token: 'C'.repeat(43) }).toString(),
      });
    expect((await send({ Origin: 'https://evil.example' })).status).toBe(403);
    const wrong = await send({ Origin: `https://nas.local:${String(home.port)}` });
    expect([wrong.status, wrong.body]).toEqual([403, expect.stringContaining(gatewayTexts.linkInvalidTitle())]);
  });
});
