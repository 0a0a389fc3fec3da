import * as frameMessages from '#messages/frame';
import * as mailMessages from '#messages/mail';
import * as partsMessages from '#messages/parts';
import * as stateMessages from '#messages/state';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mailActivity, type SpooledMail } from '../../services/contracts/mail/api.ts';
import { noBrowser } from '../support/browser.ts';
import { manifest as mail } from '../../services/mail/manifest.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const messages = /\/api\/mail\/messages\?/;
/** Page size of the list of mails. */
const step = 100;

/** Mails as the host would return them, from a list of the test. */
describe.skipIf(noBrowser)('a newest-first list', () => {
  let pages: Pages;
  let mails: SpooledMail[];
  beforeEach(async () => {
    pages = await openPages({ also: [{ ...fixtureService('mail'), live: mail.live ?? [] }] });
    mails = [];
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  function arrive(count: number, receivedAt?: number): void {
    for (let index = 0; index < count; index += 1) {
      const number = mails.length + 1;
      mails.unshift({
        id: String(number).padStart(5, '0'),
        sender: 'nas@home',
        recipients: ['alerts@home'],
        subject: `Mail ${String(number)}`,
        size: 100,
        state: 'done',
        targets: [],
        note: '',
        receivedAt: receivedAt ?? Date.now() - 1_000_000 + number,
      });
    }
  }
  function notifyList(): void {
    pages.inbox.bus?.publish(mailActivity, { time: Date.now() });
  }
  async function open(path = '/delivery/mails') {
    const browserPage = await pages.visit('/');
    await browserPage.page.route(messages, async (route) => {
      const query = new URL(route.request().url()).searchParams;
      const [time = Infinity, id = ''] = (query.get('before') ?? '').split('.').filter(Boolean);
      const older = mails.filter(
        (mail) => mail.receivedAt < Number(time) || (mail.receivedAt === Number(time) && mail.id < id),
      );
      const all = query.has('before') ? older : mails;
      await route.fulfill({ json: { messages: all.slice(0, step) } });
    });
    await browserPage.page.goto(`${pages.url}${path}`);
    return browserPage;
  }
  const list = (page: Page) => page.getByRole('group', { name: mailMessages.mailsNewestFirst() });
  /** Scrolls to the end and returns all rows that were visible. */
  async function read(page: Page, last: string): Promise<ReadonlySet<string>> {
    const seen = new Set<string>();
    await expect
      .poll(async () => {
        for (const text of await list(page)
          .getByText(/^Mail \d+$/)
          .allTextContents())
          seen.add(text);
        await list(page).evaluate((frame) => (frame.scrollTop += frame.clientHeight / 2));
        return seen.has(last);
      })
      .toBe(true);
    return seen;
  }

  it('shows rows that arrived during a load', async () => {
    arrive(1);
    await using browserPage = await open();
    const { page } = browserPage;
    await list(page).getByText('Mail 1', { exact: true }).waitFor();
    const [blocked, release] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    await page.route(
      messages,
      async (route) => {
        const json = { messages: [...mails] };
        blocked.resolve(undefined);
        await release.promise;
        await route.fulfill({ json });
      },
      { times: 1 },
    );
    await page.reload();
    await blocked.promise;
    arrive(1);
    notifyList();
    // Arrives on the same stream after the previous event.
    pages.inbox.add();
    await page.getByLabel(frameMessages.countUnread({ unread: 1 })).waitFor();
    release.resolve(undefined);
    await list(page).getByText('Mail 2', { exact: true }).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('has no gap when more rows were pending than one page has', async () => {
    arrive(50);
    await using browserPage = await open();
    const { page } = browserPage;
    await list(page).getByText('Mail 50', { exact: true }).hover();
    arrive(step + 50);
    notifyList();
    await page.getByRole('button', { name: mailMessages.newMailCount({ count: 100 }) }).waitFor();
    expect(await list(page).getByText('Mail 50', { exact: true }).count()).toBe(1);
    await page.getByRole('button', { name: mailMessages.newMailCount({ count: 100 }) }).click();
    await list(page).getByText('Mail 200', { exact: true }).waitFor();
    expect((await read(page, 'Mail 1')).size).toBe(200);
    expect(browserPage.complaints).toEqual([]);
  });

  it('keeps rows with the same time as the last reloaded one', async () => {
    arrive(step + 10, 1_700_000_000_000);
    await using browserPage = await open();
    const { page } = browserPage;
    expect((await read(page, 'Mail 1')).size).toBe(step + 10);
    arrive(1);
    await list(page).evaluate((frame) => (frame.scrollTop = 0));
    notifyList();
    await list(page).getByText('Mail 111', { exact: true }).waitFor();
    expect((await read(page, 'Mail 1')).size).toBe(step + 11);
  });

  it('shows the latest result, even when an earlier request takes longer', async () => {
    arrive(1);
    await using browserPage = await open();
    const { page } = browserPage;
    await list(page).getByText('Mail 1', { exact: true }).waitFor();
    const slow = Promise.withResolvers<undefined>();
    const requested = Promise.withResolvers<undefined>();
    const before = [...mails];
    await page.route(
      messages,
      async (route) => {
        requested.resolve(undefined);
        await slow.promise;
        await route.fulfill({ json: { messages: before } });
      },
      { times: 1 },
    );
    notifyList();
    await requested.promise;
    arrive(1);
    notifyList();
    // Arrives on the same stream, so the page has received the mail by then.
    pages.inbox.add();
    await page.getByLabel(frameMessages.countUnread({ unread: 1 })).waitFor();
    slow.resolve(undefined);
    await list(page).getByText('Mail 2', { exact: true }).waitFor();
    pages.inbox.add();
    await page.getByLabel(frameMessages.countUnread({ unread: 2 })).waitFor();
    expect(await list(page).getByText('Mail 2', { exact: true }).count()).toBe(1);
  });

  it('shows that a search failed, and repeats it on request', async () => {
    arrive(3);
    await using browserPage = await open();
    const { page } = browserPage;
    await list(page).getByText('Mail 3', { exact: true }).waitFor();
    await page.route(messages, (route) => route.abort(), { times: 1 });
    await page.getByRole('searchbox').fill('nas');
    await page.getByText(stateMessages.offline()).waitFor();
    expect(await list(page).count()).toBe(0);
    await page.getByRole('button', { name: partsMessages.tryAgain() }).click();
    await list(page).getByText('Mail 3', { exact: true }).waitFor();
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('continues at its end after a failure', async () => {
    arrive(step + 20);
    await using browserPage = await open();
    const { page } = browserPage;
    await list(page).getByText('Mail 120', { exact: true }).waitFor();
    await page.clock.install();
    await page.route(/\/api\/mail\/messages\?.*before=/, (route) => route.abort(), { times: 1 });
    await read(page, 'Mail 21');
    await page.getByText(stateMessages.offline()).first().waitFor();
    await page.clock.fastForward(6000);
    await list(page).evaluate((frame) => (frame.scrollTop = 0));
    expect((await read(page, 'Mail 1')).size).toBe(step + 20);
  });

  it('does not search in the view that is opened afterwards', async () => {
    arrive(1);
    await using browserPage = await open();
    const { page } = browserPage;
    // The previous view stays until the code of the new one is loaded.
    const loaded = Promise.withResolvers<undefined>();
    await page.route(/\/assets\/Inbox-.*js/, async (route) => {
      await loaded.promise;
      await route.continue();
    });
    await page.reload();
    await list(page).getByText('Mail 1', { exact: true }).waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('searchbox').fill('nas');
    await page.getByRole('link', { name: frameMessages.inboxTitle() }).first().click();
    await page.waitForURL('**/inbox');
    await page.clock.runFor(1000);
    await expect.poll(() => new URL(page.url()).search).toBe('');
    loaded.resolve(undefined);
    await page.getByRole('heading', { name: frameMessages.inboxTitle() }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });
});
