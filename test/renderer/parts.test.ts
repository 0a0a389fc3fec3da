import * as frameMessages from '#messages/frame';
import * as galleryMessages from '#messages/gallery';
import * as partsMessages from '#messages/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { seriousFindings } from './axe.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('components', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages();
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('draws each icon as one path within its box', async () => {
    await using visit = await pages.visit('/gallery');
    const icons = visit.page.locator('.icons li');
    await icons.first().waitFor();
    const drawings = await icons.evaluateAll((items) =>
      items.map((item) => {
        const paths = item.querySelectorAll<SVGPathElement>('svg > *');
        const box = paths[0]?.getBBox() ?? new DOMRect();
        const isInside = box.x >= 0 && box.y >= 0 && box.x + box.width <= 24 && box.y + box.height <= 24;
        return {
          name: item.getAttribute('title'),
          count: paths.length,
          isDrawn: Math.max(box.width, box.height) >= 10 && isInside,
        };
      }),
    );
    expect(drawings.length).toBeGreaterThan(80);
    expect(drawings.filter(({ count, isDrawn }) => count !== 1 || !isDrawn)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('opens a menu that is controlled by the keyboard and closes with Escape', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    const button = page.getByRole('button', { name: frameMessages.more(), exact: true });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: galleryMessages.restart() }).waitFor();
    await page.keyboard.press('End');
    expect(
      await page
        .getByRole('menuitem', { name: galleryMessages.remove() })
        .evaluate((item) => item === document.activeElement),
    ).toBe(true);
    await page.keyboard.press('Escape');
    await page.getByRole('menuitem', { name: galleryMessages.restart() }).waitFor({ state: 'detached' });
    await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
    // A second press on the button closes the menu.
    await button.click();
    await page.getByRole('menuitem', { name: galleryMessages.restart() }).waitFor();
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    await button.click({ force: true });
    await page.getByRole('menuitem', { name: galleryMessages.restart() }).waitFor({ state: 'detached' });
    expect(await button.getAttribute('aria-expanded')).toBe('false');
    await button.press('ArrowDown');
    await page.getByRole('menuitem', { name: galleryMessages.remove() }).click();
    await page.getByText(galleryMessages.removed()).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('keeps the focus in an open dialog and restores it', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    await page.getByRole('button', { name: galleryMessages.openADialog() }).click();
    const dialog = page.getByRole('dialog', { name: galleryMessages.deleteAccountTitle() });
    await dialog.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    for (let step = 0; step < 6; step += 1) {
      await page.keyboard.press('Tab');
      const outside = await page.evaluate(
        () => document.activeElement !== document.body && document.activeElement?.closest('dialog') === null,
      );
      expect(outside).toBe(false);
    }
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('keeps a dialog open when a text selection ends outside of it', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    await page.getByRole('button', { name: galleryMessages.openADialog() }).click();
    const dialog = page.getByRole('dialog', { name: galleryMessages.deleteAccountTitle() });
    const textBox = await dialog.getByText(galleryMessages.deleteAccountConsequences()).boundingBox();
    if (textBox === null) throw new Error('the dialog is not drawn');
    await page.mouse.move(textBox.x + 20, textBox.y + 5);
    await page.mouse.down();
    await page.mouse.move(5, 5, { steps: 4 });
    await page.mouse.up();
    await dialog.getByRole('button', { name: galleryMessages.keepAccount() }).waitFor();
    await page.mouse.click(5, 5);
    await dialog.waitFor({ state: 'detached' });
  });

  it('restores the focus when a dialog closes', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    const opener = page.getByRole('button', { name: galleryMessages.openADialog() });
    for (const close of ['Escape', 'Enter']) {
      await opener.press('Enter');
      await page.getByRole('button', { name: galleryMessages.keepAccount() }).focus();
      await page.keyboard.press(close);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(() => opener.evaluate((element) => element === document.activeElement)).toBe(true);
    }
  });

  it('focuses the first invalid field', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    await page.getByRole('button', { name: galleryMessages.saveIt() }).press('Enter');
    await page.getByText(galleryMessages.topicInvalid()).waitFor();
    const field = page.getByLabel(galleryMessages.topic(), { exact: true });
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('moves between tabs with the arrow keys', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    await page.getByRole('tab', { name: galleryMessages.queue() }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText(galleryMessages.historyText()).waitFor();
    expect(await page.getByRole('tab', { name: galleryMessages.history() }).getAttribute('aria-selected')).toBe('true');
    expect(visit.complaints).toEqual([]);
  });

  it('undoes the action of a toast', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    await page.getByRole('button', { name: partsMessages.showSubject({ subject: 'a toast' }) }).click();
    await page.getByText(galleryMessages.messageRemoved()).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await page.getByText(galleryMessages.messageRestored()).waitFor();
    expect(await page.getByText(galleryMessages.messageRemoved()).count()).toBe(0);
  });

  it('switches and selects with the keyboard', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    const control = page.getByRole('switch', { name: galleryMessages.on(), exact: true });
    await control.focus();
    await page.keyboard.press('Space');
    expect(await control.getAttribute('aria-checked')).toBe('false');
  });
});
