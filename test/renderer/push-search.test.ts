import * as settingsFormMessages from '#messages/settings-form';
import * as pushProblems from '#messages/push-problems';
import * as partsMessages from '#messages/parts';
import * as pushMessages from '#messages/push';
import * as pushComposeMessages from '#messages/push-compose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('messages of all topics', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control] });
    await publish('nas-error-backup', 'Disk full on sda', { Priority: '5', Tags: 'warning,disk' });
    await publish('cloud-info-backup', 'Sicherung für Gebäude 7 fertig', { Title: 'Full disk image' });
    for (let count = 0; count < 60; count += 1) await publish('router', `Restarted ${String(count)}`);
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  async function publish(topic: string, body: string, headers = {}): Promise<void> {
    const request = { method: 'POST', body, headers: { Authorization: adminAuthorization, ...headers } };
    expect((await fetch(`${pages.host.url('push')}/${topic}`, request)).status).toBe(200);
  }

  it('renders Markdown', async () => {
    await publish('router', '## Updates\n\n- kernel', { Markdown: 'yes' });
    await using visit = await pages.visit('/push?q=kernel');
    const results = visit.page.getByRole('list', { name: pushMessages.foundMessages() }).getByRole('listitem').first();
    await results.getByText('Updates', { exact: true }).waitFor();
    expect(await results.innerText()).not.toContain('##');
    expect(visit.complaints).toEqual([]);
  });

  it('are searched, filtered, paged and updated, and link to their topic', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    const field = page.getByRole('searchbox', { name: pushMessages.searchTheMessagesOfAll() });
    const results = page.getByRole('list', { name: pushMessages.foundMessages() }).getByRole('listitem');
    // Only messages, because their Markdown lists are rendered a moment later.
    const newest = page.getByRole('list', { name: pushMessages.newestMessages() }).locator(':scope > li');
    await expect.poll(() => newest.count()).toBe(50);
    await publish('router', 'Just now');
    await expect.poll(() => newest.first().textContent()).toContain('Just now');
    await field.fill('disk full');
    await expect.poll(() => results.count()).toBe(2);
    await expect.poll(() => page.url()).toContain('q=disk+full');
    await field.fill('"disk full"');
    await expect.poll(() => results.count()).toBe(1);
    await field.fill('gebau');
    await expect.poll(() => results.allTextContents()).toEqual([expect.stringContaining('Full disk image')]);
    await page.getByRole('button', { name: pushMessages.filterTheMessages() }).click();
    await page.getByLabel(pushMessages.inTopics()).fill('nas-*');
    await page.getByText(pushMessages.nothingIsFound()).waitFor();
    await page.getByLabel(pushMessages.inTopics()).fill('no spaces');
    await page.getByText(pushMessages.useLettersDigitsAndOnly()).waitFor();
    await page.getByLabel(pushMessages.inTopics()).fill('');
    await field.fill('restarted');
    await expect.poll(() => results.count()).toBe(50);
    await page.getByRole('button', { name: pushMessages.showOlderOnes() }).click();
    await expect.poll(() => results.count()).toBe(60);
    await publish('router', 'Restarted live');
    await expect.poll(() => results.first().textContent()).toContain('Restarted live');
    expect(await results.count()).toBe(61);
    await field.fill('');
    await page.getByLabel(pushMessages.priority()).selectOption(pushMessages.urgentPriority());
    await page.getByRole('button', { name: 'disk', exact: true }).click();
    await page.getByLabel(pushMessages.time()).selectOption(pushMessages.lastHour());
    await expect.poll(() => page.url()).toMatch(/priority=5.*tag=disk.*back=3600000/);
    await results.first().getByRole('link', { name: pushComposeMessages.topicExample() }).click();
    await page.getByRole('heading', { level: 1, name: pushComposeMessages.topicExample() }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('follows retention rules, which can be changed with Undo', async () => {
    await using visit = await pages.visit('/push/retention');
    const { page } = visit;
    await page.getByText(containing(pushMessages.retentionHint({ duration: '12 hours' }))).waitFor();
    await page.getByRole('heading', { name: pushMessages.everyTopicIsKeptAlike() }).waitFor();
    await page.getByRole('button', { name: pushMessages.addARule() }).click();
    const rule = page.getByRole('group', { name: containing(pushMessages.ruleForName({ name: anyText })) });
    await rule.getByLabel(pushMessages.topic(), { exact: true }).fill('brief');
    await rule
      .getByLabel(pushMessages.keptFor())
      .selectOption(pushMessages.retentionUnit({ unit: 'minutes', count: 2 }));
    await rule.getByLabel(pushMessages.howManyUnit({ unit: 'minutes' })).fill('1');
    await expect.poll(() => rule.getByLabel(pushMessages.keptFor()).locator(':checked').textContent()).toBe('minute');
    await rule.getByLabel(pushMessages.howManyUnit({ unit: 'minutes' })).fill('90');
    await rule.getByLabel(pushMessages.messagesAtMost()).fill('5');
    await page.getByRole('button', { name: pushMessages.addARule() }).click();
    await rule.nth(1).getByLabel(pushMessages.topic(), { exact: true }).fill('brief');
    await rule
      .nth(1)
      .getByLabel(pushMessages.keptFor())
      .selectOption(pushMessages.retentionUnit({ unit: 'never', count: 0 }));
    await page.getByRole('button', { name: pushMessages.save() }).click();
    await page.getByText(pushProblems.ruleExists()).waitFor();
    await rule
      .nth(1)
      .getByRole('button', { name: pushMessages.removeTheRuleForName({ name: 'brief' }) })
      .click();
    await page.getByRole('button', { name: pushMessages.save() }).click();
    await page.getByText(settingsFormMessages.saved()).waitFor();
    const readLifetime = async (): Promise<number> => {
      const reply = await fetch(`${pages.host.url('push')}/brief`, {
        method: 'POST',
        body: 'x',
        headers: { Authorization: adminAuthorization },
      });
      const { time, expires } = (await reply.json()) as { time: number; expires: number };
      return expires - time;
    };
    expect(await readLifetime()).toBe(5400);
    await rule.getByText(pushMessages.matchesNoTopicYet()).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(() => rule.count()).toBe(0);
    expect(await readLifetime()).toBe(12 * 3600);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it.each(screens)('fits as search results on $on', async (screen) => {
    await using visit = await pages.visit('/push?q=disk', screen);
    await visit.page.getByRole('list', { name: pushMessages.foundMessages() }).getByRole('listitem').first().waitFor();
    await expectFits(visit, 'push-search', screen);
  });

  it.each(screens)('fits with retention rules on $on', async (screen) => {
    await using visit = await pages.visit('/push/retention', screen);
    const { page } = visit;
    await page.getByRole('button', { name: pushMessages.addARule() }).click();
    await page.getByLabel(pushMessages.topic(), { exact: true }).fill('logs-*');
    await page.getByRole('button', { name: pushMessages.addARule() }).click();
    await page
      .getByRole('group', { name: containing(pushMessages.ruleForName({ name: anyText })) })
      .nth(1)
      .getByLabel(pushMessages.keptFor())
      .selectOption(pushMessages.retentionUnit({ unit: 'never', count: 0 }));
    await expectFits(visit, 'push-keeping', screen);
  });
});
