import * as pushProblems from '#messages/push-problems';
import * as pushMessages from '#messages/push';
import * as pushComposeMessages from '#messages/push-compose';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser, openPage, signIn } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyCount, anyText, containing, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('the page of a topic', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control] });
    await publish('nas-error-backup', 'Disk full', { Priority: '5', Tags: 'warning,disk' });
    await publish('nas-error-backup', '**Done** again', {
      Markdown: 'yes',
      Actions: 'view, Look, https://cam.example/',
      Attach: 'https://cam.example/still.jpg',
    });
    await publish('router-info-maintenance', 'Restarted');
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  async function publish(topic: string, body: string, headers = {}): Promise<void> {
    const request = { method: 'POST', body, headers: { Authorization: adminAuthorization, ...headers } };
    expect((await fetch(`${pages.host.url('push')}/${topic}`, request)).status).toBe(200);
  }

  it('shows links, files and emoji of tags, and filters by words, priority and tag', async () => {
    await using visit = await pages.visit('/push/topics/nas-error-backup');
    const { page } = visit;
    const messages = page.getByRole('group', { name: pushMessages.messages() }).getByRole('listitem');
    await messages.nth(1).waitFor();
    expect(await page.getByRole('link', { name: 'Look' }).getAttribute('href')).toBe('https://cam.example/');
    expect(await page.getByRole('link', { name: 'still.jpg' }).getAttribute('rel')).toBe('noopener noreferrer');
    await messages.getByText('⚠️ Disk full').waitFor();
    await page.getByRole('button', { name: 'disk', exact: true }).click();
    await expect.poll(() => messages.count()).toBe(1);
    await expect.poll(() => page.url()).toContain('tag=disk');
    await page.getByRole('button', { name: /Remove .*disk/ }).click();
    await expect.poll(() => messages.count()).toBe(2);
    await page.getByRole('searchbox', { name: pushMessages.searchTheMessages() }).fill('done');
    await expect.poll(() => messages.count()).toBe(1);
    await page.getByRole('searchbox', { name: pushMessages.searchTheMessages() }).fill('nowhere');
    await page.getByText(pushMessages.nothingFits()).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('opens from the root of the push server and from the address of a topic', async () => {
    await using visit = await openPage(pages.browser);
    await signIn(visit.page.context(), pages.url);
    await visit.page.goto(`${pages.host.url('push')}/`);
    await visit.page.getByRole('heading', { level: 1, name: pushMessages.messages() }).waitFor();
    await visit.page.goto(`${pages.host.url('push')}/nas-error-backup`);
    await visit.page.getByRole('heading', { level: 1, name: pushComposeMessages.topicExample() }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('previews Markdown, builds the curl command and publishes later', async () => {
    await using visit = await pages.visit('/push');
    const { page } = visit;
    await page.getByRole('button', { name: pushMessages.publish() }).click();
    const dialog = page.getByRole('dialog', { name: pushMessages.publishAMessage() });
    await dialog.getByLabel(pushMessages.topic()).fill('harbour');
    await dialog.getByRole('textbox', { name: pushComposeMessages.message() }).fill("It's **light**");
    await dialog.getByLabel(pushComposeMessages.markdown()).check();
    await dialog.getByRole('group', { name: pushComposeMessages.preview() }).locator('strong').waitFor();
    await dialog.getByText(pushComposeMessages.theSameWithCurl()).click();
    const command = await dialog.locator('details code').innerText();
    expect(command).toContain(String.raw`--data-raw 'It'\''s **light**'`);
    expect(command).toContain(`-H 'Markdown: yes'`);
    await dialog.getByLabel(pushComposeMessages.sendLater()).fill('some day');
    await dialog.getByRole('button', { name: pushMessages.publish() }).click();
    await dialog.getByText(containing(pushProblems.delayInvalid({ hours: anyCount }))).waitFor();
    await dialog.getByLabel(pushComposeMessages.sendLater()).fill('30m');
    await dialog.getByRole('button', { name: pushMessages.publish() }).click();
    await page
      .getByText(startingWith(pushComposeMessages.goesToTargetOnTime({ target: 'harbour', time: anyText })))
      .waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('creates a token with a single permission', async () => {
    await using visit = await pages.visit('/push/topics/nas-error-backup?show=subscribe');
    const { page } = visit;
    await page.getByLabel(pushMessages.nameOfTheToken()).fill('Backup script');
    await page.getByLabel(pushMessages.whatItMay()).selectOption(pushMessages.mayOnlyPublish());
    await page.getByRole('button', { name: pushMessages.makeAToken() }).click();
    const token = await page.locator('code').filter({ hasText: /^tk_/ }).innerText();
    const headers = { Authorization: `Bearer ${token}` };
    const address = pages.host.url('push');
    const sendRequest = async (path: string, method: string): Promise<number> =>
      (await fetch(`${address}/${path}`, { method, headers, ...(method === 'POST' ? { body: 'x' } : {}) })).status;
    expect(await sendRequest('nas-error-backup', 'POST')).toBe(200);
    expect(await sendRequest('nas-error-backup/json?poll=1', 'GET')).toBe(403);
    expect(await sendRequest('router-info-maintenance', 'POST')).toBe(403);
    // The command below "Send from a script" works as copied.
    const command = (await page.getByText(/^curl .*-d "Hello"/).textContent()) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', command.replace(/^curl /, 'curl -sS ')]);
    expect(JSON.parse(stdout)).toMatchObject({ topic: 'nas-error-backup', message: 'Hello' });
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits with the composer on $on', async (screen) => {
    await using visit = await pages.visit('/push', screen);
    const { page } = visit;
    await page.getByRole('button', { name: pushMessages.publish() }).click();
    const dialog = page.getByRole('dialog', { name: pushMessages.publishAMessage() });
    await dialog.getByLabel(pushMessages.topic()).fill('harbour');
    await dialog.getByRole('textbox', { name: pushComposeMessages.message() }).fill('**light**');
    await dialog.getByLabel(pushComposeMessages.markdown()).check();
    await dialog.getByText(pushComposeMessages.theSameWithCurl()).click();
    await expectFits(visit, 'push-compose', screen);
  });
});
