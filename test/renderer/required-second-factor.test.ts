import * as accessMessages from '#messages/access';
import * as accountsMessages from '#messages/accounts';
import * as frameMessages from '#messages/frame';
import * as secondFactorMessages from '#messages/second-factor';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser, openPage, signIn, type PageOptions, type WatchedPage } from '../support/browser.ts';
import { admin } from '../support/host.ts';
import { containing } from '../support/message-patterns.ts';
import { readCode } from '../support/second-factor.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const password = 'velvet-otter-93-lantern';

describe.skipIf(noBrowser)('the page of the required second factor', () => {
  let pages: Pages;
  let headers: Record<string, string>;
  let name = '';
  let count = 0;
  beforeAll(async () => {
    pages = await openPages({ services: [push, control] });
    const path = `/api/accounts/${admin.name}/tokens`;
    const { text } = await api<{ text: string }>(pages.url, path, { method: 'POST', body: '{}' });
    headers = { Authorization: `Bearer ${text}` };
  });
  afterAll(() => pages[Symbol.asyncDispose]());
  beforeEach(async () => {
    count += 1;
    name = `mia-${String(count)}`;
    await api(pages.url, '/api/accounts', { method: 'POST', headers, body: JSON.stringify({ name, password }) });
    await setRequirement('everybody');
  });

  async function setRequirement(requireSecondFactor: string): Promise<void> {
    await api(pages.url, '/api/settings/host', {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ requireSecondFactor }),
    });
  }
  async function visit(path: string, options: PageOptions = {}): Promise<WatchedPage> {
    const browserPage = await openPage(pages.browser, options);
    await browserPage.page.goto(`${pages.url}${path}`);
    return browserPage;
  }
  async function signInByForm(page: Page): Promise<void> {
    await page.getByLabel(accessMessages.name()).fill(name);
    await page.getByLabel(accessMessages.password(), { exact: true }).fill(password);
    await page.getByRole('button', { name: accessMessages.signIn() }).click();
    await heading(page).waitFor();
  }
  const heading = (page: Page) => page.getByRole('heading', { name: secondFactorMessages.setUpTwoStep(), level: 1 });
  const isHome = (page: Page): Promise<void> =>
    page.getByRole('heading', { name: frameMessages.homeTitle(), exact: true }).waitFor();
  async function setUp(page: Page): Promise<void> {
    await page.getByRole('button', { name: secondFactorMessages.setUp() }).click();
    await page.getByRole('dialog').getByLabel(secondFactorMessages.yourPassword(), { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    const secret = await page.locator('.scan code').innerText();
    await page.getByLabel(secondFactorMessages.code()).fill(readCode(secret));
    await page.getByRole('button', { name: secondFactorMessages.enable() }).click();
    await page.getByText(containing(secondFactorMessages.saveCodesHint())).waitFor();
  }

  it('leads from the sign-in through the enrolment to the requested page', async () => {
    await using own = await visit('/account');
    const { page } = own;
    await signInByForm(page);
    await page.getByText(containing(accessMessages.secondStepRequired({ name })), { exact: false }).waitFor();
    await page.reload();
    await heading(page).waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    await setUp(page);
    await page.getByRole('button', { name: secondFactorMessages.iHaveSavedThem() }).click();
    await page.getByText(secondFactorMessages.codesRemaining({ count: 10 })).waitFor();
    await page.getByRole('heading', { name: accountsMessages.yourAccount() }).waitFor();
    expect(besidesRefusals(own.complaints)).toEqual([]);
  });

  it('replaces an open page when the administrator sets the requirement, and has a sign-out', async () => {
    await setRequirement('off');
    await using own = await openPage(pages.browser);
    const { page } = own;
    await signIn(page.context(), pages.url, { name, password });
    await page.goto(`${pages.url}/`);
    await isHome(page);
    await setRequirement('everybody');
    await page.getByRole('button', { name: frameMessages.signedInAsName({ name }) }).click();
    await page.getByRole('menuitem', { name: accountsMessages.yourAccount() }).click();
    await heading(page).waitFor();
    await page.getByRole('button', { name: accountsMessages.signOut() }).click();
    await page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using own = await visit('/', screen);
    await signInByForm(own.page);
    await own.page.getByRole('button', { name: secondFactorMessages.setUp() }).waitFor();
    await expectFits(own, 'required-second-factor', screen);
    await setUp(own.page);
    await expectFits(own, 'required-second-factor-codes', screen);
  });
});
