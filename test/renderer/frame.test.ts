import * as logMessages from '#messages/log';
import * as notifyMessages from '#messages/notify';
import * as downloadsMessages from '#messages/downloads';
import * as frameMessages from '#messages/frame';
import * as homeMessages from '#messages/home';
import * as partsMessages from '#messages/parts';
import * as settingsMessages from '#messages/settings';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceChanged } from '../../services/contracts/control/api.ts';
import { gateway } from '../../services/gateway/index.ts';
import { noBrowser, openPage } from '../support/browser.ts';
import { openTestHost } from '../support/host.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { openRealServices, type RealServices } from './real-services.ts';
import { screens } from './screens.ts';
import { signIn } from '../support/browser.ts';
import { openPages } from './visit.ts';

describe.skipIf(noBrowser)('the sidebar', () => {
  let real: RealServices;
  beforeAll(async () => {
    real = await openRealServices();
  });
  afterAll(() => real[Symbol.asyncDispose]());

  const rail = (page: Page) => page.getByRole('navigation', { name: frameMessages.homeport(), exact: true });
  const rows = (page: Page): Promise<readonly string[]> =>
    rail(page)
      .getByRole('listitem')
      .getByRole('link')
      .evaluateAll((links) =>
        links.filter((link) => link.checkVisibility()).map((link) => link.getAttribute('title') ?? ''),
      );

  it('groups existing services, and leaves out the others', async () => {
    await using browserPage = await real.visit('/');
    const { page } = browserPage;
    await expect.poll(() => rows(page)).toEqual(['Home', 'Inbox', 'Messages', 'Delivery', 'Settings']);
    expect(await rail(page).getByRole('heading').allInnerTexts()).toEqual(['Alerts']);
    // Home shows the status of services in its rows, other pages in the sidebar.
    await rail(page).getByRole('link', { name: frameMessages.settingsTitle() }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(
      await rail(page)
        .getByRole('link', {
          name: containing(`${frameMessages.deliveryTitle()}${anyText}${frameMessages.statusUp()}`),
        })
        .count(),
    ).toBe(1);
    expect(browserPage.complaints).toEqual([]);
  });

  it('lists Network in the footer next to Settings, and redirects its former path', async () => {
    await using pages = await openPages({ also: [gateway] });
    await using browserPage = await pages.visit('/settings/network');
    const { page } = browserPage;
    await page.waitForURL(`${pages.url}/network`);
    await page.getByRole('heading', { level: 1, name: frameMessages.networkTitle() }).waitFor();
    await expect.poll(async () => (await rows(page)).slice(-2)).toEqual(['Network', 'Settings']);
    expect(browserPage.complaints).toEqual([]);
  });

  it('folds a group, pins a row, and stores both', async () => {
    await using browserPage = await real.visit('/');
    const { page } = browserPage;
    const alerts = rail(page).getByRole('button', { name: frameMessages.alertsGroup() });
    await page.getByRole('button', { name: frameMessages.pinTitleTop({ title: 'Delivery' }) }).click();
    await expect.poll(() => rows(page)).toEqual(['Home', 'Inbox', 'Delivery', 'Messages', 'Settings']);
    await alerts.click();
    await expect.poll(() => rows(page)).toEqual(['Home', 'Inbox', 'Delivery', 'Settings']);
    await page.reload();
    await expect.poll(() => rows(page)).toEqual(['Home', 'Inbox', 'Delivery', 'Settings']);
    expect(await alerts.getAttribute('aria-expanded')).toBe('false');
    await page.getByRole('button', { name: frameMessages.pinTitleTop({ title: 'Delivery' }) }).press('Enter');
    await alerts.press('Enter');
    await expect.poll(() => rows(page)).toEqual(['Home', 'Inbox', 'Messages', 'Delivery', 'Settings']);
    expect(browserPage.complaints).toEqual([]);
  });

  it('opens the account menu, also by keyboard', async () => {
    await using browserPage = await real.visit('/');
    const { page } = browserPage;
    await page.getByRole('button', { name: frameMessages.signedInAsName({ name: 'ada' }) }).press('Enter');
    await page.getByRole('menuitem', { name: frameMessages.accountTitle() }).press('Enter');
    await page.getByRole('heading', { level: 1, name: frameMessages.accountTitle() }).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('removes a service that is switched off, which can then be added', async () => {
    await using pages = await openPages();
    await using browserPage = await pages.visit('/');
    const { page } = browserPage;
    await page.getByRole('button', { name: homeMessages.addressAndSwitchOfTitle({ title: 'Downloads' }) }).click();
    await page.getByRole('switch', { name: homeMessages.titleOn({ title: 'Downloads' }) }).click();
    await page.getByRole('link', { name: frameMessages.addAService() }).click();
    await expect.poll(() => rows(page)).toEqual(['Home', 'Inbox', 'Settings']);
    await page.getByRole('list', { name: frameMessages.servicesThatAreOff() }).getByText('Fetches videos.').waitFor();
    await page
      .getByRole('button', { name: frameMessages.enableTitle({ title: frameMessages.downloadsTitle() }) })
      .click();
    await page.getByRole('heading', { level: 1, name: frameMessages.downloadsTitle() }).waitFor();
    await expect.poll(() => rows(page)).toEqual(['Home', 'Inbox', 'Downloads', 'Settings']);
    expect(await page.getByRole('link', { name: frameMessages.addAService() }).count()).toBe(0);
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows the status of a service as text', async () => {
    await using pages = await openPages();
    await using browserPage = await pages.visit('/inbox');
    const { page } = browserPage;
    await rail(page)
      .getByRole('link', { name: containing(`${frameMessages.downloadsTitle()}${anyText}${frameMessages.statusUp()}`) })
      .waitFor();
    pages.inbox.bus?.publish(serviceChanged, {
      id: 'downloads',
      title: 'Downloads',
      summary: 'Fetches videos.',
      state: 'failed',
      detail: '',
      reason: 'Its disk is full.',
      address: null,
      port: null,
      suggestedPort: null,
      listeners: [],
      grantable: [],
    });
    await rail(page)
      .getByRole('link', {
        name: containing(`${frameMessages.downloadsTitle()}${anyText}${frameMessages.statusFailed()}`),
      })
      .waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('becomes a bar on a phone: Home, Inbox, a selected page, More', async () => {
    await using browserPage = await real.visit('/', { width: 360, height: 740, touch: true });
    const { page } = browserPage;
    const bar = (): Promise<readonly string[]> =>
      rail(page)
        .getByRole('link')
        .evaluateAll((links) =>
          links.filter((link) => link.checkVisibility()).map((link) => link.querySelector('.label')?.textContent ?? ''),
        );
    await expect.poll(bar).toEqual(['Home', 'Inbox', 'Messages', 'More']);
    await page.getByRole('link', { name: frameMessages.more() }).click();
    // Devices without a keyboard open the palette with this button only.
    await page.getByRole('button', { name: frameMessages.findHint() }).click();
    await page.getByRole('combobox', { name: frameMessages.commandsPrompt() }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: frameMessages.putTitleBar({ title: 'Delivery' }) }).click();
    await expect.poll(bar).toEqual(['Home', 'Inbox', 'Delivery', 'More']);
    await rail(page).getByRole('link', { name: frameMessages.deliveryTitle() }).click();
    await page.getByRole('heading', { level: 1, name: frameMessages.deliveryTitle() }).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('does not hide a focused element behind the bar on a phone', async () => {
    await using browserPage = await real.visit('/', { width: 360, height: 740 });
    const { page } = browserPage;
    const last = page.getByRole('button', { name: homeMessages.addressAndSwitchOfTitle({ title: 'Delivery' }) });
    await last.waitFor();
    const box = await last.boundingBox();
    if (box === null) throw new Error('it is not drawn');
    // Just high enough to count as visible for the browser, behind the bar.
    await page.setViewportSize({ width: 360, height: Math.ceil(box.y + box.height + 4) });
    await page.evaluate(() => scrollTo(0, 0));
    await last.locator('xpath=preceding::*[self::a or self::button][1]').focus();
    await page.keyboard.press('Tab');
    expect(await last.evaluate((button) => button === document.activeElement)).toBe(true);
    const bar = await rail(page).boundingBox();
    const lastBox = await last.boundingBox();
    expect(lastBox && bar && lastBox.y + lastBox.height <= bar.y).toBe(true);
  });

  it('shows a skeleton with the title while the code of a page is loading', async () => {
    await using browserPage = await real.visit('/mark.svg');
    const { page } = browserPage;
    const release = Promise.withResolvers<undefined>();
    await page.route(/assets\/Log-.*\.js$/, async (route) => {
      await release.promise;
      await route.continue();
    });
    await page.goto(`${real.host.url('control')}/settings/log`);
    await page.getByRole('status', { name: partsMessages.loadingSubject({ subject: 'the page' }) }).waitFor();
    await page.getByRole('heading', { level: 1, name: frameMessages.logTitle() }).waitFor();
    release.resolve(undefined);
    await page.getByRole('region', { name: logMessages.lines() }).waitFor();
    expect(
      await page.getByRole('status', { name: partsMessages.loadingSubject({ subject: 'the page' }) }).count(),
    ).toBe(0);
    expect(browserPage.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    for (const [name, path, heading] of [
      ['frame-delivery', '/delivery', 'Delivery'],
      ['frame-more', '/more', 'More'],
      ['frame-settings', '/settings/problems', 'Problems'],
      ['frame-tab', '/push/settings', 'Messages'],
    ] as const) {
      await using browserPage = await real.visit(path, screen);
      await browserPage.page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await expectFits(browserPage, name, screen);
    }
  });
});

describe.skipIf(noBrowser)('paths', () => {
  it('redirects former paths, and reports unknown ones', async () => {
    await using host = await openTestHost();
    await using pages = await openPages();
    await using browserPage = await openPage(pages.browser);
    const { page } = browserPage;
    const url = host.url('control');
    await signIn(page.context(), url);
    for (const [before, now] of [
      ['/accounts?account=ada', '/settings/accounts/ada'],
      ['/given-up', '/settings/problems'],
      ['/mail/connect', '/delivery/connect'],
    ] as const) {
      await page.goto(`${url}${before}`);
      await expect.poll(() => new URL(page.url()).pathname).toBe(now);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    for (const wrong of ['/nowhere', '/downloads/nothing', '/more/x']) {
      await page.goto(`${url}${wrong}`);
      await page.getByText(partsMessages.pageNotFoundTitle()).waitFor();
    }
    await page.goto(`${url}/settings/nothing`);
    await page.getByRole('heading', { name: settingsMessages.settingsNotFound() }).waitFor();
    await page.goto(`${url}/delivery/keys/nobody`);
    await page.getByRole('heading', { name: notifyMessages.keyNotFound() }).waitFor();
    await page.goto(`${url}/downloads/subscriptions/nobody`);
    await page.getByRole('heading', { name: downloadsMessages.subscriptionNotFound() }).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });
});
