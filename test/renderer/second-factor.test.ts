import * as accountProblems from '#messages/account-problems';
import * as controlProblems from '#messages/control-problems';
import * as accessMessages from '#messages/access';
import * as accountsMessages from '#messages/accounts';
import * as frameMessages from '#messages/frame';
import * as secondFactorMessages from '#messages/second-factor';
import * as stateMessages from '#messages/state';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser, openPage, signIn, type PageOptions, type WatchedPage } from '../support/browser.ts';
import { anyCount, anyText, containing } from '../support/message-patterns.ts';
import { addAuthenticator, readCode } from '../support/second-factor.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const password = 'velvet-otter-93-lantern';

/** Reason for a refused code, with or without recovery codes. */
const wrongCode = new RegExp(
  [accountProblems.wrongAppCode(), accountProblems.wrongOrUsedCode()].map((text) => containing(text).source).join('|'),
);

describe.skipIf(noBrowser)('second factor in the browser', () => {
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

  /** Browsers create passkeys for names only, so the pages are opened at `localhost`. */
  const localhost = (): string => pages.url.replace('127.0.0.1', 'localhost');
  async function visit(path: string, accountName?: string, options: PageOptions = {}): Promise<WatchedPage> {
    const browserPage = await openPage(pages.browser, options);
    if (accountName !== undefined) await signIn(browserPage.page.context(), pages.url, { name: accountName, password });
    await browserPage.page.goto(`${localhost()}${path}`);
    return browserPage;
  }
  async function enterPassword(page: Page, entered = password): Promise<void> {
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(secondFactorMessages.yourPassword(), { exact: true }).fill(entered);
    await page.keyboard.press('Enter');
  }
  /** Sets up the authenticator app on the account page. */
  async function setUp(page: Page): Promise<{ secret: string; recoveryCodes: string[] }> {
    await page.getByRole('button', { name: secondFactorMessages.setUp() }).click();
    await enterPassword(page);
    const secret = await page.locator('.scan code').innerText();
    await page.getByLabel(secondFactorMessages.code()).fill(readCode(secret));
    await page.getByRole('button', { name: secondFactorMessages.enable() }).click();
    const codes = await page.getByRole('group', { name: secondFactorMessages.theRecoveryCodes() }).innerText();
    return { secret, recoveryCodes: codes.trim().split(/\s+/) };
  }
  async function signInByForm(page: Page): Promise<void> {
    await page.getByLabel(accessMessages.name()).fill(name);
    await page.getByLabel(accessMessages.password(), { exact: true }).fill(password);
    await page.getByRole('button', { name: accessMessages.signIn() }).click();
    await page.getByRole('heading', { name: accessMessages.confirmItIsYou() }).waitFor();
  }
  const isHome = (page: Page): Promise<void> =>
    page.getByRole('heading', { name: frameMessages.homeTitle(), exact: true }).waitFor();
  async function enterCode(page: Page, code: string): Promise<void> {
    await page.getByLabel(secondFactorMessages.code()).fill(code);
    await page.getByRole('button', { name: secondFactorMessages.continueLabel() }).click();
  }

  it('enables the second factor, and accepts each code and recovery code once', async () => {
    await using accountPage = await visit('/account', name);
    await accountPage.page.getByRole('button', { name: secondFactorMessages.setUp() }).click();
    await enterPassword(accountPage.page, 'not the password');
    await accountPage.page.getByText(controlProblems.wrongPassword()).waitFor();
    await accountPage.page.getByRole('button', { name: secondFactorMessages.cancel() }).click();
    await accountPage.page.getByRole('button', { name: secondFactorMessages.setUp() }).click();
    await enterPassword(accountPage.page);
    await accountPage.page.getByLabel(secondFactorMessages.code()).fill('000000');
    await accountPage.page.getByRole('button', { name: secondFactorMessages.enable() }).click();
    await accountPage.page.getByText(wrongCode).waitFor();
    await accountPage.page.getByRole('button', { name: secondFactorMessages.cancel() }).click();
    const { secret, recoveryCodes } = await setUp(accountPage.page);
    expect(recoveryCodes).toHaveLength(10);
    await accountPage.page.getByText(secondFactorMessages.codesRemaining({ count: 10 })).waitFor();

    await using other = await visit('/');
    await signInByForm(other.page);
    await enterCode(other.page, '000000');
    await other.page.getByRole('alert').getByText(wrongCode).waitFor();
    // The code of the app was used to set it up; that of the next half minute counts already.
    await enterCode(other.page, readCode(secret, 1));
    await isHome(other.page);

    const [first = ''] = recoveryCodes;
    await using third = await visit('/');
    await signInByForm(third.page);
    await enterCode(third.page, first.toUpperCase());
    await isHome(third.page);
    await using fourth = await visit('/');
    await signInByForm(fourth.page);
    await enterCode(fourth.page, first);
    await fourth.page.getByRole('alert').getByText(accountProblems.wrongOrUsedCode()).waitFor();
    await fourth.page.getByRole('button', { name: accessMessages.signInWithAnotherAccount() }).click();
    await fourth.page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();

    await accountPage.page.reload();
    await accountPage.page.getByText(secondFactorMessages.codesRemaining({ count: 9 })).waitFor();
    expect(besidesRefusals([...accountPage.complaints, ...other.complaints, ...fourth.complaints])).toEqual([]);
  });

  it('replaces the recovery codes after a code, and offers them as a file and for printing', async () => {
    await using accountPage = await visit('/account', name);
    const { page } = accountPage;
    const { recoveryCodes } = await setUp(page);
    await page.getByRole('button', { name: secondFactorMessages.iHaveSavedThem() }).click();
    await page.getByRole('button', { name: secondFactorMessages.newCodes() }).click();
    await page.getByRole('dialog').getByText(secondFactorMessages.newCodesReplace()).waitFor();
    const renewCodes = async (code: string): Promise<void> => {
      await page.getByLabel(secondFactorMessages.code(), { exact: true }).fill(code);
      await page.getByRole('button', { name: secondFactorMessages.createCodes() }).click();
    };
    await renewCodes('000000');
    await page.getByText(accountProblems.wrongAppCode()).waitFor();
    await renewCodes(recoveryCodes[0] ?? '');
    const group = page.getByRole('group', { name: secondFactorMessages.theRecoveryCodes() });
    const codes = (await group.innerText()).trim().split(/\s+/);
    expect(codes).toHaveLength(10);
    expect(codes.filter((code) => recoveryCodes.includes(code))).toEqual([]);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: secondFactorMessages.downloadCodes() }).click(),
    ]);
    const file = await text(await download.createReadStream());
    for (const code of [name, ...codes]) expect(file).toContain(code);
    await page.emulateMedia({ media: 'print' });
    expect(await group.isVisible()).toBe(true);
    expect(await page.getByRole('heading', { level: 1 }).first().isVisible()).toBe(false);
    await page.emulateMedia({ media: 'screen' });

    await using other = await visit('/');
    await signInByForm(other.page);
    await enterCode(other.page, recoveryCodes[1] ?? '');
    await other.page.getByRole('alert').getByText(wrongCode).waitFor();
    await enterCode(other.page, codes[0] ?? '');
    await isHome(other.page);
    expect(besidesRefusals([...accountPage.complaints, ...other.complaints])).toEqual([]);
  });

  it('throttles wrong codes and reports it', async () => {
    await using accountPage = await visit('/account', name);
    await setUp(accountPage.page);
    await using other = await visit('/');
    // The same client address as that of the guesses below.
    await other.page.goto(pages.url);
    await signInByForm(other.page);
    const ticket = other.page
      .waitForRequest((request) => request.url().endsWith('/api/session/second-step'))
      .then((request) => (request.postDataJSON() as { ticket: string }).ticket);
    await enterCode(other.page, '000000');
    await other.page.getByRole('alert').waitFor();
    // More concurrent guesses than may wait; the page then reports that there were too many.
    const guesses = new AbortController();
    const send = async (code: number): Promise<number> => {
      const body = JSON.stringify({ ticket: await ticket, code: String(code) });
      const headers = { 'Content-Type': 'application/json' };
      const init = { method: 'POST', headers, body, signal: guesses.signal };
      return (await fetch(`${pages.url}/api/session/second-step`, init)).status;
    };
    const refused = new Promise<void>((resolve) => {
      for (let code = 100_000; code < 100_020; code += 1) {
        void send(code).then(
          (status) => void (status === 429 && resolve()),
          () => undefined,
        );
      }
    });
    await refused;
    await enterCode(other.page, '000001');
    await other.page
      .getByRole('alert')
      .getByText(containing(accountProblems.tooManyAttempts({ seconds: anyCount })))
      .waitFor();
    guesses.abort();
    expect(await other.page.getByRole('heading', { name: frameMessages.homeTitle(), exact: true }).count()).toBe(0);
  });

  it('registers a passkey, signs in with it, and removes it', async () => {
    await using accountPage = await visit('/account', name);
    const { page } = accountPage;
    const key = await addAuthenticator(page);
    await setUp(page);
    await page.getByRole('button', { name: secondFactorMessages.iHaveSavedThem() }).click();
    await page.getByRole('button', { name: secondFactorMessages.addAPasskey() }).click();
    await enterPassword(page, 'not the password');
    await page.getByText(controlProblems.wrongPassword()).waitFor();
    expect(await key.credentials()).toBe(0);
    await enterPassword(page);
    const row = page
      .getByRole('list', { name: secondFactorMessages.secondFactors() })
      .getByRole('listitem')
      .filter({ hasText: containing(secondFactorMessages.passkeyDetails({ host: anyText })) });
    await row.getByText(containing(secondFactorMessages.passkeyDetails({ host: 'localhost' }))).waitFor();
    expect(await key.credentials()).toBe(1);

    await page.getByRole('button', { name: accountsMessages.signOut(), exact: true }).first().click();
    await page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
    await signInByForm(page);
    await page.getByRole('button', { name: accessMessages.useAPasskeyInstead() }).click();
    await page.getByRole('button', { name: frameMessages.signedInAsName({ name }) }).waitFor();

    await page.goto(`${localhost()}/account`);
    await row.getByText(containing(secondFactorMessages.usedPasskeyDetails({ host: anyText }))).waitFor();
    await row.getByRole('button', { name: secondFactorMessages.remove() }).click();
    await enterPassword(page);
    await page.getByText(secondFactorMessages.passkeyRemoved()).waitFor();
    await expect.poll(() => row.count()).toBe(0);
    await using other = await visit('/');
    await signInByForm(other.page);
    expect(await other.page.getByRole('button', { name: accessMessages.useAPasskeyInstead() }).count()).toBe(0);
    expect(besidesRefusals(accountPage.complaints)).toEqual([]);
  });

  it('refuses a passkey that the browser does not confirm, and accepts a code instead', async () => {
    await using accountPage = await visit('/account', name);
    const { page } = accountPage;
    const key = await addAuthenticator(page);
    const { recoveryCodes } = await setUp(page);
    await page.getByRole('button', { name: secondFactorMessages.addAPasskey() }).click();
    await enterPassword(page);
    await page.getByText(containing(secondFactorMessages.passkeyDetails({ host: 'localhost' }))).waitFor();
    await page.getByRole('button', { name: accountsMessages.signOut(), exact: true }).first().click();
    await signInByForm(page);
    await key.decline();
    await page.getByRole('button', { name: accessMessages.useAPasskeyInstead() }).click();
    await page.getByRole('alert').getByText(stateMessages.passkeyNotConfirmed()).waitFor();
    await enterCode(page, recoveryCodes[1] ?? '');
    await page.getByRole('button', { name: frameMessages.signedInAsName({ name }) }).waitFor();
  });

  it('explains at an IP address how to add a passkey, and offers none', async () => {
    await using accountPage = await visit('/account', name);
    await setUp(accountPage.page);
    await accountPage.page.goto(`${pages.url}/account`);
    await accountPage.page.getByText(secondFactorMessages.passkeysUnavailable(), { exact: false }).waitFor();
    expect(await accountPage.page.getByRole('button', { name: secondFactorMessages.addAPasskey() }).count()).toBe(0);
  });

  it('disables the second factor and its passkeys with a code', async () => {
    await using accountPage = await visit('/account', name);
    const { page } = accountPage;
    const { recoveryCodes } = await setUp(page);
    await page.getByRole('button', { name: secondFactorMessages.disable() }).click();
    const dialog = page.getByRole('dialog', { name: secondFactorMessages.disableQuestion() });
    await dialog.getByLabel(secondFactorMessages.code()).fill('abcdefgh');
    await dialog.getByRole('button', { name: secondFactorMessages.disable() }).click();
    await dialog.getByText(wrongCode).waitFor();
    await dialog.getByLabel(secondFactorMessages.code()).fill(recoveryCodes[0] ?? '');
    await dialog.getByRole('button', { name: secondFactorMessages.disable() }).click();
    await page.getByRole('button', { name: secondFactorMessages.setUp() }).waitFor();
    await using other = await visit('/', name);
    await isHome(other.page);
  });

  it('shows that the status cannot be loaded, and retries', async () => {
    await using accountPage = await visit('/', name);
    const { page } = accountPage;
    await page.route('**/api/account/second-factor', (route) => route.abort());
    await page.goto(`${localhost()}/account`);
    await page.getByRole('alert').getByText(stateMessages.offline(), { exact: false }).waitFor();
    await page.unroute('**/api/account/second-factor');
    await page.getByRole('button', { name: secondFactorMessages.tryAgain() }).click();
    await page.getByRole('button', { name: secondFactorMessages.setUp() }).waitFor();
  });

  it('resets the second factor as an administrator, which ends all sessions of the account', async () => {
    await using accountPage = await visit('/account', name);
    await setUp(accountPage.page);
    await using administrator = await pages.visit(`/settings/accounts/${name}`);
    const { page } = administrator;
    const row = page
      .getByRole('list', { name: accountsMessages.signIn() })
      .getByRole('listitem')
      .filter({ hasText: secondFactorMessages.twoStepSignIn() });
    await row.getByRole('button', { name: accountsMessages.reset() }).click();
    const dialog = page.getByRole('dialog', { name: accountsMessages.resetQuestion({ name }) });
    await dialog.getByRole('button', { name: secondFactorMessages.cancel() }).click();
    await row.getByText('Enabled.', { exact: false }).waitFor();
    await row.getByRole('button', { name: accountsMessages.reset() }).click();
    await dialog.getByRole('button', { name: accountsMessages.resetTwoStepSignIn() }).click();
    await page.getByText(accountsMessages.secondFactorReset({ name })).waitFor();
    await row.getByText('Disabled.', { exact: false }).waitFor();
    const signInDialog = accountPage.page.getByRole('dialog', { name: frameMessages.signIn() });
    await signInDialog.getByLabel(accessMessages.name()).fill(name);
    await signInDialog.getByLabel(accessMessages.password(), { exact: true }).fill(password);
    await accountPage.page.keyboard.press('Enter');
    await accountPage.page.getByRole('button', { name: secondFactorMessages.setUp() }).waitFor();

    await page.getByRole('button', { name: accountsMessages.signOutEverywhere() }).click();
    await page.getByRole('button', { name: accountsMessages.reallySignOut() }).click();
    await page.getByText(accountsMessages.signedOutOfBrowsers({ name, count: 1 })).waitFor();
    await signInDialog.waitFor();
    expect(administrator.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using accountPage = await visit('/account', name, screen);
    const { page } = accountPage;
    await addAuthenticator(page);
    await page.getByRole('button', { name: secondFactorMessages.setUp() }).click();
    await page.getByLabel(secondFactorMessages.yourPassword(), { exact: true }).waitFor();
    await expectFits(accountPage, 'second-factor-password', screen);
    await enterPassword(page);
    await page.getByLabel(secondFactorMessages.code()).waitFor();
    await expectFits(accountPage, 'second-factor-scan', screen);
    await page.getByRole('button', { name: secondFactorMessages.cancel() }).click();
    const { recoveryCodes } = await setUp(page);
    await expectFits(accountPage, 'second-factor-codes', screen);
    await page.getByRole('button', { name: secondFactorMessages.addAPasskey() }).click();
    await enterPassword(page);
    await page.getByText(containing(secondFactorMessages.passkeyDetails({ host: 'localhost' }))).waitFor();
    await page.getByRole('button', { name: secondFactorMessages.iHaveSavedThem() }).click();
    await expectFits(accountPage, 'second-factor-enabled', screen);
    await page.getByRole('button', { name: secondFactorMessages.disable() }).click();
    await page.getByRole('dialog', { name: secondFactorMessages.disableQuestion() }).waitFor();
    await expectFits(accountPage, 'second-factor-disable', screen);
    await using administrator = await pages.visit(`/settings/accounts/${name}`, screen);
    await administrator.page.getByRole('button', { name: accountsMessages.reset() }).waitFor();
    await expectFits(administrator, 'account-of-a-person', screen);
    await administrator.page.getByRole('button', { name: accountsMessages.reset() }).click();
    await administrator.page.getByRole('dialog').waitFor();
    await expectFits(administrator, 'second-factor-reset', screen);
    await using second = await visit('/', undefined, screen);
    await signInByForm(second.page);
    await expectFits(second, 'second-step', screen);
    expect(recoveryCodes).toHaveLength(10);
  });
});
