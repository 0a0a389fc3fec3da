import * as partsMessages from '#messages/parts';
import * as pushMessages from '#messages/push';
import * as pushComposeMessages from '#messages/push-compose';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import type { InboxItem } from '../../services/contracts/inbox/api.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser } from '../support/browser.ts';
import { api } from '../support/api.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyText, matching, startingWith } from '../support/message-patterns.ts';
import { seriousFindings } from './axe.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('the topic list', () => {
  let pages: Pages;
  const names = [
    'plain',
    'nas-error-backup',
    'nas-info-backup',
    'router-info-maintenance',
    'shop-critical-security',
    'shop-warning-deployment',
  ];
  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control] });
    for (const topic of names) await publish(topic);
    await publish('shop-critical-security');
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  async function publish(topic: string): Promise<void> {
    const request = { method: 'POST', body: `news of ${topic}`, headers: { Authorization: adminAuthorization } };
    expect((await fetch(`${pages.host.url('push')}/${topic}`, request)).status).toBe(200);
  }
  const readTopics = (page: Page): Promise<readonly string[]> =>
    page
      .getByRole('region', { name: pushMessages.topics() })
      .getByRole('list')
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('title') ?? ''));

  it('shows full names', async () => {
    await using visit = await pages.visit('/push');
    const row = (name: string) =>
      visit.page.getByRole('region', { name: pushMessages.topics() }).getByTitle(name, { exact: true });
    await row('nas-error-backup').waitFor();
    await expect.poll(() => row('nas-error-backup').innerText()).toMatch(/^New\nnas-error-backup\n[^]*1 new$/);
    expect(await row('nas-info-backup').innerText()).toMatch(/^New\nnas-info-backup\n[^]*1 new$/);
    await visit.page.getByText('7 stored · 7 today · 7 in total', { exact: true }).waitFor();
  });

  it('mutes a topic for a time, with Undo', async () => {
    await using visit = await pages.visit('/push/topics/nas-info-backup');
    const { page } = visit;
    const menu = page.getByRole('button', { name: pushMessages.muteTopic({ topic: 'nas-info-backup' }) });
    const readMuted = async () => {
      const { muted } = await api<{ muted: { topic: string; until: number }[] }>(pages.url, '/api/push/muted');
      return muted.map(({ topic, until }) => [topic, Math.round((until - Date.now()) / 3_600_000)]);
    };
    await menu.click();
    await page.getByRole('menuitem', { name: pushMessages.eightHours() }).click();
    await expect.poll(readMuted).toEqual([['nas-info-backup', 8]]);
    await page.getByText(startingWith(pushMessages.mutedUntil({ time: anyText }))).waitFor();
    await menu.click();
    await page.getByRole('menuitem', { name: pushMessages.unmute() }).click();
    await expect.poll(readMuted).toEqual([]);
    await page.getByRole('button', { name: partsMessages.undo() }).last().click();
    await expect.poll(readMuted).toEqual([['nas-info-backup', 8]]);
    await page.getByRole('link', { name: pushMessages.topics(), exact: true }).click();
    const row = page
      .getByRole('region', { name: pushMessages.topics() })
      .getByTitle('nas-info-backup', { exact: true });
    await row.getByText(pushMessages.muted(), { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.goto(`${pages.url}/push/topics/nas-info-backup`);
    await menu.click();
    await page.getByRole('menuitem', { name: pushMessages.unmute() }).click();
    await expect.poll(readMuted).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('marks new messages until they are read, here or in the inbox', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    const row = page.getByRole('region', { name: pushMessages.topics() }).getByTitle('plain', { exact: true });
    const results = page
      .getByRole('list', { name: pushMessages.newestMessages() })
      .getByRole('listitem')
      .filter({ hasText: 'plain' });
    await row.getByText('1 new').waitFor();
    await results.getByText(pushMessages.newLabel(), { exact: true }).waitFor();
    await row.click();
    // New messages stay marked while the topic is open.
    const message = page.getByRole('group', { name: pushMessages.messages() }).getByRole('listitem');
    await message.getByText(pushMessages.newLabel(), { exact: true }).waitFor();
    const unread = async (): Promise<readonly string[]> => {
      const { items } = await api<{ items: InboxItem[] }>(pages.url, '/api/inbox?unread=true');
      return items.map(({ topic }) => topic);
    };
    await expect.poll(unread).not.toContain('plain');
    await page.getByRole('link', { name: pushMessages.topics(), exact: true }).click();
    await row.getByText(pushMessages.messageCount({ count: 1 })).waitFor();
    await expect.poll(() => results.getByText(pushMessages.newLabel(), { exact: true }).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('is reached by keyboard without passing the other tabs', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    await page.getByPlaceholder(pushMessages.searchTheTopics()).waitFor();
    await page.getByRole('button', { name: pushMessages.publish() }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('placeholder'));
    expect(await focused()).toBe(pushMessages.searchTheTopics());
    expect(new URL(page.url()).pathname).toBe('/push');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/push/delayed');
  });

  it('is filtered by parts of names, in the address, also after a topic was opened', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    await expect.poll(() => readTopics(page)).toHaveLength(names.length);
    await page.getByRole('button', { name: pushMessages.groupByNameOrNarrow() }).click();
    await page.getByLabel(pushMessages.severity()).selectOption('info');
    await expect.poll(() => readTopics(page)).toEqual(['router-info-maintenance', 'nas-info-backup']);
    await page.getByLabel(pushMessages.service()).selectOption(pushComposeMessages.serviceExample());
    await expect.poll(() => readTopics(page)).toEqual(['nas-info-backup']);
    await expect.poll(() => new URL(page.url()).search).toBe('?severity=info&service=nas');
    await page.getByRole('region', { name: pushMessages.topics() }).getByRole('link', { name: /nas/ }).click();
    await page.getByRole('heading', { level: 1, name: 'nas-info-backup' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: pushMessages.topics(), exact: true }).click();
    await expect.poll(() => readTopics(page)).toEqual(['nas-info-backup']);
    await page.getByLabel(pushMessages.category()).selectOption(pushComposeMessages.categoryExample());
    await page.getByLabel(pushMessages.severity()).selectOption('critical');
    await page.getByText(pushMessages.noTopicIsLikeThat()).waitFor();
    await page.goto(`${pages.url}/push?find=critical`);
    await expect.poll(() => readTopics(page)).toEqual(['shop-critical-security']);
    expect(visit.complaints).toEqual([]);
  });

  it('stays visible on a phone when a filter is cleared', async () => {
    await using visit = await pages.visit('/push?find=critical', { width: 360, height: 740, touch: true });
    const { page } = visit;
    await expect.poll(() => readTopics(page)).toEqual(['shop-critical-security']);
    await page.getByRole('searchbox', { name: pushMessages.searchTheTopics() }).fill('');
    await expect.poll(() => readTopics(page)).toHaveLength(names.length);
    expect(await page.getByRole('searchbox', { name: pushMessages.searchTheTopics() }).isVisible()).toBe(true);
    expect(visit.complaints).toEqual([]);
  });

  it('is grouped by a part, the most severe group first', async () => {
    await using visit = await pages.visit('/push?group=severity');
    const { page } = visit;
    await page.getByRole('list', { name: pushMessages.topicsTitle({ title: 'critical' }) }).waitFor();
    expect(
      await page
        .getByRole('region', { name: pushMessages.topics() })
        .getByRole('heading', { level: 3 })
        .allInnerTexts(),
    ).toEqual(['critical', 'error', 'warning', 'info', pushMessages.otherNames()]);
    await page.getByLabel(pushMessages.order()).selectOption(pushMessages.byService());
    await page.getByRole('list', { name: pushMessages.topicsTitle({ title: 'shop' }) }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('is behind one link on a phone, with the newest messages below, and has a link back', async () => {
    await using visit = await pages.visit('/push', screens[0]);
    const { page } = visit;
    const newest = page.getByRole('list', { name: pushMessages.newestMessages() });
    await newest.getByText('news of plain').waitFor();
    expect(await page.getByRole('list', { name: pushMessages.topics() }).isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Topics 6' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: pushMessages.topics() }).waitFor();
    expect(await newest.isVisible()).toBe(false);
    // The link still has the focus and leads back.
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe(pushMessages.allMessages());
    await page.getByRole('list', { name: pushMessages.topics() }).getByRole('link', { name: /plain/ }).click();
    await page.getByRole('group', { name: pushMessages.messages() }).getByText('news of plain').waitFor();
    await page.getByRole('link', { name: pushMessages.topics(), exact: true }).click();
    await page.getByRole('list', { name: pushMessages.topics() }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'plain' }).waitFor();
    await page.goBack();
    await page.getByRole('list', { name: pushMessages.topics() }).waitFor();
    await page.goBack();
    await newest.waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('has statistics of all topics in a tab, and of one next to its messages', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    await page.getByRole('tab', { name: pushMessages.history() }).click();
    await page
      .getByRole('img', { name: matching(pushMessages.messagesEachDaySummary({ counts: `0, ${anyText}, 7` })) })
      .waitFor();
    const row = page.getByRole('row', { name: /shop-critical-security/ });
    expect((await row.getByRole('cell').allInnerTexts()).slice(1, 3)).toEqual(['2', '2']);
    await expect.poll(() => new URL(page.url()).pathname).toBe('/push/history');
    // Without subscribers and browsers these columns are hidden.
    expect(await page.getByRole('columnheader').allInnerTexts()).toEqual(['Topic', 'Today', '7 days', 'Last']);
    await page.getByText(startingWith(pushMessages.publishedSinceTheBeginning({ total: 7 }))).waitFor();
    await page.getByRole('img', { name: matching(pushMessages.messagesOfTheLast24({ total: anyText })) }).waitFor();
    await page.getByText(partsMessages.tableOfValues()).last().click();
    await page.getByRole('region', { name: pushMessages.messagesEachDay() }).waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'shop-critical-security' }).waitFor();
    await page.getByText(pushMessages.listeningNow()).waitFor();
    await publish('shop-critical-security');
    await page
      .getByRole('img', { name: matching(pushMessages.messagesEachDaySummary({ counts: `${anyText}, 3` })) })
      .waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using list = await pages.visit('/push?group=severity', screen);
    await list.page.getByRole('list', { name: pushMessages.topicsTitle({ title: 'critical' }) }).waitFor();
    await expectFits(list, 'push-topics', screen);
    await using numbers = await pages.visit('/push/history', screen);
    await numbers.page.getByRole('row', { name: /nas-error-backup/ }).waitFor();
    await expectFits(numbers, 'push-statistics', screen);
    await using one = await pages.visit('/push/topics/shop-critical-security?show=delivery', screen);
    await one.page.getByText(pushMessages.listeningNow()).waitFor();
    await expectFits(one, 'push-delivery', screen);
  });
});
