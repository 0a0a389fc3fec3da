import * as partsMessages from '#messages/parts';
import * as pushMessages from '#messages/push';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyText, containing, matching } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(noBrowser)('the messages of a topic', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages({ services: [push, inbox, control] });
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  async function publish(path: string, body: BodyInit, headers = {}): Promise<{ readonly id: string }> {
    const request = { method: 'PUT', body, headers: { Authorization: adminAuthorization, ...headers } };
    const response = await fetch(`${pages.host.url('push')}/${path}`, request);
    expect(response.status).toBe(200);
    return (await response.json()) as { readonly id: string };
  }
  const rows = (page: Page): Locator =>
    page.getByRole('group', { name: pushMessages.messages() }).getByRole('listitem');
  const polled = async (topic: string): Promise<string> =>
    (
      await fetch(`${pages.host.url('push')}/${topic}/json?poll=1`, { headers: { Authorization: adminAuthorization } })
    ).text();

  it('have a frame as high as their rows, and events of a service as text', async () => {
    const headers = { Tags: 'uptime,uptime.maintenance_reminder,v1.alpha', Click: `${pages.url}/uptime` };
    await publish('alone', 'Only this one.', headers);
    await using visit = await pages.visit('/push/topics/alone');
    const { page } = visit;
    await rows(page).getByText('Only this one.').waitFor();
    const frame = page.getByRole('group', { name: pushMessages.messages() });
    await expect.poll(async () => (await frame.boundingBox())?.height ?? Infinity).toBeLessThan(120);
    const tags = await rows(page).locator('footer').getByRole('button').allInnerTexts();
    expect(tags).toEqual(['uptime', 'maintenance reminder', 'v1.alpha']);
    await rows(page).getByRole('link', { name: pushMessages.open() }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows pictures, files with size and time, and loads nothing remote without a request', async () => {
    await publish('files', picture, { Filename: 'door.png', Message: 'Someone is at the door' });
    await publish('files', 'x'.repeat(6000), { Filename: 'log.txt' });
    await publish('files', 'Camera', { Attach: 'https://cam.example/still.jpg', Icon: 'https://cam.example/icon.png' });
    const requests: string[] = [];
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.route('https://cam.example/**', (route) => {
      requests.push(new URL(route.request().url()).pathname);
      return route.fulfill({ contentType: 'image/png', body: picture });
    });
    await page.goto(`${pages.url}/push/topics/files`);
    const image = rows(page).getByRole('img', { name: 'door.png' });
    await image.scrollIntoViewIfNeeded();
    await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1);
    const file = rows(page).filter({ hasText: 'log.txt' });
    await file.getByText('6 kB').waitFor();
    await file.getByText('text/plain').waitFor();
    await file.getByText(matching(pushMessages.keptUntilExpires({ expires: anyText }))).waitFor();
    const saving = page.waitForEvent('download');
    await file.getByRole('link', { name: 'log.txt' }).click();
    expect((await saving).suggestedFilename()).toBe('log.txt');
    expect(requests).toEqual([]);
    await page.getByRole('button', { name: pushMessages.showPicturesFromElsewhere() }).click();
    await expect.poll(() => [...requests].sort()).toEqual(['/icon.png', '/still.jpg']);
    expect(visit.complaints).toEqual([]);
  });

  it('shows that a file is no longer stored', async () => {
    const { id } = await publish('files', picture, { Filename: 'door.png' });
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.route(`**/files/${id}`, (route) => route.fulfill({ status: 404, body: '{}' }));
    await page.goto(`${pages.url}/push/topics/files`);
    await rows(page).getByText(pushMessages.isNotKept()).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('have buttons that open, copy, or explain what only an app does', async () => {
    await publish('door', 'Bell', {
      Actions: 'view, Look, https://cam.example/; http, Open, https://door.example/, method=PUT; broadcast, Light',
    });
    await using visit = await pages.visit('/push/topics/door');
    const { page } = visit;
    const link = page.getByRole('link', { name: 'Look' });
    expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
      'https://cam.example/',
      'noopener noreferrer',
    ]);
    await page.locator('summary').filter({ hasText: pushMessages.open() }).click();
    await page
      .getByText(containing(pushMessages.ntfyAppSends({ method: 'PUT', address: `https://door.example/${anyText}` })))
      .waitFor();
    await page.locator('summary').filter({ hasText: 'Light' }).click();
    await page.getByText(pushMessages.theNtfyAppOnAndroid()).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shares one row with the latest state when they update each other', async () => {
    await publish('job/copy', 'Copying: 10 %');
    await publish('job', 'Another one');
    await using visit = await pages.visit('/push/topics/job');
    const { page } = visit;
    await rows(page).nth(1).waitFor();
    await publish('job/copy', 'Copying: 90 %');
    await rows(page).getByText('Copying: 90 %').waitFor();
    await expect.poll(() => rows(page).count()).toBe(2);
    expect(await rows(page).getByText('Copying: 10 %').count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('are acknowledged and deleted on all clients, with Undo', async () => {
    await publish('nas/fire', 'Disk on fire', { Priority: '5', Title: 'Fire' });
    await publish('nas', 'Old news');
    await using visit = await pages.visit('/push/topics/nas');
    const { page } = visit;
    const urgent = rows(page).filter({ hasText: 'Fire' });
    await urgent.getByRole('button', { name: pushMessages.acknowledgeEverywhere() }).click();
    await urgent.getByText(pushMessages.acknowledged(), { exact: true }).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(() => urgent.getByText(pushMessages.acknowledged(), { exact: true }).count()).toBe(0);
    expect(await polled('nas')).not.toContain('message_clear');
    await urgent.getByRole('button', { name: pushMessages.acknowledgeEverywhere() }).click();
    await page.getByRole('button', { name: pushMessages.moreForName({ name: 'Old news' }) }).click();
    await page.getByRole('menuitem', { name: pushMessages.deleteEverywhere() }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    // Leaving the page settles open toasts.
    await page.goto(`${pages.url}/settings/log`);
    await expect.poll(() => polled('nas')).toContain('"event":"message_clear"');
    await expect.poll(() => polled('nas')).toContain('"event":"message_delete"');
    await page.goto(`${pages.url}/push/topics/nas`);
    await urgent.getByText(pushMessages.acknowledged(), { exact: true }).waitFor();
    expect(await rows(page).count()).toBe(1);
    // Another client clears the message, and this page updates.
    await publish('nas/water', 'Leak');
    await rows(page).getByText('Leak').waitFor();
    await page.mouse.move(0, 0);
    await fetch(`${pages.host.url('push')}/nas/water`, {
      method: 'DELETE',
      headers: { Authorization: adminAuthorization },
    });
    await expect.poll(() => rows(page).getByText('Leak').count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('keeps its position under the pointer while others arrive', async () => {
    for (let count = 0; count < 30; count += 1) await publish('calm', `message ${String(count)}`);
    await using visit = await pages.visit('/push/topics/calm');
    const { page } = visit;
    const first = rows(page).filter({ hasText: 'message 29' });
    await first.hover();
    const before = await first.boundingBox();
    await publish('calm', 'message 30');
    await page.getByRole('button', { name: pushMessages.newMessages({ count: 1 }) }).waitFor();
    expect(await first.boundingBox()).toEqual(before);
    await page.getByRole('button', { name: pushMessages.newMessages({ count: 1 }) }).click();
    await rows(page).filter({ hasText: 'message 30' }).waitFor();
    await page.mouse.move(0, 0);
    const group = page.getByRole('group', { name: pushMessages.messages() });
    await group.focus();
    await page.keyboard.press('End');
    await expect.poll(() => group.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
    await publish('calm', 'message 31');
    await page.getByRole('button', { name: pushMessages.newMessages({ count: 1 }) }).click();
    await rows(page).filter({ hasText: 'message 31' }).waitFor();
    await expect.poll(() => group.evaluate((element) => element.scrollTop)).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('scrolls through ten thousand rows with few rendered, and is found by a link', async () => {
    const total = 10_000;
    const ids: string[] = [];
    for (let from = 0; from < total; from += 100) {
      const part = Array.from({ length: 100 }, (_, index) =>
        publish('long', `message number ${String(from + index)};`),
      );
      ids.push(...(await Promise.all(part)).map(({ id }) => id));
    }
    await using visit = await pages.visit('/push/topics/long');
    const { page } = visit;
    await rows(page).first().waitFor();
    const group = page.getByRole('group', { name: pushMessages.messages() });
    const end = (): Promise<number> =>
      group.evaluate((element) => {
        element.scrollTop = element.scrollHeight;
        return Number(element.querySelector('li:last-child')?.getAttribute('aria-posinset') ?? 0);
      });
    await expect.poll(end, { interval: 20 }).toBe(total);
    expect(await rows(page).count()).toBeLessThan(60);
    await rows(page).last().waitFor();
    const targetId = ids[4321] ?? '';
    await page.goto(`${pages.url}/push/topics/long?message=${targetId}`);
    await rows(page)
      .getByText(/^message number \d+;$/)
      .first()
      .waitFor();
    const row = page.locator('article.asked');
    await expect.poll(() => row.count()).toBe(1);
    await expect.poll(() => row.evaluate((element) => element.getBoundingClientRect().top)).toBeGreaterThan(0);
    await page.goto(`${pages.url}/push/topics/calm?message=aaaaaaaaaaaa`);
    await page.getByText(pushMessages.theMessageThatWasAsked()).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('are below each other on a phone, whatever is added above and after a rotation', async () => {
    for (let count = 0; count < 20; count += 1)
      await publish('plain', `Line ${String(count)}\n`.repeat(1 + (count % 7)));
    await using visit = await pages.visit('/push/topics/plain', { width: 360, height: 740, touch: true });
    const { page } = visit;
    await rows(page).first().waitFor();
    /** Distances in px between each row and the end of the previous one. */
    const findGaps = async (): Promise<readonly number[]> => {
      // A ResizeObserver runs in one frame, and the element is rendered in the next.
      await page.evaluate(
        () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
      );
      return rows(page).evaluateAll((all) => {
        const boxes = all.map((entry) => entry.getBoundingClientRect());
        return boxes
          .slice(1)
          .map(({ top }, index) => Math.round(top - (boxes[index]?.bottom ?? 0)))
          .filter((distance) => distance !== 0);
      });
    };
    await expect.poll(findGaps).toEqual([]);
    expect(await rows(page).count()).toBeGreaterThan(5);
    await page.getByRole('main').evaluate((main) => {
      const block = document.createElement('div');
      block.style.height = '90px';
      main.prepend(block);
    });
    await expect.poll(findGaps).toEqual([]);
    await page.setViewportSize({ width: 740, height: 360 });
    await expect.poll(findGaps).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expect.poll(findGaps).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await publish('nas-error-backup', 'All good', { Priority: '2', Tags: 'white_check_mark' });
    await publish('nas-error-backup/copy', 'Copying: 90 %', { Title: 'Nightly copy' });
    await publish('nas-error-backup', picture, { Filename: 'front door.png', Message: 'Someone is at the door' });
    await publish('nas-error-backup', 'line\n'.repeat(30), { Title: 'A long report' });
    await publish('nas-error-backup', '**Done** after `42 min`\n\n- one\n- two', {
      Markdown: 'yes',
      Click: 'https://nas.example/',
      Actions: 'view, Look, https://cam.example/; http, Open the door, https://door.example/',
    });
    await publish('nas-error-backup/fire', 'Disk sda is on fire', { Priority: '5', Title: 'Fire', Tags: 'fire,nas' });
    await publish('nas-error-backup', `https://nas.example/${'a-long-address-'.repeat(12)}`, { Priority: '4' });
    await using visit = await pages.visit('/push/topics/nas-error-backup', screen);
    const { page } = visit;
    await rows(page).first().waitFor();
    await page.getByRole('button', { name: pushMessages.acknowledgeEverywhere() }).click();
    await page.getByText(pushMessages.acknowledged(), { exact: true }).waitFor();
    await expectFits(visit, 'push-messages', screen);
  });
});
