import * as pushTexts from '#messages/push-texts';
import * as serviceMessages from '#messages/service';
import * as pushProblems from '#messages/push-problems';
import * as pushMessages from '#messages/push';
import * as pushComposeMessages from '#messages/push-compose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyText, containing, getTagText } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('the push page', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages({ services: [push, inbox, control] });
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  async function publish(topic: string, body: string, headers = {}): Promise<void> {
    const request = { method: 'POST', body, headers: { Authorization: adminAuthorization, ...headers } };
    const response = await fetch(`${pages.host.url('push')}/${topic}`, request);
    expect(response.status).toBe(200);
  }

  it('is empty at first, then shows a topic and its messages as they arrive', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    await page.getByText(pushMessages.noMessagesLately()).waitFor();
    await publish('nas-error-backup', 'Disk full', { Title: 'Job failed', Priority: '5', Tags: 'nas' });
    const topic = page.getByRole('list', { name: pushMessages.topics() }).getByRole('link', { name: /nas/ });
    await topic.getByText(pushMessages.urgentPriority(), { exact: true }).waitFor();
    await topic.click();
    const messages = page.getByRole('group', { name: pushMessages.messages() }).getByRole('listitem');
    await messages.filter({ hasText: 'Disk full' }).getByText(pushMessages.urgentPriority()).waitFor();
    await publish('nas-error-backup', '<img src=x onerror=alert(1)> https://nas.example');
    await messages.filter({ hasText: '<img src=x onerror=alert(1)>' }).waitFor();
    expect(await messages.count()).toBe(2);
    expect(await messages.first().innerText()).toContain('<img');
    expect(visit.complaints).toEqual([]);
  });

  it('publishes an example message with one click, and shows it arrive', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    await page.getByRole('button', { name: pushMessages.sendMeAFirstMessage() }).click();
    const newest = page.getByRole('list', { name: pushMessages.newestMessages() }).getByRole('listitem');
    await newest.getByText(pushTexts.firstMessageTitle()).waitFor();
    await page.getByText(pushMessages.yourFirstMessageIsHere()).waitFor();
    await page.getByRole('list', { name: pushMessages.topics() }).getByRole('link', { name: /hello/ }).waitFor();
    expect(await page.getByRole('button', { name: pushMessages.sendMeAFirstMessage() }).count()).toBe(0);
    expect(await newest.count()).toBe(1);
    expect(visit.complaints).toEqual([]);
  });

  it('publishes, keeps invalid input, and reaches subscribers', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    await page.getByRole('button', { name: pushMessages.publish() }).click();
    const dialog = page.getByRole('dialog', { name: pushMessages.publishAMessage() });
    await dialog.getByLabel(pushMessages.topic()).fill('login');
    await dialog.getByLabel(pushComposeMessages.message()).fill('First light');
    await dialog.getByLabel(pushMessages.priority()).selectOption(pushMessages.high());
    await dialog.getByLabel(pushComposeMessages.tags()).fill('sun, sea');
    await dialog.getByRole('button', { name: pushMessages.publish() }).click();
    await dialog.getByText(pushProblems.topicReserved({ topic: 'login' })).waitFor();
    expect(await dialog.getByLabel(pushComposeMessages.message()).inputValue()).toBe('First light');
    await dialog.getByLabel(pushMessages.topic()).fill('harbour');
    await dialog.getByLabel(pushComposeMessages.message()).press('Control+Enter');
    await page.getByRole('heading', { level: 1, name: 'harbour' }).waitFor();
    const message = page.getByRole('group', { name: pushMessages.messages() }).getByRole('listitem');
    await message.getByText('First light').waitFor();
    await message.getByText('sea').waitFor();
    const polled = await fetch(`${pages.host.url('push')}/harbour/json?poll=1`, {
      headers: { Authorization: adminAuthorization },
    });
    expect(JSON.parse(await polled.text())).toMatchObject({
      message: 'First light',
      priority: 4,
      tags: ['sun', 'sea'],
    });
    expect(visit.complaints.filter((line) => !line.startsWith('Failed to load resource'))).toEqual([]);
  });

  it('shows how to subscribe, with and without an account', async () => {
    for (let count = 0; count < 60; count += 1) await publish('long', `message number ${String(count)};`);
    await using visit = await pages.visit('/push/topics/long');
    const { page } = visit;
    const messages = page.getByRole('group', { name: pushMessages.messages() });
    await messages.getByText('message number 59;').waitFor();
    await page.getByRole('link', { name: pushMessages.subscribe(), exact: true }).click();
    // Instead of a code that phones cannot use, the required step is shown.
    await page.getByRole('link', { name: getTagText(pushMessages.shareForPhone(), 'network') }).waitFor();
    const code = page.getByRole('img', { name: pushMessages.subscribeToTopicWithThe({ topic: 'long' }) });
    expect(await code.count()).toBe(0);
    // Without sharing, a reverse proxy may still make the address reachable.
    await page.getByRole('radio', { name: serviceMessages.otherDevices() }).check();
    const another = page.getByText(pushMessages.reachedByAnotherAddress());
    await another.click();
    await page.getByLabel(pushMessages.addressOfThisServer()).fill('https://push.example.org');
    await code.waitFor();
    await page.getByText('https://push.example.org/long', { exact: false }).first().waitFor();
    await page.getByLabel(pushMessages.addressOfThisServer()).fill('');
    await page.getByRole('radio', { name: serviceMessages.thisComputer() }).check();
    const { url } = { url: pages.host.url('push') };
    await page.getByText(`curl -H "Authorization: Bearer TOKEN" -d "Hello" ${url}/long`).waitFor();
    await api(pages.url, '/api/access/anyone', {
      method: 'PUT',
      body: JSON.stringify({ grants: [{ service: 'push', resource: 'long', permission: 'read-write' }] }),
    });
    await page.reload();
    await page.getByText(`curl -d "Hello" ${url}/long`).waitFor();
    await page.getByText(/Anyone can subscribe/).waitFor();
    await another.click();
    await page.getByLabel(pushMessages.addressOfThisServer()).fill('not an address');
    await page.getByText(pushMessages.useAnAddressThatBegins()).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await publish('nas-error-backup', 'Disk full: /srv/photos\n\n  files 18,204', {
      Title: 'Backup failed',
      Priority: '5',
    });
    await publish('router-info-maintenance', 'Restarted');
    await publish('a-topic-with-a-name-that-is-as-long-as-a-topic-can-be-64-letters', 'x');
    await publish('nas-error-backup', `https://nas.example/${'a-long-address-'.repeat(12)}`, { Tags: 'nas,backup' });
    await publish('nas-error-backup', '**Done** after `42 min`', { Markdown: 'yes', Priority: '2' });
    await using list = await pages.visit('/push', screen);
    await list.page.getByRole('list', { name: pushMessages.newestMessages() }).waitFor();
    await expectFits(list, 'push', screen);
    await using one = await pages.visit('/push/topics/nas-error-backup', screen);
    await one.page.getByRole('group', { name: pushMessages.messages() }).getByText('after').waitFor();
    await expectFits(one, 'push-topic', screen);
    await one.page.getByRole('link', { name: pushMessages.subscribe(), exact: true }).click();
    await one.page.getByText(pushMessages.reachedByAnotherAddress()).click();
    await one.page.getByLabel(pushMessages.addressOfThisServer()).fill('https://push.example.org');
    // Phones open the app, where other devices show a code.
    const ways = one.page.getByRole('img', {
      name: containing(pushMessages.subscribeToTopicWithThe({ topic: anyText })),
    });
    await ways
      .or(one.page.getByRole('link', { name: pushMessages.openItInTheApp() }))
      .first()
      .waitFor();
    await expectFits(one, 'push-subscribe', screen);
  });
});
