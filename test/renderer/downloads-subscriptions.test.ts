import * as downloadsProblems from '#messages/downloads-problems';
import * as downloadsMessages from '#messages/downloads';
import * as partsMessages from '#messages/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { control } from '../../services/control/index.ts';
import { downloads } from '../../services/downloads/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { requireEngines } from '../services/downloads/rig.ts';
import { noBrowser } from '../support/browser.ts';
import { startFixtureSite, type FixtureSite } from '../support/fixture-site/site.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyText, containing, matching } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('Subscriptions', () => {
  let pages: Pages;
  let site: FixtureSite;
  beforeAll(async () => {
    await requireEngines();
    site = await startFixtureSite();
    pages = await openPages({
      services: [downloads, inbox, control],
      environment: { ALLOW_PRIVATE_ADDRESSES: 'true' },
    });
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  async function api(path: string, body: object): Promise<any> {
    const reply = await fetch(`${pages.url}/api/downloads/${path}`, {
      method: 'POST',
      headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return await reply.json();
  }

  function row(page: Page, name: string) {
    return page.getByRole('listitem').filter({ has: page.getByRole('button', { name, exact: true }) });
  }

  it('subscribes to a pasted address with a preview of the filter', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page
      .getByRole('navigation', { name: downloadsMessages.downloads() })
      .getByRole('link', { name: downloadsMessages.subscriptions() })
      .click();
    await page.getByText(downloadsMessages.noSubscriptionsTitle()).waitFor();
    await page.getByRole('button', { name: downloadsMessages.subscribe(), exact: true }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/downloads/subscriptions');
    await page.getByLabel(downloadsMessages.feedAddress()).waitFor();
    await page.keyboard.type(site.publish('Harbour', ['Harbour news 2', 'Harbour at dawn', 'Harbour news 1']));
    await page.getByText(downloadsMessages.videosLookedAt({ count: 3 })).waitFor();
    await page.getByLabel(downloadsMessages.onlyTitlesWith()).fill('(');
    await page.getByText(containing(downloadsProblems.filterInvalid({ reason: anyText }))).waitFor();
    await page.getByLabel(downloadsMessages.onlyTitlesWith()).fill('news \\d');
    await page.getByText('2 of 3 would be downloaded').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: downloadsMessages.subscribe() }).click();
    await row(page, 'Harbour')
      .getByText(containing(downloadsMessages.titleFilter({ pattern: 'news \\d' })))
      .waitFor();
    await page.getByText(downloadsMessages.subscribed({ name: 'Harbour' })).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('shows why an address is refused and keeps the input', async () => {
    await using visit = await pages.visit('/downloads/subscriptions?add=1');
    const { page } = visit;
    await page.getByLabel(downloadsMessages.feedAddress()).fill(site.url('/single.mp4'));
    await page.getByRole('dialog').getByRole('button', { name: downloadsMessages.subscribe() }).click();
    await page.getByText(downloadsProblems.singleVideo()).first().waitFor();
    expect(await page.getByLabel(downloadsMessages.feedAddress()).inputValue()).toBe(site.url('/single.mp4'));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('checks, pauses, changes and removes a subscription, and restores it', async () => {
    const url = site.publish('Lighthouse', ['Lighthouse 1']);
    await api('subscriptions', { url });
    await using visit = await pages.visit('/downloads/subscriptions');
    const { page } = visit;
    const subscriptionRow = row(page, 'Lighthouse');
    await subscriptionRow.getByText('No new videos yet').waitFor();
    await subscriptionRow
      .getByText(
        matching(downloadsMessages.mediaIntoDownloadFolder({ media: `${downloadsMessages.bestQuality()}${anyText}` })),
      )
      .waitFor();
    site.publish('Lighthouse', ['Lighthouse 2', 'Lighthouse 1']);
    await subscriptionRow
      .getByRole('button', { name: downloadsMessages.moreAboutName({ name: 'Lighthouse' }) })
      .click();
    await page.getByRole('menuitem', { name: downloadsMessages.checkNow() }).click();
    await page.getByText('1 new video is in the queue.').waitFor();
    await subscriptionRow.getByText('1 new video, last now').waitFor();
    site.publish('Lighthouse', ['Lighthouse 4', 'Lighthouse 3', 'Lighthouse 2', 'Lighthouse 1']);
    await api('subscriptions/check', {});
    await subscriptionRow.getByText('3 new videos, last now').waitFor();

    site.publish('Lighthouse', undefined);
    await api('subscriptions/check', {});
    await subscriptionRow.getByText(`Failed. ${downloadsMessages.pageMissing()}`).waitFor();
    await subscriptionRow.getByRole('button', { name: `${downloadsMessages.changeTheAddress()}: Lighthouse` }).click();
    const address = page.getByLabel(downloadsMessages.feedAddress());
    await page.getByText(downloadsMessages.siteAnswer()).click();
    await page.getByRole('dialog').getByText('404').first().waitFor();
    expect(await address.inputValue()).toBe(url);
    await address.fill(site.publish('Beacon', ['Lighthouse 4', 'Lighthouse 3']));
    await page.getByRole('button', { name: downloadsMessages.save() }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await subscriptionRow.getByText('3 new videos').waitFor();
    await subscriptionRow.getByText(downloadsMessages.failedSentence()).waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Lighthouse', exact: true }).click();
    await page.getByLabel(downloadsMessages.lookForNewVideos()).selectOption(downloadsMessages.everyDay());
    await page.getByRole('button', { name: downloadsMessages.save() }).click();
    await subscriptionRow.getByText(downloadsMessages.everyDay()).waitFor();

    await subscriptionRow.getByRole('switch', { name: downloadsMessages.checkName({ name: 'Lighthouse' }) }).click();
    await subscriptionRow.getByText(downloadsMessages.subscriptionPaused()).waitFor();

    await subscriptionRow
      .getByRole('button', { name: downloadsMessages.moreAboutName({ name: 'Lighthouse' }) })
      .click();
    await page.getByRole('menuitem', { name: downloadsMessages.remove() }).click();
    await subscriptionRow.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await subscriptionRow.getByText(downloadsMessages.subscriptionPaused()).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('uploads cookies, lists their sites only and deletes them', async () => {
    await using visit = await pages.visit('/downloads/cookies');
    const { page } = visit;
    await page.getByText(downloadsMessages.noCookies()).waitFor();
    const give = async (content: string): Promise<void> =>
      await page.getByLabel(downloadsMessages.cookieFile()).setInputFiles({
        name: 'cookies.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from(content),
      });
    await give('[{"name": "x"}]');
    await page.getByText(downloadsProblems.cookiesAreJson()).waitFor();
    await give('.videos.example\tTRUE\t/\tTRUE\t0\tsession\thidden\n');
    await page.getByText('1 cookie for').waitFor();
    expect(await page.getByRole('main').textContent()).toContain('videos.example');
    expect(await page.content()).not.toContain('hidden\\n');
    await page.getByRole('button', { name: downloadsMessages.forgetCookies() }).click();
    await page.getByRole('button', { name: downloadsMessages.forgetCookiesQuestion() }).click();
    await page.getByText(downloadsMessages.noCookies()).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  describe.each(screens)('on $on', (screen) => {
    it.each([['subscriptions'], ['subscriptions?add=1'], ['cookies']])('fits and is accessible: %s', async (path) => {
      await using visit = await pages.visit(`/downloads/${path}`, screen);
      const { page } = visit;
      await page.getByRole('heading', { level: 1, name: downloadsMessages.downloads() }).waitFor();
      await page.getByRole('navigation', { name: downloadsMessages.downloads() }).waitFor();
      if (path.includes('add')) await page.getByRole('dialog').waitFor();
      await expectFits(visit, path.replace('?', '-'), screen);
      if (path.includes('add')) {
        await page
          .getByLabel(downloadsMessages.feedAddress())
          .fill(site.publish('Harbour', ['Harbour news 2', 'Harbour at dawn', 'Harbour news 1']));
        await page.getByLabel(downloadsMessages.onlyTitlesWith()).fill('news');
        await page.getByText('2 of 3 would be downloaded').waitFor();
      }
    });
  });
});
