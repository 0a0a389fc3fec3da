import * as accessMessages from '#messages/access';
import * as accountsMessages from '#messages/accounts';
import * as downloadsMessages from '#messages/downloads';
import * as frameMessages from '#messages/frame';
import * as partsMessages from '#messages/parts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { admin, adminAuthorization } from '../support/host.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('first start', () => {
  it('creates the first account through the one-time link and opens Home', async () => {
    await using pages = await openPages({ administrator: false });
    const link = new URL((await pages.host.host.setupUrl()) ?? '');
    await using visit = await pages.visit(link.pathname + link.search, { signedIn: false });
    const { page } = visit;
    await page.getByRole('heading', { name: accessMessages.makeTheFirstAccount() }).waitFor();
    await page.getByLabel(accessMessages.name()).fill('grace');
    await page.getByLabel(accessMessages.password()).fill('short');
    await page.getByRole('button', { name: accessMessages.makeTheAccount() }).click();
    await page.getByText(/10/).last().waitFor();
    expect(await page.getByLabel(accessMessages.name()).inputValue()).toBe('grace');
    await page.getByLabel(accessMessages.password()).fill('long enough phrase');
    await page.getByRole('button', { name: accessMessages.makeTheAccount() }).click();
    await page.getByRole('heading', { name: accessMessages.chooseWhatRuns() }).waitFor();
    await page.getByText(accessMessages.selectSingleServices()).click();
    await page.getByRole('switch', { name: 'Moody' }).click();
    await expect.poll(() => page.getByRole('switch', { name: 'Moody' }).getAttribute('aria-checked')).toBe('false');
    await page.getByRole('switch', { name: accessMessages.backUpEveryDay() }).click();
    // The primary button is visible without scrolling.
    await page.setViewportSize({ width: 360, height: 420 });
    await page.evaluate(() => scrollTo(0, 0));
    const start = page.getByRole('button', { name: accessMessages.startUsingHomeport() });
    await expect
      .poll(() => start.evaluate((element) => element.getBoundingClientRect().bottom <= innerHeight))
      .toBe(true);
    await start.click();
    await page.getByRole('heading', { name: frameMessages.homeTitle(), exact: true }).waitFor();
    await expect.poll(() => page.url()).toBe(`${pages.url}/`);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Moody' })
      .getByText(partsMessages.off(), { exact: true })
      .waitFor();
    expect(readFileSync(join(pages.host.dataDir, 'homeport.yaml'), 'utf8')).toContain('backupEveryDays: 1');
    expect(besidesRefusals(visit.complaints)).toEqual([]);
    await page.goBack().catch(() => null);
    await expect.poll(() => page.url()).not.toContain('code=');
  });

  it('enables and disables the services of a group together', async () => {
    const lamps = ['lamp', 'beacon'].map((id) => ({ ...fixtureService(id), group: 'alerts' as const }));
    await using pages = await openPages({ also: lamps });
    await using visit = await pages.visit('/welcome');
    const { page } = visit;
    const group = page.getByRole('list', { name: accessMessages.serviceGroups() }).getByRole('listitem');
    await group.getByText('lamp and beacon').waitFor();
    expect(await group.count()).toBe(1);
    const control = group.getByRole('switch', { name: frameMessages.alertsGroup() });
    const getStates = () =>
      pages.host.host.control
        .services()
        .then((all) => all.filter(({ group: at }) => at === 'alerts').map(({ state }) => state));
    await control.click();
    await expect.poll(getStates).toEqual(['off', 'off']);
    await expect.poll(() => control.getAttribute('aria-checked')).toBe('false');
    await control.click();
    await expect.poll(getStates).toEqual(['up', 'up']);
    expect(visit.complaints).toEqual([]);
  });

  it('shows where to find the code when the link was not used', async () => {
    await using pages = await openPages({ administrator: false });
    await using visit = await pages.visit('/', { signedIn: false });
    // The first field has the focus.
    await visit.page.getByLabel(accessMessages.oneTimeCode()).waitFor();
    await visit.page.keyboard.type('guess');
    await visit.page.getByLabel(accessMessages.name()).fill('grace');
    await visit.page.getByLabel(accessMessages.password()).fill('long enough phrase');
    await visit.page.getByRole('button', { name: accessMessages.makeTheAccount() }).click();
    await visit.page.getByRole('alert').waitFor();
    expect(await visit.page.getByLabel(accessMessages.oneTimeCode()).inputValue()).toBe('guess');
  });
});

