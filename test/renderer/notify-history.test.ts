import * as deliveryMessages from '#messages/delivery';
import * as notifyMessages from '#messages/notify';
import * as notifyLabels from '#messages/notify-labels';
import * as partsMessages from '#messages/parts';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { startingWith } from '../support/message-patterns.ts';
import { seriousFindings } from './axe.ts';
import { expectFits } from './fits.ts';
import { closeToasts } from './toasts.ts';
import { openRealServices, type RealServices } from './real-services.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('the history of notifications', () => {
  let real: RealServices;
  let receiver: Server;
  let status: number;
  beforeEach(async () => {
    status = 503;
    receiver = createServer((request, response) => {
      request.resume();
      // Automatic retries take seconds, longer than the test: only a click retries within one.
      response.writeHead(status, { 'Retry-After': '50' }).end('Busy.');
    }).listen(0, '127.0.0.1');
    [real] = await Promise.all([openRealServices(), once(receiver, 'listening')]);
    const receiverAddress = `127.0.0.1:${String((receiver.address() as AddressInfo).port)}`;
    await real.ask('POST', '/notify/keys/late/destinations', {
      url: `json://${receiverAddress}/hook?method=POST`,
      tags: [],
    });
  });
  afterEach(async () => {
    receiver.close();
    await real[Symbol.asyncDispose]();
  });

  it('shows why a delivery is waiting and its next attempt, and retries it on request', async () => {
    await real.post('late', 'Backup');
    await using browserPage = await real.visit('/delivery/history?state=waiting');
    const { page } = browserPage;
    await page.getByRole('button', { name: /Backup/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Backup' });
    await dialog.getByText(notifyMessages.nextTry({ when: 'in 1 min' })).waitFor();
    // The formatted reason, with the original message behind a click.
    await dialog.getByText(notifyLabels.faultOfDestination({ status: '503' })).click();
    await dialog.getByText('Failed to send JSON POST notification, error=503.').waitFor();
    status = 200;
    await dialog.getByRole('button', { name: notifyMessages.tryNow() }).click();
    await expect.poll(async () => (await real.ask('GET', '/notify/notices')).waiting).toBe(0);
    expect(browserPage.complaints).toEqual([]);
  });

  it('opens a notification that is not listed, and reports a deleted one', async () => {
    await real.post('aggregator', 'First light');
    await real.post('aggregator', 'Second light');
    const [, first] = (await real.ask('GET', '/notify/notices')).notices;
    await using browserPage = await real.visit(`/delivery/history/${String(first.id)}?q=second`);
    const { page } = browserPage;
    await page.getByRole('dialog', { name: 'First light' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /Second light/ }).waitFor();
    await page.goto(`${real.host.url('control')}/delivery/history/none`);
    await page.getByRole('heading', { name: notifyMessages.notificationNotFound() }).waitFor();
  });

  it('restores a dismissed delivery in its dialog', async () => {
    status = 403;
    await real.post('late', 'Camera');
    await using browserPage = await real.visit('/delivery/history');
    const { page } = browserPage;
    await page.getByRole('button', { name: /Camera/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Camera' });
    await dialog.getByRole('button', { name: notifyMessages.dismiss() }).click();
    await dialog.getByRole('button', { name: notifyMessages.dismiss() }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await dialog.getByRole('button', { name: notifyMessages.dismiss() }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(browserPage.complaints).toEqual([]);
  });

  it('updates a notification that is too old to be listed', async () => {
    await real.post('late', 'Old backup');
    const [old] = (await real.ask('GET', '/notify/notices')).notices;
    await using browserPage = await real.visit(`/notify/history?q=nothing-like-it&id=${String(old.id)}`);
    const { page } = browserPage;
    const dialog = page.getByRole('dialog', { name: 'Old backup' });
    await dialog.getByText(notifyMessages.nextTry({ when: 'in 1 min' })).waitFor();
    status = 200;
    await dialog.getByRole('button', { name: notifyMessages.tryNow() }).click();
    await dialog.getByText(notifyMessages.deliveryDone()).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows how many files are missing when a notification is sent again', async () => {
    await real.post('aggregator', 'With pictures');
    await using browserPage = await real.visit('/delivery/history');
    const { page } = browserPage;
    await page.route(/notices\/[^/]+\/send$/, (route) => route.fulfill({ json: { destinations: 2, filesGone: 3 } }));
    await page.getByRole('button', { name: /With pictures/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: notifyMessages.sendAgain() }).click();
    await page.getByText(notifyMessages.sentAgainWithoutFiles({ count: 2, files: 3 })).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('groups failed deliveries by cause, and retries or dismisses one or all', async () => {
    status = 403;
    for (const title of ['One', 'Two', 'Three']) await real.post('late', title);
    status = 404;
    await real.post('late', 'Four');
    const countFailed = async (): Promise<number> => (await real.ask('GET', '/notify/notices')).givenUp;
    await expect.poll(countFailed).toBe(4);
    await using browserPage = await real.visit('/delivery');
    const { page } = browserPage;
    await page.getByText(deliveryMessages.deliveriesGivenUpForReasons({ count: 4, reasons: 2 })).waitFor();
    const causes = page.getByRole('list', { name: deliveryMessages.causes() });
    const groups = causes.locator('> li');
    await expect.poll(() => groups.count()).toBe(2);
    const [forbidden, missing] = [groups.filter({ hasText: '403' }), groups.filter({ hasText: '404' })];
    // The destination alternates its replies: the link depends on the last one.
    const change = missing.getByRole('link', {
      name: startingWith(deliveryMessages.changeDestination({ names: 'late › JSON' })),
    });
    expect(await change.getAttribute('href')).toBe('/delivery/keys/late');
    await forbidden.getByText(deliveryMessages.whichNotifications()).click();
    const rows = forbidden
      .getByRole('list', { name: deliveryMessages.failedNotificationsLabel() })
      .getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(3);
    await rows.first().getByText('Three').click();
    await page.getByRole('dialog', { name: 'Three' }).getByText('(error 403)').waitFor();
    await page.keyboard.press('Escape');
    await forbidden.getByRole('button', { name: deliveryMessages.dismissAllCount({ count: 3 }) }).click();
    await page.getByText(deliveryMessages.deliveriesGivenUp({ count: 1 })).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(() => groups.count()).toBe(2);
    expect(await countFailed()).toBe(4);
    status = 200;
    await missing.getByRole('button', { name: notifyMessages.tryAgain(), exact: true }).click();
    await expect.poll(countFailed).toBe(3);
    await page.getByText(deliveryMessages.deliveriesGivenUp({ count: 3 })).waitFor();
    await page.getByRole('button', { name: deliveryMessages.dismissAllCount({ count: 3 }) }).click();
    await page.getByRole('heading', { name: deliveryMessages.notDelivered() }).waitFor({ state: 'detached' });
    await expect.poll(() => closeToasts(page).then(countFailed)).toBe(0);
    expect(browserPage.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await real.post('late', 'Backup finished: a title that is longer than any list should have to show in full');
    status = 403;
    const { text } = await real.ask('GET', '/notify/keys/late/text?secrets=true');
    await real.ask('POST', '/notify/keys', {
      key: `door-${String(screen.width)}`,
      text: String(text).replace('hook', 'door'),
    });
    await real.post(`door-${String(screen.width)}`, 'Camera at the door');
    await using browserPage = await real.visit('/delivery/history', screen);
    const { page } = browserPage;
    // The destination is already shown in the row.
    await page.getByRole('button', { name: /Backup finished.* Key late · JSON/s }).click();
    await page.getByRole('dialog').waitFor();
    await expectFits(browserPage, 'notify-notice', screen);
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: deliveryMessages.overview() }).click();
    await page.getByText(deliveryMessages.deliveriesGivenUp({ count: 1 })).waitFor();
    await expectFits(browserPage, 'notify-given-up', screen);
  });
});
