import * as controlProblems from '#messages/control-problems';
import * as accountsMessages from '#messages/accounts';
import * as secondFactorMessages from '#messages/second-factor';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser, openPage, signIn } from '../support/browser.ts';
import { createFakeClock } from '../support/clock.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const mia = { name: 'mia', password: 'velvet-otter-93-lantern' };

describe.skipIf(noBrowser)('own sessions in the browser', () => {
  const clock = createFakeClock(Date.now());
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control], clock });
    await api(pages.url, '/api/accounts', { method: 'POST', body: JSON.stringify(mia) });
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('requires the password to sign out other browsers some minutes after the sign-in', async () => {
    await api(pages.url, '/api/session', { method: 'POST', body: JSON.stringify(mia) });
    await using accountPage = await openPage(pages.browser);
    const { page } = accountPage;
    await signIn(page.context(), pages.url, mia);
    await page.goto(`${pages.url}/account`);
    const signedIn = page.getByRole('list', { name: accountsMessages.signedIn() }).getByRole('listitem');
    await signedIn.nth(1).waitFor();
    clock.advance(6 * 60_000);
    await page.getByRole('button', { name: accountsMessages.signOutAllOthers() }).click();
    await page.getByRole('button', { name: accountsMessages.reallySignOutAll() }).click();
    const dialog = page.getByRole('dialog', { name: accountsMessages.signOutOtherBrowsers() });
    await dialog.getByLabel(secondFactorMessages.yourPassword(), { exact: true }).fill('not the password');
    await page.keyboard.press('Enter');
    await dialog.getByText(controlProblems.wrongPassword()).waitFor();
    await dialog.getByLabel(secondFactorMessages.yourPassword(), { exact: true }).fill(mia.password);
    await page.keyboard.press('Enter');
    await page.getByText(accountsMessages.sessionsSignedOut({ count: 1 })).waitFor();
    await expect.poll(() => signedIn.count()).toBe(1);
    expect(besidesRefusals(accountPage.complaints)).toEqual([]);
  });
});
