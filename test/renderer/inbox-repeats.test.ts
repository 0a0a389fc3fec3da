import * as inboxMessages from '#messages/inbox';
import * as partsMessages from '#messages/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InboxItem } from '../../services/contracts/inbox/api.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { expectFits } from './fits.ts';
import { closeToasts } from './toasts.ts';
import { openRealServices, type RealServices } from './real-services.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('repeated messages', () => {
  let real: RealServices;
  beforeAll(async () => {
    real = await openRealServices();
  });
  afterAll(() => real[Symbol.asyncDispose]());

  const publish = async (title: string, body: string): Promise<void> => {
    const response = await fetch(`${real.host.url('push')}/nas`, {
      method: 'POST',
      body,
      headers: { Authorization: adminAuthorization, Title: title },
    });
    expect(response.status).toBe(200);
  };
  const unread = async (): Promise<number> => ((await real.ask('GET', '/inbox?limit=1')) as { unread: number }).unread;

  const rows = async (title: string): Promise<readonly InboxItem[]> =>
    ((await real.ask('GET', '/inbox?limit=200')) as { items: InboxItem[] }).items.filter(
      (item) => item.title === title,
    );

  it('shares one row, which counts and expands them, and is marked and removed as a whole', async () => {
    await publish('Site is down', 'first look');
    await publish('Other news', 'of the day');
    await publish('Site is down', 'second look');
    await expect.poll(unread).toBe(3);
    await using visit = await real.visit('/inbox');
    const { page } = visit;
    const messages = page.getByRole('region', { name: inboxMessages.messages(), exact: true });
    const row = messages.getByRole('button', { name: /Site is down/ });
    await messages.getByText(/^2 times since \d\d:\d\d$/).waitFor();
    // A further repeat that arrives while the list is visible replaces the row.
    await publish('Site is down', 'third look');
    await messages.getByText(/^3 times since \d\d:\d\d$/).waitFor();
    expect(await messages.getByText('Other news').count()).toBe(1);
    await page.getByRole('button', { name: inboxMessages.showEarlier({ title: 'Site is down' }) }).click();
    await messages.getByText('first look').waitFor();
    await messages.getByText('second look').waitFor();
    await page.getByRole('button', { name: inboxMessages.hideEarlier({ title: 'Site is down' }) }).click();
    await messages.getByText('first look').waitFor({ state: 'detached' });

    await row.first().click();
    await page.getByRole('article').getByText('third look').waitFor();
    await expect.poll(unread).toBe(1);
    await page.keyboard.press('e');
    await page.getByText(inboxMessages.messagesPutAway({ count: 1 })).waitFor();
    await row.first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await messages.getByText(/^3 times since/).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('are changed individually when expanded, without other changes', async () => {
    for (const look of ['first', 'second', 'third', 'fourth', 'fifth']) await publish('Disk is full', `${look} pass`);
    await expect.poll(async () => (await rows('Disk is full')).length).toBe(5);
    await using visit = await real.visit('/inbox');
    const { page } = visit;
    const messages = page.getByRole('region', { name: inboxMessages.messages(), exact: true });
    const row = (look: string) => messages.getByRole('button', { name: `${look} pass` });
    await page.getByRole('button', { name: inboxMessages.showEarlier({ title: 'Disk is full' }) }).click();
    await row('first').waitFor();

    // Removal hides a single row immediately and deletes it when Undo has expired.
    await page
      .getByRole('checkbox', { name: inboxMessages.chooseMessage({ title: 'Disk is full' }) })
      .nth(2)
      .check();
    await page.getByRole('toolbar').getByRole('button', { name: inboxMessages.remove() }).click();
    await row('third').waitFor({ state: 'detached' });
    for (const look of ['fifth', 'fourth', 'second', 'first']) await row(look).waitFor();
    await expect
      .poll(async () => {
        await closeToasts(page);
        return (await rows('Disk is full')).map(({ body }) => body);
      })
      .toEqual(['fifth pass', 'fourth pass', 'second pass', 'first pass']);

    // Opening marks only this one as read, as shown in its row.
    await row('second').click();
    await page.getByRole('article').getByText('second pass').waitFor();
    await expect
      .poll(async () => (await rows('Disk is full')).map(({ read }) => read))
      .toEqual([false, false, true, false]);
    await messages.getByRole('button', { name: /^Disk is full.*second pass/ }).waitFor();
    await messages.getByRole('button', { name: /^New Disk is full.*first pass/ }).waitFor();

    // Marks a row as done in another window, and reverts it.
    const [, , second] = await rows('Disk is full');
    await real.ask('PATCH', '/inbox', { ids: [second?.id], done: true });
    await row('second').waitFor({ state: 'detached' });
    await row('first').waitFor();
    await real.ask('PATCH', '/inbox', { ids: [second?.id], done: false });
    await row('second').waitFor();
    await real.ask('POST', '/inbox/remove', { ids: (await rows('Disk is full')).map(({ id }) => id) });
    await messages.getByText('Disk is full').first().waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('are counted again after a removal, and the next newest represents the group', async () => {
    for (const look of ['first', 'second', 'third', 'fourth']) await publish('Fan is loud', `${look} pass`);
    await expect.poll(async () => (await rows('Fan is loud')).length).toBe(4);
    await using visit = await real.visit('/inbox');
    const messages = visit.page.getByRole('region', { name: inboxMessages.messages(), exact: true });
    const row = messages.getByRole('button', { name: /Fan is loud/ });
    await row.getByText(/^4 times since/).waitFor();
    const ids = (await rows('Fan is loud')).map(({ id }) => id);
    const remove = (ids: readonly number[]): Promise<unknown> => real.ask('POST', '/inbox/remove', { ids: ids });
    await remove(ids.slice(1, 2));
    await row.getByText(/^3 times since/).waitFor();
    await remove(ids.slice(0, 1));
    await row.getByText(/^2 times since/).waitFor();
    await row.getByText('second pass').waitFor();
    await real.ask('PATCH', '/inbox', { ids: ids.slice(3), done: true });
    await row.getByText(/times since/).waitFor({ state: 'detached' });
    await row.getByText('second pass').waitFor();
    await real.ask('PATCH', '/inbox', { ids: ids.slice(3), done: false });
    await row.getByText(/^2 times since/).waitFor();
    await remove(ids.slice(2));
    await messages.getByText('Fan is loud').waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('keeps removed messages out of a reload of counts', async () => {
    for (const look of ['first', 'second', 'third']) await publish('Roof leaks', `${look} drop`);
    await publish('Gate is open', 'since noon');
    await expect.poll(async () => (await rows('Gate is open')).length).toBe(1);
    await using visit = await real.visit('/inbox');
    const { page } = visit;
    const messages = page.getByRole('region', { name: inboxMessages.messages(), exact: true });
    const leakRow = messages.getByRole('button', { name: /Roof leaks/ }).first();
    const gate = messages.getByRole('button', { name: /Gate is open/ });
    await leakRow.getByText(/^3 times since/).waitFor();
    await gate.waitFor();
    const remove = async (title: string, index: number): Promise<unknown> =>
      real.ask('POST', '/inbox/remove', { ids: (await rows(title)).slice(index, index + 1).map(({ id }) => id) });
    const release = Promise.withResolvers<undefined>();
    let reads = 0;
    await page.route(
      (url) => url.pathname === '/api/inbox' && url.searchParams.get('limit') === '200',
      async (route) => {
        const response = await route.fetch();
        reads += 1;
        if (reads === 1) await release.promise;
        await route.fulfill({ response });
      },
    );
    await remove('Roof leaks', 1);
    await expect.poll(() => reads).toBe(1);
    await remove('Gate is open', 0);
    await gate.waitFor({ state: 'detached' });
    release.resolve(undefined);
    await leakRow.getByText(/^2 times since/).waitFor();
    expect(await gate.count()).toBe(0);
    expect(reads).toBe(2);
    await page.unrouteAll({ behavior: 'wait' });
    await remove('Roof leaks', 1);
    await remove('Roof leaks', 0);
    await leakRow.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('are all marked as read together, and restored by one Undo', async () => {
    await publish('Later news', 'of the night');
    await expect.poll(unread).toBeGreaterThan(0);
    const before = await unread();
    await using visit = await real.visit('/inbox');
    const { page } = visit;
    await page.getByText('Later news').first().waitFor();
    await page.getByRole('button', { name: inboxMessages.markAllRead() }).click();
    await page.getByText(/marked as read\.$/).waitFor();
    await expect.poll(unread).toBe(0);
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(unread).toBe(before);
    await page.getByRole('button', { name: inboxMessages.markAllRead() }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  describe('expanded repeats', () => {
    // A unique title, because each of these tests also runs separately.
    beforeAll(async () => {
      for (const look of ['first look', 'second look']) await publish('Gate is open', look);
    });

    it.each(screens)('fits on $on', async (screen) => {
      await using visit = await real.visit('/inbox', screen);
      const { page } = visit;
      await page.getByRole('button', { name: inboxMessages.showEarlier({ title: 'Gate is open' }) }).click();
      await page.getByText('first look').first().waitFor();
      await expectFits(visit, 'inbox-repeats', screen);
    });
  });
});
