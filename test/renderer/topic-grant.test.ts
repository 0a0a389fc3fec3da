import * as inboxMessages from '#messages/inbox';
import * as manifestsMessages from '#messages/manifests';
import * as hostProblems from '#messages/host-problems';
import * as homeMessages from '#messages/home';
import * as frameMessages from '#messages/frame';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api } from '../support/api.ts';
import { noBrowser, openPage, signIn, getBrowser, type WatchedPage } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals } from './visit.ts';

/** Generous timeouts for a busy computer. */
const bob = { name: 'bob', password: 'long enough' };

describe.skipIf(noBrowser)('the pages of an account with a grant for one topic', () => {
  let host: TestHost;
  let browser: Browser;
  const callApp = (method: string, path: string, body: unknown): Promise<any> =>
    api(host.url('control'), path, { method, body: JSON.stringify(body) });
  const publish = (topic: string, message: string): Promise<unknown> =>
    callApp('POST', '/api/push/messages', { topic, message });

  beforeAll(async () => {
    const built = process.env['HOMEPORT_TEST_PAGES'];
    [host, browser] = await Promise.all([openTestHost(built ? { pages: built } : {}), getBrowser()]);
    const grants = [{ service: 'push', resource: 'lawn', permission: 'read' }];
    await callApp('POST', '/api/accounts', { ...bob, grants });
    await publish('lawn', 'Dew on the grass');
    await publish('vault', 'The code is 7');
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
  });

  async function visit(path: string, options?: Parameters<typeof openPage>[1]): Promise<WatchedPage> {
    const browserPage = await openPage(browser, options);
    await signIn(browserPage.page.context(), host.url('control'), bob);
    await browserPage.page.goto(`${host.url('control')}${path}`);
    return browserPage;
  }

  it('shows messages of the topic as they arrive, count them, and nothing else', async () => {
    await using browserPage = await visit('/inbox');
    const { page } = browserPage;
    await page.getByText('Dew on the grass').waitFor();
    await publish('vault', 'The code is 8');
    await publish('lawn', 'Frost on the grass');
    await page.getByText('Frost on the grass').waitFor();
    const link = page
      .getByRole('navigation', { name: frameMessages.homeport() })
      .getByRole('link', { name: startingWith(inboxMessages.inbox()) });
    await expect.poll(() => link.textContent()).toMatch(/2/);
    // Another account reads one of them; the count for this account is reloaded.
    const { items } = await callApp('PATCH', '/api/inbox', { ids: 'all', read: true }).then(() =>
      api<{ items: readonly { read: boolean }[] }>(host.url('control'), '/api/inbox'),
    );
    expect(items.every(({ read }) => read)).toBe(true);
    await expect.poll(() => link.textContent()).not.toMatch(/\d/);
    expect(await page.content()).not.toContain('The code is');
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('shows who can grant access to downloads', async () => {
    await using browserPage = await visit('/downloads');
    await browserPage.page.getByText(hostProblems.accessRefusedServiceRead({ service: 'downloads' })).waitFor();
  });

  it.each(screens)('shows Home without numbers of other accounts, on $on', async (screen) => {
    await using browserPage = await visit('/', screen);
    const rows = browserPage.page.getByRole('region', { name: homeMessages.services() }).getByRole('listitem');
    await rows.filter({ hasText: manifestsMessages.mailTitle() }).waitFor();
    expect(await browserPage.page.getByText(/unread|queued|in the outbox/).count()).toBe(0);
    await expectFits(browserPage, 'granted-home', screen);
  });
});
