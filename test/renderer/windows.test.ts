import * as accessMessages from '#messages/access';
import * as accountsMessages from '#messages/accounts';
import * as frameMessages from '#messages/frame';
import * as inboxMessages from '#messages/inbox';
import * as homeMessages from '#messages/home';
import * as partsMessages from '#messages/parts';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { api } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('several windows', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  /** Returns the number of event streams that the host serves. */
  async function streams(): Promise<number> {
    const reply = await fetch(`${pages.url}/metrics`, { headers: { Authorization: adminAuthorization } });
    return Number(/^control_live_streams(?:\{.*\})? (\d+)$/m.exec(await reply.text())?.[1]);
  }

  const title = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).waitFor();

  it('stays in sync, two of one browser and one of another', async () => {
    pages.inbox.add({ title: 'First light', body: 'Read me' });
    await api(pages.url, '/api/accounts', { method: 'POST', body: JSON.stringify({ name: 'nas', kind: 'service' }) });
    await using visit = await pages.visit('/inbox');
    const one = visit.page;
    const other = await one.context().newPage();
    await other.goto(`${pages.url}/inbox`);
    await using otherPage = await pages.visit('/inbox');
    for (const page of [one, other, otherPage.page])
      await page.getByLabel(frameMessages.countUnread({ unread: 1 })).waitFor();

    await one.getByRole('button', { name: /First light/ }).click();
    for (const page of [other, otherPage.page])
      await page.getByLabel(frameMessages.countUnread({ unread: 1 })).waitFor({ state: 'detached' });

    for (const page of [one, other, otherPage.page]) await page.goto(`${pages.url}/settings/accounts/nas`);
    await other.getByLabel(accountsMessages.whatNameIsFor({ name: 'nas' })).fill('The box in the cellar');
    await other.getByRole('button', { name: accountsMessages.save(), exact: true }).click();
    for (const page of [one, otherPage.page]) await page.getByText('The box in the cellar').waitFor();

    for (const page of [one, other, otherPage.page]) await page.goto(pages.url);
    await otherPage.page
      .getByRole('button', { name: homeMessages.addressAndSwitchOfTitle({ title: 'Moody' }) })
      .click();
    await otherPage.page.getByRole('switch', { name: 'Moody' }).click();
    for (const page of [one, other]) {
      await page
        .getByRole('listitem')
        .filter({ hasText: 'Moody' })
        .getByText(partsMessages.off(), { exact: true })
        .waitFor();
    }
    expect(visit.complaints).toEqual([]);
    expect(otherPage.complaints).toEqual([]);
  });

  it('shares one stream between windows of one browser, so that a seventh works as well', async () => {
    await using visit = await pages.visit('/inbox');
    const tabs = [visit.page];
    while (tabs.length < 7) {
      const tab = await visit.page.context().newPage();
      // Six streams would use all connections of the browser to one host.
      await tab.goto(`${pages.url}/inbox`);
      await tab.getByText(inboxMessages.nothingHasArrivedYet()).waitFor();
      tabs.push(tab);
    }
    await expect.poll(streams).toBe(1);
    pages.inbox.add({ title: 'For all seven' });
    for (const tab of tabs) await title(tab, 'For all seven');
    await tabs[6]?.getByRole('button', { name: /For all seven/ }).click();
    for (const tab of tabs)
      await tab.getByLabel(frameMessages.countUnread({ unread: 1 })).waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('continues without the one that read the stream, and misses nothing', async () => {
    await using visit = await pages.visit('/inbox');
    const tabs: Page[] = [];
    while (tabs.length < 3) {
      const tab = await visit.page.context().newPage();
      await tab.goto(`${pages.url}/inbox`);
      await tab.getByText(inboxMessages.nothingHasArrivedYet()).waitFor();
      tabs.push(tab);
    }
    await expect.poll(streams).toBe(1);
    // No event was received yet, so there is no ID to resume from.
    await Promise.all([visit.page.close(), (async () => pages.inbox.add({ title: 'While it went' }))()]);
    for (const tab of tabs) await title(tab, 'While it went');
    await expect.poll(streams).toBe(1);
    await Promise.all([tabs[0]?.close(), (async () => pages.inbox.add({ title: 'And again' }))()]);
    for (const tab of tabs.slice(1)) await title(tab, 'And again');
    for (const tab of tabs.slice(1)) {
      expect(await tab.getByRole('button', { name: /While it went|And again/ }).count()).toBe(2);
    }
  });

  it('are all signed out together', async () => {
    await using visit = await pages.visit('/inbox');
    const context = visit.page.context();
    const [second, third] = [await context.newPage(), await context.newPage()];
    for (const tab of [second, third]) await tab.goto(`${pages.url}/inbox`);
    for (const tab of [second, third]) await tab.getByText(inboxMessages.nothingHasArrivedYet()).waitFor();
    await second.getByRole('button', { name: containing(frameMessages.signedInAsName({ name: anyText })) }).click();
    await second.getByRole('menuitem', { name: frameMessages.signOut() }).click();
    for (const tab of [visit.page, second, third])
      await tab.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
    await expect.poll(streams).toBe(0);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('reads separate streams where the browser has no locks, as over plain http', async () => {
    await using visit = await pages.visit('/inbox');
    const context = visit.page.context();
    await context.addInitScript(() => {
      Reflect.deleteProperty(Navigator.prototype, 'locks');
    });
    const [one, other] = [await context.newPage(), await context.newPage()];
    for (const tab of [one, other]) await tab.goto(`${pages.url}/inbox`);
    await expect.poll(streams).toBe(3);
    pages.inbox.add({ title: 'For each' });
    for (const tab of [one, other]) await title(tab, 'For each');
    expect(visit.complaints).toEqual([]);
  });
});