describe.skipIf(noBrowser)('sign-in page', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages();
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('rejects a wrong password, keeps the name, and opens the requested page after a sign-in', async () => {
    await using visit = await pages.visit('/downloads', { signedIn: false });
    const { page } = visit;
    await page.getByLabel(accessMessages.name()).fill(admin.name);
    await page.getByLabel(accessMessages.password()).fill('not it');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText(accessMessages.badCredentials()).waitFor();
    expect(await page.getByLabel(accessMessages.name()).inputValue()).toBe(admin.name);
    // Typing replaces the rejected input.
    await page.keyboard.type(admin.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: frameMessages.downloadsTitle(), exact: true }).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('ends the session in all windows at sign-out', async () => {
    await using visit = await pages.visit('/');
    const other = await visit.page.context().newPage();
    await other.goto(`${pages.url}/inbox`);
    await other.getByRole('heading', { name: frameMessages.inboxTitle(), exact: true }).waitFor();
    await visit.page.getByRole('button', { name: containing(frameMessages.signedInAsName({ name: anyText })) }).click();
    await visit.page.getByRole('menuitem', { name: accessMessages.signOut() }).click();
    await visit.page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
    await other.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
  });

  it('shows the next account nothing that the previous one left in the page', async () => {
    const { password } = admin;
    const grants = [{ service: 'downloads', resource: '*', permission: 'read-write' }];
    const body = JSON.stringify({ name: 'linus', password, grants });
    const headers = { 'content-type': 'application/json', authorization: adminAuthorization };
    expect((await fetch(`${pages.url}/api/accounts`, { method: 'POST', headers, body })).status).toBe(200);
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    const links = page.getByLabel(downloadsMessages.addressesOfVideos());
    await links.fill('https://example.org/private-film');
    await page.getByRole('button', { name: frameMessages.signedInAsName({ name: admin.name }) }).click();
    await page.getByRole('menuitem', { name: accessMessages.signOut() }).click();
    await page.getByLabel(accessMessages.name()).fill('linus');
    await page.getByLabel(accessMessages.password()).fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: frameMessages.signedInAsName({ name: 'linus' }) }).waitFor();
    expect(await links.inputValue()).toBe('');
    expect(visit.complaints).toEqual([]);
  });

  it('keeps the input of a dialog when the session ends, for the same account', async () => {
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    await page.getByRole('button', { name: accountsMessages.newAccount() }).click();
    const typed = page.locator('#new-name');
    await typed.fill('the-boat-in-the-shed');
    // The session is ended on another device; the live stream notifies this page.
    await page.evaluate(() =>
      fetch('/api/session', {
        method: 'DELETE',
        headers: { 'Homeport-Session': localStorage.getItem('homeport.session') ?? '' },
      }),
    );
    const signInDialog = page.getByRole('dialog', { name: accessMessages.signIn() });
    await signInDialog.getByLabel(accessMessages.name()).fill(admin.name);
    expect(await typed.isVisible()).toBe(false);
    await signInDialog.getByLabel(accessMessages.password()).fill(admin.password);
    await page.keyboard.press('Enter');
    await typed.waitFor();
    expect(await typed.inputValue()).toBe('the-boat-in-the-shed');
    await page
      .getByRole('dialog', { name: accountsMessages.newAccount() })
      .getByRole('button', { name: accountsMessages.cancel() })
      .click();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('shows that the session has ended, but not after a sign-out or at the first visit', async () => {
    const reason = /^Your session has expired\./;
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    await page.getByRole('button', { name: accountsMessages.newAccount() }).waitFor();
    const endSession = (): Promise<unknown> =>
      page.evaluate(() =>
        fetch('/api/session', {
          method: 'DELETE',
          headers: { 'Homeport-Session': localStorage.getItem('homeport.session') ?? '' },
        }),
      );
    await endSession();
    await page.getByRole('dialog', { name: accessMessages.signIn() }).getByText(reason).waitFor();
    // A later visit with the same browser.
    await page.reload();
    await page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
    await page.getByText(reason).waitFor();
    await page.getByLabel(accessMessages.name()).fill(admin.name);
    await page.getByLabel(accessMessages.password()).fill(admin.password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: containing(frameMessages.signedInAsName({ name: anyText })) }).click();
    await page.getByRole('menuitem', { name: accessMessages.signOut() }).click();
    await page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
    expect(await page.getByText(reason).count()).toBe(0);
    await using first = await pages.visit('/', { signedIn: false });
    await first.page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
    expect(await first.page.getByText(reason).count()).toBe(0);
  });

  it('ignores a late response about the previous session', async () => {
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    await page.getByRole('button', { name: accountsMessages.newAccount() }).click();
    await page.locator('#new-name').fill('the-boat-in-the-shed');
    const dialog = page.getByRole('dialog', { name: accountsMessages.newAccount() });
    await dialog.getByLabel(accessMessages.password()).fill('harbour light');
    const [requested, release] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let isFirst = true;
    await page.route('**/api/session', async (route) => {
      if (route.request().method() !== 'GET' || !isFirst) return route.continue();
      isFirst = false;
      const response = await route.fetch();
      requested.resolve(undefined);
      await release.promise;
      await route.fulfill({ response });
    });
    await page.evaluate(() =>
      fetch('/api/session', {
        method: 'DELETE',
        headers: { 'Homeport-Session': localStorage.getItem('homeport.session') ?? '' },
      }),
    );
    await requested.promise;
    // A request that is refused in the meantime leads to the sign-in before the other response arrives.
    await dialog.getByRole('button', { name: accessMessages.makeTheAccount() }).click();
    const signInDialog = page.getByRole('dialog', { name: accessMessages.signIn() });
    await signInDialog.getByLabel(accessMessages.name()).fill(admin.name);
    await signInDialog.getByLabel(accessMessages.password()).fill(admin.password);
    await page.keyboard.press('Enter');
    await signInDialog.waitFor({ state: 'detached' });
    const late = page.waitForResponse((response) => response.url().endsWith('/api/session'));
    release.resolve(undefined);
    await (await late).finished();
    await dialog.getByRole('button', { name: accountsMessages.cancel() }).click();
    await page
      .getByRole('navigation', { name: accessMessages.homeport(), exact: true })
      .getByRole('link', { name: frameMessages.inboxTitle() })
      .click();
    await page.getByRole('heading', { name: frameMessages.inboxTitle(), exact: true }).waitFor();
    expect(await signInDialog.count()).toBe(0);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('shows an error for a page that does not exist', async () => {
    await using visit = await pages.visit('/nowhere');
    await visit.page.getByText(partsMessages.pageNotFoundTitle()).waitFor();
    await visit.page.getByRole('link', { name: partsMessages.goToHome() }).click();
    await visit.page.getByRole('heading', { name: frameMessages.homeTitle(), exact: true }).waitFor();
    expect(visit.complaints).toEqual([]);
  });
});
