import * as notifyFormsMessages from '#messages/notify-forms';
import * as notifyProblems from '#messages/notify-problems';
import * as notifyTexts from '#messages/notify-texts';
import * as deliveryMessages from '#messages/delivery';
import * as notifyMessages from '#messages/notify';
import * as partsMessages from '#messages/parts';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser, openPage, getBrowser, signIn } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { anyText, containing, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { closeToasts } from './toasts.ts';
import { screens } from './screens.ts';
import { besidesRefusals } from './visit.ts';

describe.skipIf(noBrowser)('the notification pages', () => {
  let browser: Browser;
  let host: TestHost;
  let receiver: Server;
  let answer: { status: number; message: string };
  let port: string;
  beforeAll(async () => {
    browser = await getBrowser();
  });
  beforeEach(async () => {
    const built = process.env['HOMEPORT_TEST_PAGES'];
    answer = { status: 200, message: '' };
    receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(answer.status).end(answer.message);
    }).listen(0, '127.0.0.1');
    const services = [notify, push, inbox, control];
    [host] = await Promise.all([
      openTestHost({ services, ...(built ? { pages: built } : {}) }),
      once(receiver, 'listening'),
    ]);
    port = String((receiver.address() as AddressInfo).port);
  });
  afterEach(async () => {
    receiver.close();
    await host[Symbol.asyncDispose]();
  });

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(browser, options);
    await signIn(browserPage.page.context(), host.url('control'));
    await browserPage.page.goto(`${host.url('control')}${path}`);
    return browserPage;
  };
  const sendRequest = (method: string, path: string, body: unknown): Promise<any> =>
    api(host.url('control'), `/api/notify${path}`, { method, body: JSON.stringify(body) });
  const post = (key: string, title: string): Promise<Response> =>
    fetch(`${host.url('notify')}/notify/${key}`, { method: 'POST', body: new URLSearchParams({ title, body: 'x' }) });

  it('adds a destination, tests it with its real reply, and never shows its secret again', async () => {
    await using browserPage = await visit('/delivery/keys');
    const { page } = browserPage;
    const rows = page.getByRole('list', { name: notifyMessages.destinations(), exact: true }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('button', { name: notifyMessages.addADestination() }).click();
    const dialog = page.getByRole('dialog', { name: notifyMessages.addADestination() });
    await dialog.getByRole('combobox', { name: notifyMessages.whereShallNotificationsGo() }).fill('json://');
    await dialog.getByRole('option', { name: /^JSON/ }).click();
    await dialog.getByRole('button', { name: notifyMessages.add(), exact: true }).click();
    await dialog.getByText(notifyProblems.valueMissing()).waitFor();
    await dialog.getByLabel(notifyFormsMessages.host()).fill('127.0.0.1');
    await dialog.getByLabel(notifyFormsMessages.port()).fill(port);
    await dialog.getByLabel(notifyFormsMessages.encrypted()).uncheck();
    await dialog.getByLabel(notifyFormsMessages.user()).fill('bob');
    await dialog.getByLabel(notifyFormsMessages.password()).fill('sesame');
    await dialog.getByLabel(notifyMessages.tags()).fill('nas, night');
    await dialog.getByRole('button', { name: notifyMessages.add(), exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = rows.filter({ hasText: 'JSON' });
    await row.getByText(notifyMessages.nothingWasSentToIt()).waitFor();
    answer = { status: 403, message: 'Go away, sesame.' };
    await row
      .getByRole('button', { name: startingWith(notifyMessages.testDestination({ service: anyText, line: anyText })) })
      .click();
    await row.getByText(notifyMessages.testFailed()).waitFor();
    await row.getByText(notifyMessages.whatItAnsweredWithStatus({ status: '403' })).click();
    await row.getByText('Go away, ****.', { exact: true }).waitFor();
    answer = { status: 200, message: 'Fine.' };
    await row
      .getByRole('button', { name: startingWith(notifyMessages.testDestination({ service: anyText, line: anyText })) })
      .click();
    await row.getByText(containing(notifyMessages.testArrived({ duration: anyText }))).waitFor();
    await row.getByText(notifyMessages.deliveryDone(), { exact: true }).waitFor();
    await row
      .getByRole('button', {
        name: startingWith(notifyMessages.moreForServiceInLine({ service: anyText, line: anyText })),
      })
      .click();
    await page.getByRole('menuitem', { name: notifyMessages.edit() }).click();
    const edit = page.getByRole('dialog', { name: notifyMessages.editTheDestination() });
    expect(await edit.getByLabel(notifyFormsMessages.password()).inputValue()).toBe('');
    await edit.getByText(notifyMessages.secretStored()).waitFor();
    await edit.getByLabel(notifyMessages.tags()).fill('nas');
    await edit.getByRole('button', { name: notifyMessages.save() }).click();
    await edit.waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain('sesame');
    expect((await sendRequest('GET', '/keys/aggregator/text?secrets=true', undefined)).text).toContain(
      'nas=json://bob:sesame@',
    );
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('shows the recipients of a notification, and why', async () => {
    await sendRequest('POST', '/keys/aggregator/destinations', { url: 'push://hall', tags: ['night'] });
    await using browserPage = await visit('/delivery/keys');
    const { page } = browserPage;
    await page.getByText(notifyMessages.wouldGetIt({ count: 3, total: 3 })).waitFor();
    await page.getByRole('textbox', { name: notifyMessages.tags() }).fill('night, other');
    await page.getByText(notifyMessages.wouldGetIt({ count: 1, total: 3 })).waitFor();
    await page.getByText(notifyTexts.tagSelected({ count: 1, tags: 'night' })).waitFor();
    await page.getByRole('textbox', { name: notifyMessages.tags() }).fill('??');
    await page.getByText(notifyProblems.tagExpressionInvalid()).waitFor();
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('creates, renames and removes a key, with Undo', async () => {
    await using browserPage = await visit('/delivery/keys');
    const { page } = browserPage;
    const menu = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: startingWith(notifyMessages.moreForKey({ key: anyText })) }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await page.getByRole('button', { name: notifyMessages.newKey() }).click();
    await page.getByRole('textbox', { name: notifyMessages.name() }).fill('house');
    await page.getByLabel(notifyMessages.destinationsOptional()).fill('inbox://\nnonsense');
    await page.getByRole('button', { name: notifyMessages.makeTheKey() }).click();
    await page
      .getByText(notifyMessages.skippedLine({ line: '2', reason: notifyProblems.lineNotADestination() }))
      .waitFor();
    const address = `${host.url('notify')}/notify/house`;
    await page.getByText(address, { exact: true }).waitFor();
    await menu('Rename');
    await page.getByRole('textbox', { name: notifyMessages.name() }).fill('aggregator');
    await page.getByRole('button', { name: notifyMessages.rename() }).click();
    await page.getByText(notifyProblems.keyTaken({ key: 'aggregator' })).waitFor();
    await page.getByRole('textbox', { name: notifyMessages.name() }).fill('home');
    await page.getByRole('button', { name: notifyMessages.rename() }).click();
    await page.getByText(address.replace('house', 'home'), { exact: true }).waitFor();
    await menu(notifyMessages.removeTheKey());
    await page.getByText(notifyMessages.theKeyKeyIsRemoved({ key: 'home' })).waitFor();
    await expect.poll(() => page.getByLabel(notifyMessages.key(), { exact: true }).inputValue()).toBe('aggregator');
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(() => page.getByLabel(notifyMessages.key(), { exact: true }).inputValue()).toBe('home');
    await menu(notifyMessages.removeTheKey());
    const names = async () =>
      (await sendRequest('GET', '/keys', undefined)).keys.map(({ key }: { key: string }) => key);
    await expect.poll(() => closeToasts(page).then(names)).toEqual(['aggregator']);
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('shows the history as it grows, searches it and sends again', async () => {
    await using browserPage = await visit('/delivery/history');
    const { page } = browserPage;
    await page.getByText(notifyMessages.nothingWasSentYet()).waitFor();
    await page.getByText(`${host.url('notify')}/notify/aggregator`).waitFor();
    await post('aggregator', 'First light');
    const row = page.getByRole('button', { name: /First light/ });
    await row.getByText(notifyMessages.deliveryDone(), { exact: true }).waitFor();
    await post('aggregator', 'Second light');
    await page.getByRole('button', { name: /Second light/ }).waitFor();
    await page.getByRole('searchbox').fill('first');
    await page.getByRole('button', { name: /Second light/ }).waitFor({ state: 'detached' });
    await row.click();
    const dialog = page.getByRole('dialog', { name: 'First light' });
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(2);
    await dialog.getByRole('button', { name: notifyMessages.sendAgain() }).click();
    await page.getByText(notifyMessages.sentAgain({ count: 2 })).waitFor();
    await page.mouse.move(0, 0);
    await expect.poll(() => row.count()).toBe(2);
    expect(browserPage.complaints).toEqual([]);
  });

  it('scrolls through ten thousand notifications with few rendered rows', async () => {
    await using browserPage = await visit('/delivery/history');
    const { page } = browserPage;
    await page.getByText(notifyMessages.nothingWasSentYet()).waitFor();
    const all = Array.from({ length: 10_000 }, (_, index) => ({
      id: String(index),
      key: 'aggregator',
      title: `Notice ${String(index)}`,
      body: '',
      type: 'info',
      source: 'notify',
      time: Date.now() - index * 1000,
      deliveries: [],
    }));
    await page.route(/api\/notify\/notices/, (route) => {
      const before = new URL(route.request().url()).searchParams.get('before');
      const start = before === null ? 0 : Number(before) + 1;
      return route.fulfill({ json: { notices: all.slice(start, start + 200), givenUp: 0, waiting: 0 } });
    });
    await page.reload();
    await page.getByRole('button', { name: /Notice 0 / }).waitFor();
    const list = page.getByRole('group', { name: notifyMessages.notificationsNewestFirst() });
    await expect
      .poll(
        async () => {
          await list.evaluate((frame) => (frame.scrollTop = frame.scrollHeight));
          return page.getByRole('button', { name: /Notice 9999 / }).count();
        },
        { interval: 20 },
      )
      .toBe(1);
    expect(await list.getByRole('listitem').count()).toBeLessThan(60);
    expect(browserPage.complaints).toEqual([]);
  });

  it('retries failed deliveries, and dismisses one with Undo', async () => {
    await sendRequest('POST', '/keys/late/destinations', { url: `json://127.0.0.1:${port}/late`, tags: [] });
    answer.status = 403;
    await post('late', 'One');
    await post('late', 'Two');
    await using browserPage = await visit('/delivery');
    const { page } = browserPage;
    const causes = page.getByRole('list', { name: deliveryMessages.causes() });
    await causes.getByText(/\(error 403\)/).waitFor();
    await causes.getByText(deliveryMessages.whichNotifications()).click();
    const rows = page.getByRole('list', { name: deliveryMessages.failedNotificationsLabel() }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(2);
    await rows.first().getByRole('button', { name: notifyMessages.dismiss() }).click();
    await expect.poll(() => rows.count()).toBe(1);
    await causes.getByText(/^1 failed/).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await causes.getByText(/^2 failed/).waitFor();
    answer.status = 200;
    await rows.first().getByRole('button', { name: notifyMessages.tryAgain() }).click();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: notifyMessages.tryAgain(), exact: true }).click();
    await page.getByRole('heading', { name: deliveryMessages.notDelivered() }).waitFor({ state: 'detached' });
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows why keys cannot be loaded, and loads them on request', async () => {
    await using browserPage = await visit('/settings/log');
    const { page } = browserPage;
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.route(/api\/notify\/keys/, (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'x', detail: 'The disk is full.' } } }),
    );
    await page.goto(`${host.url('control')}/notify`);
    await page.getByText('The disk is full.').waitFor();
    await page.unroute(/api\/notify\/keys/);
    await page.getByRole('button', { name: notifyMessages.tryAgain() }).click();
    await page.getByRole('heading', { name: notifyMessages.destinations() }).waitFor();
  });

  it.each(screens)('fits and is accessible, with long names, on $on', async (screen) => {
    const long = `json://bob:sesame@127.0.0.1:${port}/${'a-very-long-path/'.repeat(8)}`;
    await sendRequest('POST', '/keys/aggregator/destinations', { url: long, tags: ['nas', 'night', 'x'.repeat(40)] });
    await post('aggregator', 'Backup finished: a title that is longer than any list should have to show in full');
    await using browserPage = await visit('/delivery/keys', screen);
    const { page } = browserPage;
    const assertFits = (): Promise<void> => expectFits(browserPage, 'notify', screen);
    await page.getByText(notifyMessages.wouldGetIt({ count: 3, total: 3 })).waitFor();
    await assertFits();
    await page.getByRole('button', { name: notifyMessages.addADestination() }).click();
    await page.getByRole('option', { name: /^ntfy/ }).waitFor();
    await assertFits();
    await page.getByRole('option', { name: /^ntfy/ }).click();
    await page.getByLabel(notifyFormsMessages.accessToken()).waitFor();
    await assertFits();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: deliveryMessages.history() }).click();
    await page.getByRole('button', { name: /Backup finished/ }).click();
    await page.getByRole('dialog').waitFor();
    await assertFits();
    await page.keyboard.press('Escape');
    await assertFits();
    await page.getByRole('tab', { name: deliveryMessages.overview() }).click();
    await page.getByRole('heading', { name: deliveryMessages.destinations() }).waitFor();
    await assertFits();
    expect(browserPage.complaints).toEqual([]);
  });
});
