import * as frameMessages from '#messages/frame';
import * as inboxMessages from '#messages/inbox';
import * as partsMessages from '#messages/parts';
import * as stateMessages from '#messages/state';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { addons } from '../../services/addons/index.ts';
import { git } from '../../services/git/index.ts';
import { mail } from '../../services/mail/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';
import { sync } from '../../services/sync/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { noBrowser, openPage, signIn, getBrowser, type WatchedPage } from '../support/browser.ts';
import { admin, adminAuthorization } from '../support/host.ts';
import { startingWith } from '../support/message-patterns.ts';
import { seriousFindings } from './axe.ts';
import { openDataFixture, type DataFixture } from '../services/data/data-fixture.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const unknownId = '00000000-0000-4000-8000-000000000000';

describe.skipIf(noBrowser)('the page of a missing object', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ also: [uptime, git, sync, addons, notify, mail, push] });
    const created = await fetch(`${pages.host.url('git')}/api/v1/user/repos`, {
      method: 'POST',
      headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'lamp', private: true, auto_init: true }),
    });
    expect(created.status).toBe(201);
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  const visitData = async (fixture: DataFixture, path: string): Promise<WatchedPage> => {
    const visit = await openPage(await getBrowser());
    await signIn(visit.page.context(), fixture.host.url('control'));
    await visit.page.goto(`${fixture.host.url('control')}${path}`);
    return visit;
  };
  const repository = `/git/repositories/${admin.name}~lamp`;
  const missing = (page: Page, title: string) =>
    page.getByRole('status').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

  it.each([
    ['/uptime/monitors/99999', 'Monitor not found', 'All monitors', '/uptime'],
    ['/uptime/monitors/none', 'Monitor not found', 'All monitors', '/uptime'],
    ['/uptime/pages/nowhere', 'Status page not found', 'All status pages', '/uptime/pages'],
    ['/git/repositories/ada~nothing', 'Repository not found', 'All repositories', '/git/repositories'],
    [`${repository}?commit=${'a'.repeat(40)}`, 'Commit not found', 'All commits', repository],
    [`${repository}?path=none.txt`, 'File not found', 'All files', repository],
    [`${repository}?show=blame&path=none.txt`, 'File not found', 'All files', repository],
    [`${repository}?show=edit&path=none.txt`, 'File not found', 'All files', repository],
    [`${repository}?show=issues&number=99`, 'Issue or pull request not found', 'All issues', repository],
    ['/sync/syncs/99999', 'Sync not found', 'All syncs', '/sync/syncs'],
    ['/sync/syncs/none', 'Sync not found', 'All syncs', '/sync/syncs'],
    ['/sync/history/99999', 'Run not found', 'All runs', '/sync/history'],
    [`/addons/configurations/${unknownId}`, 'Configuration not found', 'All configurations', '/addons/configurations'],
    ['/addons/configurations/none', 'Configuration not found', 'All configurations', '/addons/configurations'],
    ['/delivery/keys/nothing', 'Key not found', 'All keys', '/delivery/keys'],
    ['/settings/accounts/nobody', 'Account not found', 'All accounts', '/settings/accounts'],
    ['/settings/nothing', 'Settings not found', 'General settings', '/settings'],
    ['/uptime/nothing', 'Page not found', 'Go to Uptime', '/uptime'],
  ])('shows the same state with a link to the list: %s', async (path, title, listTitle, listPath) => {
    await using visit = await pages.visit(path);
    const { page } = visit;
    const state = missing(page, title);
    await state.waitFor();
    expect(await page.getByRole('button', { name: partsMessages.tryAgain() }).count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await state.getByRole('link', { name: listTitle }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe(listPath);
    await state.waitFor({ state: 'detached' });
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('shows the same state for tables and app users', async () => {
    await using fixture = await openDataFixture({});
    for (const [path, title] of [
      ['/data/tables/public.nothing', 'Table not found'],
      [`/data/users/${unknownId}`, 'User not found'],
      ['/data/users/none', 'User not found'],
    ] as const) {
      await using visit = await visitData(fixture, path);
      await missing(visit.page, title).getByRole('link', { name: /^All / }).waitFor();
      expect(await visit.page.getByRole('alert').count()).toBe(0);
      expect(besidesRefusals(visit.complaints)).toEqual([]);
    }
  });

  it.each([
    ['/inbox/messages/99999', 'Message not found', 'Back to the inbox'],
    ['/inbox/messages/none', 'Message not found', 'Back to the inbox'],
    ['/downloads/queue/nothing', 'Download not found', 'All downloads'],
    ['/delivery/history/nothing', 'Notification not found', 'All notifications'],
    ['/delivery/mails/nothing', 'Email not found', 'All emails'],
  ])('shows the same state beside its list: %s', async (path, title, listTitle) => {
    await using visit = await pages.visit(path);
    const { page } = visit;
    const state = missing(page, title);
    await state.waitFor();
    expect(await page.getByRole('button', { name: partsMessages.tryAgain() }).count()).toBe(0);
    await state.getByRole('button', { name: listTitle }).click();
    await state.waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).not.toContain(path.split('/').at(-1));
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it.each([
    [503, 'uptime.busy', 'The database is busy.', 'Try again'],
    [500, 'host.defect', 'Something went wrong here.', 'Try again'],
    [429, 'uptime.too_many', 'Too many requests.', 'Try again'],
    [403, 'accounts.no_grant', 'You may not see the outages.', undefined],
    [400, 'uptime.invalid', 'The limit is too large.', undefined],
  ])('offers to try again only where that can help: status %i', async (status, code, detail, button) => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.route('**/api/uptime/incidents?*', (route) =>
      route.fulfill({ status, json: { error: { code, detail } } }),
    );
    await page.route('**/api/incidents?*', (route) => route.fulfill({ status, json: { error: { code, detail } } }));
    await page.goto(`${pages.url}/uptime/outages`);
    const alert = page.getByRole('alert').filter({ hasText: detail });
    await alert.waitFor();
    expect(await alert.getByRole('button').allTextContents()).toEqual(button === undefined ? [] : [button]);
    // The log contains the details of internal errors.
    expect(await alert.getByRole('link', { name: partsMessages.openTheLog() }).count()).toBe(status >= 500 ? 1 : 0);
  });

  it('links the log in a toast about a failure inside of the host', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    await page.goto(`${pages.url}/inbox`);
    pages.inbox.add({ title: 'Ahoy' });
    await page.route('**/api/inbox', (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 500, body: 'no JSON' }) : route.continue(),
    );
    await page.getByRole('button', { name: inboxMessages.markAllRead() }).click();
    const toast = page.getByRole('region', { name: partsMessages.news() }).getByRole('listitem');
    await toast
      .filter({ hasText: stateMessages.requestFailed({ status: '500' }) })
      .getByRole('link', { name: frameMessages.logTitle() })
      .click();
    await page.getByRole('heading', { level: 1, name: frameMessages.logTitle() }).waitFor();
  });

  it('offers to reload a page that is older than the host', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.route('**/incidents?*', (route) => route.fulfill({ json: { another: 'version' } }));
    await page.goto(`${pages.url}/uptime/outages`);
    const alert = page
      .getByRole('alert')
      .filter({ hasText: frameMessages.homeportVersion({ version: 'was updated while this page was open.' }) });
    await alert.waitFor();
    await page.unroute('**/incidents?*');
    await alert.getByRole('button', { name: partsMessages.reloadThePage() }).click();
    await alert.waitFor({ state: 'detached' });
  });

  it.each(['/push', '/uptime', '/git', '/delivery', '/addons', '/sync'])(
    'shows the tabs of %s while its data is loading',
    async (path) => {
      await using visit = await pages.visit('/settings/log');
      const { page } = visit;
      const answer = Promise.withResolvers<undefined>();
      await page.route(/\/api\/(?!session|events)/, async (route) => {
        await answer.promise;
        await route.continue();
      });
      await page.goto(pages.url + path, { waitUntil: 'commit' });
      const tabs = page.getByRole('tab');
      await tabs.first().waitFor();
      const before = await tabs.first().boundingBox();
      answer.resolve(undefined);
      await page
        .getByRole('status', { name: startingWith(partsMessages.loadingSubject({ subject: '' })) })
        .waitFor({ state: 'detached' });
      expect(await tabs.first().boundingBox()).toEqual(before);
    },
  );
});
