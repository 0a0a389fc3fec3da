import * as deadLettersMessages from '#messages/dead-letters';
import * as homeMessages from '#messages/home';
import * as partsMessages from '#messages/parts';
import * as stateMessages from '#messages/state';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { notify } from '../../services/notify/index.ts';
import { api } from '../support/api.ts';
import { noBrowser, openPage, getBrowser, signIn } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { anyCount, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { closeToasts } from './toasts.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('the Problems page', () => {
  let browser: Browser;
  let host: TestHost;
  let receiver: Server;
  let status: number;
  beforeAll(async () => {
    browser = await getBrowser();
  });
  beforeEach(async () => {
    const built = process.env['HOMEPORT_TEST_PAGES'];
    const services = [notify, inbox, control];
    status = 403;
    receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    [host] = await Promise.all([
      openTestHost({ services, ...(built ? { pages: built } : {}) }),
      once(receiver, 'listening'),
    ]);
  });
  afterEach(async () => {
    receiver.close();
    await host[Symbol.asyncDispose]();
  });

  const dead = async (): Promise<number> =>
    (await api<{ jobs: unknown[] }>(host.url('control'), '/api/jobs/dead')).jobs.length;
  const giveUp = async (count: number): Promise<void> => {
    const urls = `json://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/hook`;
    for (let index = 0; index < count; index += 1) {
      await fetch(`${host.url('notify')}/notify`, { method: 'POST', body: new URLSearchParams({ body: 'x', urls }) });
    }
    await expect.poll(dead).toBe(count);
  };
  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(browser, options);
    await signIn(browserPage.page.context(), host.url('control'));
    await browserPage.page.goto(`${host.url('control')}${path}`);
    return browserPage;
  };

  it('shows an empty state on every screen', async () => {
    await using browserPage = await visit('/settings/problems');
    await browserPage.page.getByText(deadLettersMessages.nothingWasGivenUp()).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows problems on Home, and retries them individually or together', async () => {
    await giveUp(3);
    await using browserPage = await visit('/');
    const { page } = browserPage;
    await page.getByText(stateMessages.deliveriesGivenUp({ count: 3 })).waitFor();
    await page.getByRole('link', { name: homeMessages.seeTheProblems() }).click();
    const rows = page.getByRole('list', { name: deadLettersMessages.givenUpWorkNewestFirst() }).getByRole('listitem');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(3);
    const text = await rows.first().innerText();
    expect(text).toContain('A notification wasn’t delivered');
    expect(text).toContain('Delivery · 1 attempt');
    expect(text).toContain('(error 403)');
    status = 200;
    await rows
      .first()
      .getByRole('button', { name: startingWith(deadLettersMessages.retryJobs({ count: 1, title: '' })) })
      .click();
    await expect.poll(() => rows.count()).toBe(2);
    await expect.poll(dead).toBe(2);
    await page.getByRole('button', { name: deadLettersMessages.tryAllAgain() }).click();
    await page.getByText(deadLettersMessages.nothingWasGivenUp()).waitFor();
    await expect.poll(dead).toBe(0);
    expect(browserPage.complaints).toEqual([]);
  });

  it('dismisses a problem with Undo', async () => {
    await giveUp(1);
    await using browserPage = await visit('/settings/problems');
    const { page } = browserPage;
    await page
      .getByRole('button', { name: startingWith(deadLettersMessages.dismissJobs({ count: 1, title: '' })) })
      .click();
    await page.getByText(deadLettersMessages.nothingWasGivenUp()).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await page
      .getByRole('button', { name: startingWith(deadLettersMessages.dismissJobs({ count: 1, title: '' })) })
      .click();
    expect(await dead()).toBe(1);
    await expect.poll(() => closeToasts(page).then(dead)).toBe(0);
    expect(browserPage.complaints).toEqual([]);
  });

  it('groups problems by cause, and retries or dismisses a group', async () => {
    await giveUp(5);
    await using browserPage = await visit('/settings/problems');
    const { page } = browserPage;
    const rows = page.getByRole('list', { name: deadLettersMessages.givenUpWorkNewestFirst() }).getByRole('listitem');
    await rows.getByText('5 notifications weren’t delivered to JSON', { exact: true }).waitFor();
    expect(await rows.count()).toBe(1);
    // The row already has this button.
    expect(await page.getByRole('button', { name: deadLettersMessages.tryAllAgain() }).count()).toBe(0);
    await rows
      .getByRole('button', { name: startingWith(deadLettersMessages.dismissJobs({ count: anyCount, title: '' })) })
      .click();
    await page.getByText(deadLettersMessages.nothingWasGivenUp()).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    status = 200;
    await rows
      .getByRole('button', { name: startingWith(deadLettersMessages.retryJobs({ count: 5, title: '' })) })
      .click();
    await expect.poll(dead).toBe(0);
    expect(browserPage.complaints).toEqual([]);
  });

  it.each(screens)('fits and is accessible with rows on $on', async (screen) => {
    await giveUp(2);
    await using browserPage = await visit('/settings/problems', screen);
    const { page } = browserPage;
    await page
      .getByRole('button', { name: startingWith(deadLettersMessages.dismissJobs({ count: 1, title: '' })) })
      .first()
      .waitFor();
    await expectFits(browserPage, 'given-up', screen);
  });
});
