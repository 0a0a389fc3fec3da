import * as partsMessages from '#messages/parts';
import * as homeMessages from '#messages/home';
import * as frameMessages from '#messages/frame';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pages } from '../../renderer/src/pages/index.ts';
import { noBrowser, openPage, getBrowser, signIn } from '../support/browser.ts';
import { openHousehold } from '../household/household.ts';
import type { TestHost } from '../support/host.ts';
import { startingWith } from '../support/message-patterns.ts';
import { testPageLanguages } from './page-languages.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

/** Features that need the extractor or a day of requests are covered by other tests. */
const parts = ['accounts', 'network', 'messages', 'delivery', 'streaming', 'uptime', 'sync', 'code', 'databases'];
const visiblePages = pages
  .filter(({ group }) => group !== 'hidden')
  .map(({ path, group, title }) => ({ path, group, title: title() }));

/** The settings open with their first page. */
const getHeading = ({ at: path, title }: { at: string; title: string }): string =>
  path === 'settings' ? 'General' : title;

describe.skipIf(noBrowser)('all pages of the app with a month of data', () => {
  let host: TestHost;
  let browser: Browser;
  beforeAll(async () => {
    const built = process.env['HOMEPORT_TEST_PAGES'];
    [host, browser] = await Promise.all([
      openHousehold({ only: parts, ...(built ? { pages: built } : {}) }),
      getBrowser(),
    ]);
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
  });

  describe.each(screens)('on $on', (screen) => {
    it.each(visiblePages)('fits, is accessible and logs no errors: $title', async ({ path, title }) => {
      await using visit = await openPage(browser, screen);
      const { page } = visit;
      await signIn(page.context(), host.url('control'));
      await page.goto(`${host.url('control')}/${path}`);
      await page.getByRole('heading', { level: 1, name: getHeading({ at: path, title }), exact: true }).waitFor();
      await page
        .getByRole('status', { name: startingWith(partsMessages.loadingSubject({ subject: '' })) })
        .waitFor({ state: 'detached' });
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      await expectFits(visit, `every-${path}`, screen);
    });
  });

  testPageLanguages(() => host);

  it('lists services in the order of the sidebar everywhere', async () => {
    await using visit = await openPage(browser);
    const { page } = visit;
    await signIn(page.context(), host.url('control'));
    await page.goto(host.url('control'));
    const expectedNames = ['Downloads', 'Streaming', 'Messages', 'Delivery', 'Uptime', 'Sync', 'Code'];
    const order = (text: string): readonly string[] => text.split('\n').filter((line) => expectedNames.includes(line));
    const services = page.getByRole('region', { name: homeMessages.services(), exact: true });
    await services.getByText(frameMessages.gitTitle(), { exact: true }).waitFor();
    expect(order(await services.innerText())).toEqual(expectedNames);
    await page.goto(`${host.url('control')}/settings`);
    const sections = page.getByRole('navigation', { name: frameMessages.sections() });
    await sections.getByRole('link', { name: frameMessages.gitTitle() }).waitFor();
    expect(order(await sections.innerText())).toEqual(expectedNames);
  });

  it.each(visiblePages.filter(({ group }) => group !== 'account'))(
    'can be reached by keyboard: $title',
    async ({ path, title }) => {
      await using visit = await openPage(browser);
      const { page } = visit;
      await signIn(page.context(), host.url('control'));
      await page.goto(`${host.url('control')}/settings/log`);
      await page.getByRole('navigation', { name: frameMessages.homeport() }).getByRole('link').first().waitFor();
      const expectedPath = `/${path}`;
      let reached = '';
      // The logo links to Home as well; twice the length of the sidebar is enough.
      for (let step = 0; step < 2 * visiblePages.length + 10 && reached !== expectedPath; step += 1) {
        await page.keyboard.press('Tab');
        reached = await page.evaluate(() => document.activeElement?.getAttribute('href') ?? '');
      }
      expect(reached).toBe(expectedPath);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: getHeading({ at: path, title }), exact: true }).waitFor();
    },
  );
});
