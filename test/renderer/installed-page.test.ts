import * as accessMessages from '#messages/access';
import * as downloadsMessages from '#messages/downloads';
import * as inboxMessages from '#messages/inbox';
import * as composeMessages from '#messages/push-compose';
import * as shareMessages from '#messages/share';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { push } from '../../services/push/index.ts';
import { noBrowser } from '../support/browser.ts';
import { seriousFindings } from './axe.ts';
import { layCable } from './interruptible-proxy.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('the installed page', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ also: [push] });
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('opens without the host, says so without data of the account, and continues when the host responds', async () => {
    pages.inbox.add({ title: 'Private note' });
    await using cable = await layCable(pages.url);
    await using visit = await pages.visit('/inbox', { through: cable, serviceWorkers: true });
    const { page } = visit;
    const note = page.getByRole('button', { name: /Private note/ });
    await note.waitFor();
    const listStored = () =>
      page.evaluate(async () => {
        const names = await caches.keys();
        const requests = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
        return requests.flat().map(({ url }) => new URL(url).pathname);
      });
    await expect.poll(listStored, { timeout: 30_000 }).toContain('/');
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    expect((await listStored()).filter((path) => path.startsWith('/api/'))).toEqual([]);
    cable.cut();
    await page.goto(`${cable.url}/inbox`);
    await page.getByRole('heading', { name: accessMessages.homeportDoesNotRespond() }).waitFor();
    expect(await page.getByText('Private note').count()).toBe(0);
    cable.resume();
    await page.getByRole('button', { name: accessMessages.tryAgainNow() }).click();
    await note.waitFor();
  });

  it('says that the device has no network', async () => {
    await using visit = await pages.visit('/mark.svg');
    const { page } = visit;
    await page.addInitScript(() => Object.defineProperty(navigator, 'onLine', { get: () => false }));
    await page.route(/\/api\/session/, (route) => route.abort());
    await page.goto(pages.url);
    await page.getByRole('heading', { name: accessMessages.offline() }).waitFor();
  });

  it('shows the number of unread messages on its icon', async () => {
    await using visit = await pages.visit('/inbox', {
      before: () => {
        const badges: number[] = [];
        Object.assign(globalThis, { badges });
        Object.assign(Navigator.prototype, {
          setAppBadge: (count: number) => Promise.resolve(badges.push(count)),
          clearAppBadge: () => Promise.resolve(badges.push(0)),
        });
      },
    });
    const { page } = visit;
    const readBadge = () => page.evaluate(() => (globalThis as unknown as { badges: number[] }).badges.at(-1));
    pages.inbox.add({ title: 'Counted' });
    const expected = pages.inbox.items.filter(({ read }) => !read).length;
    await expect.poll(readBadge).toBe(expected);
    await page.getByRole('button', { name: inboxMessages.markAllRead() }).click();
    await expect.poll(readBadge).toBe(0);
  });

  it('passes a shared link on to Downloads', async () => {
    const shared = new URLSearchParams({ title: 'A clip', text: 'Look: https://video.example/watch?v=1&t=2.' });
    await using visit = await pages.visit(`/share?${shared.toString()}`);
    const { page } = visit;
    const download = page.getByRole('link', { name: shareMessages.downloadHint() });
    await download.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await download.click();
    await expect
      .poll(() => page.getByRole('textbox', { name: downloadsMessages.addressesOfVideos() }).inputValue())
      .toBe('https://video.example/watch?v=1&t=2');
    expect(visit.complaints).toEqual([]);
  });

  it('passes shared text on to Messages', async () => {
    const shared = new URLSearchParams({ text: 'Milk, bread and <b>eggs</b>' });
    await using visit = await pages.visit(`/share?${shared.toString()}`);
    const { page } = visit;
    await page.getByRole('link', { name: shareMessages.publishHint() }).click();
    const dialog = page.getByRole('dialog', { name: composeMessages.publishAMessage() });
    await expect
      .poll(() => dialog.getByLabel(composeMessages.message(), { exact: true }).inputValue())
      .toBe('Milk, bread and <b>eggs</b>');
    await dialog.getByRole('button', { name: composeMessages.cancel() }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    expect(visit.complaints).toEqual([]);
  });

  it('offers only what the account has access to, and explains an empty share', async () => {
    await using visit = await pages.visit('/share?text=Only+words');
    const { page } = visit;
    await page.getByRole('link', { name: shareMessages.publishHint() }).waitFor();
    expect(await page.getByRole('link', { name: shareMessages.downloadHint() }).count()).toBe(0);
    await page.goto(`${pages.url}/share`);
    await page.getByRole('heading', { name: shareMessages.nothingShared() }).waitFor();
  });
});
