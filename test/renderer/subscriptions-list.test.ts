import * as downloadsMessages from '#messages/downloads';
import * as frameMessages from '#messages/frame';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { subscriptionChanged, type Subscription } from '../../services/contracts/downloads/subscriptions.ts';
import { noBrowser } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const path = /api\/downloads\/subscriptions$/;

/** Serves subscriptions from a list in the test instead of the API. */
describe.skipIf(noBrowser)('The list of subscriptions', () => {
  let pages: Pages;
  let all: Subscription[];
  beforeEach(async () => {
    pages = await openPages();
    all = Array.from({ length: 3000 }, (_, index) => subscription(index + 1));
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  function subscription(number: number): Subscription {
    const now = Date.now();
    return {
      id: String(number),
      url: `https://videos.example/c/${String(number)}`,
      name: `Channel ${String(number)}`,
      enabled: number % 10 !== 0,
      intervalMinutes: 60,
      titleRegex: '',
      skipMembersOnly: true,
      folder: '',
      kind: 'video',
      quality: 'best',
      format: 'mp4',
      picture: false,
      seen: 30,
      checking: false,
      lastChecked: now,
      nextCheck: now + 3_600_000,
      lastFound: null,
      found: 0,
      error: number % 100 === 1 ? 'HTTP Error 404: Not Found' : null,
      failure: number % 100 === 1 ? ('not_found' as const) : undefined,
      failures: 0,
    };
  }
  async function open(query = '', screen = {}) {
    const browserPage = await pages.visit('/', screen);
    await browserPage.page.route(path, (route) => route.fulfill({ json: { subscriptions: all } }));
    await browserPage.page.goto(`${pages.url}/downloads/subscriptions${query}`);
    return browserPage;
  }
  const rows = (page: Page) =>
    page.getByRole('group', { name: downloadsMessages.subscriptions() }).getByRole('listitem');
  const names = (page: Page) => rows(page).getByRole('heading').allTextContents();

  it('scrolls through 3,000 subscriptions and searches them by a URL that can be bookmarked', async () => {
    await using browserPage = await open();
    const { page } = browserPage;
    await page.getByRole('heading', { name: 'Channel 1', exact: true }).waitFor();
    expect(await rows(page).count()).toBeLessThan(60);
    await page
      .getByRole('group', { name: downloadsMessages.subscriptions() })
      .evaluate((frame) => (frame.scrollTop = frame.scrollHeight));
    await page.getByRole('heading', { name: 'Channel 3000', exact: true }).waitFor();
    await page.getByLabel(downloadsMessages.searchTheSubscriptions()).fill('channel 290');
    await expect.poll(() => names(page)).toHaveLength(13);
    await page.waitForURL('**/subscriptions?q=channel+290');
    await page
      .getByLabel(downloadsMessages.show(), { exact: true })
      .selectOption(downloadsMessages.failingSubscriptions());
    await expect.poll(() => names(page)).toEqual(['Channel 2901']);
    await page.getByLabel(downloadsMessages.searchTheSubscriptions()).fill('nothing like it');
    await page.getByText(downloadsMessages.noSubscriptionFits()).waitFor();
    await page.getByRole('button', { name: downloadsMessages.showAll() }).click();
    await page.getByRole('heading', { name: 'Channel 1', exact: true }).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows changes that arrived while the list was loading', async () => {
    all.length = 1;
    await using browserPage = await open();
    const { page } = browserPage;
    await page.getByRole('heading', { name: 'Channel 1', exact: true }).waitFor();
    const requestStarted = Promise.withResolvers<undefined>();
    const sendReply = Promise.withResolvers<undefined>();
    await page.route(
      path,
      async (route) => {
        requestStarted.resolve(undefined);
        await sendReply.promise;
        await route.fulfill({ json: { subscriptions: all } });
      },
      { times: 1 },
    );
    await page.reload();
    await requestStarted.promise;
    pages.inbox.bus?.publish(subscriptionChanged, { ...subscription(1), name: 'Lighthouse' });
    // Both events are in the same stream, so that the former one has arrived as well.
    pages.inbox.add();
    await page.getByLabel(frameMessages.countUnread({ unread: 1 })).waitFor();
    sendReply.resolve(undefined);
    await page.getByRole('heading', { name: 'Lighthouse', exact: true }).waitFor();
  });

  it('reverts a switch that the API refuses and keeps other changes', async () => {
    all.length = 1;
    await using browserPage = await open();
    const { page } = browserPage;
    const requestStarted = Promise.withResolvers<undefined>();
    const sendReply = Promise.withResolvers<undefined>();
    await page.route(/subscriptions\/update$/, async (route) => {
      requestStarted.resolve(undefined);
      await sendReply.promise;
      await route.fulfill({ status: 503, json: { error: { code: 'x', detail: 'The disk is full.' } } });
    });
    await page.getByRole('switch', { name: downloadsMessages.checkName({ name: 'Channel 1' }) }).click();
    await requestStarted.promise;
    pages.inbox.bus?.publish(subscriptionChanged, { ...subscription(1), name: 'Lighthouse', enabled: false });
    await page.getByRole('heading', { name: 'Lighthouse', exact: true }).waitFor();
    sendReply.resolve(undefined);
    await page.getByText('The disk is full.').waitFor();
    const enabledSwitch = page.getByRole('switch', { name: downloadsMessages.checkName({ name: 'Lighthouse' }) });
    await expect.poll(() => enabledSwitch.getAttribute('aria-checked')).toBe('true');
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it.each([360, 700])('keeps the spacing of a failed subscription in a window %i px wide', async (width) => {
    await using browserPage = await open('', { width });
    const name = browserPage.page.getByRole('heading', { name: 'Channel 1', exact: true });
    await browserPage.page
      .getByRole('button', { name: `${downloadsMessages.changeTheAddress()}: Channel 1` })
      .waitFor();
    const [outer, inner] = await Promise.all([rows(browserPage.page).first().boundingBox(), name.boundingBox()]);
    expect((inner?.y ?? 0) - (outer?.y ?? 0)).toBeGreaterThanOrEqual(8);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await open('?q=channel+29', screen);
    await browserPage.page.getByRole('heading', { name: 'Channel 29', exact: true }).waitFor();
    await expectFits(browserPage, 'subscriptions-many', screen);
  });
});
