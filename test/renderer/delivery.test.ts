import * as deliveryMessages from '#messages/delivery';
import * as notifyMessages from '#messages/notify';
import * as notifyLabels from '#messages/notify-labels';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { anyText, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { openRealServices, type RealServices } from './real-services.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('the overview of Delivery', () => {
  let real: RealServices;
  let receiver: Server;
  let refuses = true;
  let isBusy = true;
  let address: string;
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.resume();
      const fails = request.url === '/busy' && isBusy;
      response.writeHead(refuses && request.url === '/full' ? 403 : fails ? 503 : 200).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    real = await openRealServices();
    address = `json://127.0.0.1:${String((receiver.address() as AddressInfo).port)}`;
    await real.ask('POST', '/notify/keys', { key: 'house', text: `inbox://\n${address}/hall\nchat=${address}/full\n` });
    for (const title of ['First', 'Second', 'Third']) await real.post('house', title);
    await vi.waitFor(async () =>
      expect((await real.ask('GET', '/notify/statistics')).problems).toMatchObject([{ dead: 3 }]),
    );
  });
  afterAll(async () => {
    await real[Symbol.asyncDispose]();
    receiver.close();
  });

  it.each(screens)('shows causes, destinations and the last day on $on', async (screen) => {
    await using browserPage = await real.visit('/delivery', screen);
    const { page } = browserPage;
    await page.getByText(deliveryMessages.countGivenUp({ count: 3 }), { exact: true }).waitFor();
    const rows = page
      .getByRole('list', { name: matching(deliveryMessages.destinationsOfKey({ key: anyText })) })
      .getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(5);
    await rows.filter({ hasText: '/full' }).getByText(deliveryMessages.lastFailed()).waitFor();
    await rows.filter({ hasText: '/full' }).getByText('chat', { exact: true }).waitFor();
    const causes = page.getByRole('list', { name: deliveryMessages.causes() }).getByRole('listitem');
    const chat = notifyLabels.destinationOfKey({ name: 'JSON (chat)', key: 'house' });
    await causes.getByText(chat, { exact: true }).waitFor();
    await causes.getByText(`${address}/full`).waitFor();
    const change = causes.getByRole('link', {
      name: deliveryMessages.changeDestination({ names: chat }),
    });
    expect(await change.getAttribute('href')).toBe('/delivery/keys/house');
    expect(await causes.innerText()).not.toContain('Failed to send');
    await page
      .getByRole('img', {
        name: deliveryMessages.sentInDays({ delivered: 0, failed: 3, days: 30 }),
      })
      .waitFor();
    await rows
      .first()
      .getByText(startingWith(deliveryMessages.arrivedIn({ usual: anyText })))
      .waitFor();
    await page
      .getByRole('img', {
        name: deliveryMessages.deliveriesEachDaySummary({
          summary: deliveryMessages.deliveredIn30Days({ percent: '66.6', total: 9 }),
        }),
      })
      .waitFor();
    const chosen = page.getByLabel(deliveryMessages.destination(), { exact: true });
    const full = await chosen.locator('option').filter({ hasText: '/full' }).getAttribute('value');
    await chosen.selectOption(full ?? 'none');
    await page
      .getByRole('img', {
        name: deliveryMessages.deliveriesEachDaySummary({
          summary: deliveryMessages.deliveredIn30Days({ percent: '0', total: 3 }),
        }),
      })
      .waitFor();
    await page.getByRole('radio', { name: deliveryMessages.twentyFourHours() }).check();
    await page.getByRole('img', { name: deliveryMessages.deliveriesOfLastDaySummary({ total: 9 }) }).waitFor();
    await page.getByText('Delivered 6, Failed 3').waitFor();
    // All deliveries are in one hour, so there is no line to draw.
    await page.getByText(matching(deliveryMessages.usualDuration({ usual: anyText }))).waitFor();
    expect(await page.getByRole('img', { name: deliveryMessages.durationSummary() }).count()).toBe(0);
    await expectFits(browserPage, 'delivery', screen);
  });

  it('retries all failed deliveries, and sends a test mail', async () => {
    refuses = false;
    await using browserPage = await real.visit('/delivery');
    const { page } = browserPage;
    await page.getByRole('button', { name: deliveryMessages.tryAllCountAgain({ count: 3 }) }).click();
    await page.getByText(notifyLabels.countRetried({ count: 3 })).waitFor();
    await page.getByRole('heading', { name: deliveryMessages.notDelivered() }).waitFor({ state: 'detached' });
    await page
      .getByRole('img', {
        name: deliveryMessages.sentInDays({ delivered: 3, failed: 0, days: 30 }),
      })
      .nth(2)
      .waitFor();
    await page.getByRole('button', { name: deliveryMessages.sendATestMail() }).click();
    await page.getByText(startingWith(deliveryMessages.testMailSent({ address: anyText }))).waitFor();
    expect(await page.getByRole('link', { name: deliveryMessages.seeIt() }).getAttribute('href')).toBe(
      '/delivery/mails',
    );
    await page
      .getByRole('img', { name: matching(deliveryMessages.mailsEachDaySummary({ counts: `${anyText}1` })) })
      .waitFor();
    await page.getByRole('link', { name: 'JSON' }).first().click();
    await page.waitForURL('**/delivery/keys/house');
  });

  it('shows when a temporary failure is retried, and retries it now on request', async () => {
    await real.ask('POST', '/notify/keys', { key: 'busy', text: `${address}/busy\n` });
    await real.post('busy', 'Later');
    await using browserPage = await real.visit('/delivery');
    const { page } = browserPage;
    const cause = page
      .getByRole('list', { name: deliveryMessages.causes() })
      .getByRole('listitem')
      .filter({ hasText: '503' });
    await cause.getByText(matching(deliveryMessages.nextTry({ when: anyText }))).waitFor();
    await cause.getByText(deliveryMessages.countWait({ count: 1 }), { exact: true }).waitFor();
    expect(
      await cause
        .getByRole('link', { name: startingWith(deliveryMessages.changeDestination({ names: anyText })) })
        .count(),
    ).toBe(0);
    isBusy = false;
    await cause.getByRole('button', { name: startingWith(deliveryMessages.tryNow({ names: anyText })) }).click();
    await page.getByRole('heading', { name: deliveryMessages.notDelivered() }).waitFor({ state: 'detached' });
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows a copyable command that posts to a key', async () => {
    await using browserPage = await real.visit('/delivery/connect');
    const { page } = browserPage;
    await page
      .getByLabel(notifyMessages.key(), { exact: true })
      .selectOption(notifyMessages.keyTitle({ key: 'house' }));
    const command = await page.getByText(/^curl -d title=Hello .+\/notify\/house$/).innerText();
    await promisify(execFile)('sh', ['-c', command]);
    const titles = async (): Promise<string[]> =>
      (await real.ask('GET', '/notify/notices?key=house')).notices.map(({ title }: { title: string }) => title);
    await expect.poll(titles).toContain('Hello');
    await page.getByRole('link', { name: notifyMessages.alertmanagerAndMoreForThis() }).click();
    await page.waitForURL('**/delivery/keys/house');
    expect(browserPage.complaints).toEqual([]);
  });
});
