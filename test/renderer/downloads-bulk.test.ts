import * as downloadsMessages from '#messages/downloads';
import * as partsMessages from '#messages/parts';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { seriousFindings } from './axe.ts';
import { screens } from './screens.ts';
import { closeToasts } from './toasts.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('Actions for the whole history of downloads', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
    const ended = { kind: 'video', finishedAt: 1, size: 9_000_000 } as const;
    pages.downloads.set('film', {
      ...{ title: 'Film', state: 'finished', filename: 'film.mp4', ...ended },
      media: { channel: 'The slow kitchen', duration: 192, height: 1080, videoCodec: 'h264', audioCodec: 'aac' },
    });
    pages.downloads.set('lost', { title: 'Lost', state: 'failed', message: 'HTTP Error 404', ...ended });
    pages.downloads.set('gone', { title: 'Gone', state: 'failed', message: 'HTTP Error 410', ...ended });
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  async function act(page: Page, action: string): Promise<void> {
    await page.getByRole('button', { name: downloadsMessages.historyActions() }).click();
    await page.getByRole('menuitem', { name: action }).click();
  }

  it('retries all failed downloads', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await act(page, downloadsMessages.retryFailedDownloads());
    await page.getByText(downloadsMessages.countRetried({ count: 2 })).waitFor();
    await page.getByRole('heading', { name: `${downloadsMessages.queue()} 2` }).waitFor();
    expect([...pages.downloads.all.values()].map(({ state }) => state)).toEqual(['finished', 'waiting', 'waiting']);
    expect(visit.complaints).toEqual([]);
  });

  it('removes all failed downloads when the removal can no longer be undone', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await act(page, downloadsMessages.clearFailed());
    await page.getByRole('heading', { name: `${downloadsMessages.history()} 1` }).waitFor();
    expect(pages.downloads.all.size).toBe(3);
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await page.getByRole('heading', { name: `${downloadsMessages.history()} 3` }).waitFor();
    await act(page, downloadsMessages.clearFailed());
    await expect.poll(() => closeToasts(page).then(() => [...pages.downloads.all.keys()])).toEqual(['film']);
    expect(visit.complaints).toEqual([]);
  });

  it('saves the links of the history as a text file', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    const saving = page.waitForEvent('download');
    await act(page, downloadsMessages.saveLinks());
    const file = await saving;
    expect(file.suggestedFilename()).toBe('downloads.txt');
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString().split('\n').filter(Boolean).toSorted()).toEqual([
      'https://videos.example/film',
      'https://videos.example/gone',
      'https://videos.example/lost',
    ]);
  });

  it.each(screens)('shows channel, length, quality and codecs (%o)', async (screen) => {
    await using visit = await pages.visit('/downloads', screen);
    const { page } = visit;
    const row = page.getByRole('listitem').filter({ hasText: 'Film' });
    await row.getByText('The slow kitchen').waitFor();
    await row.getByText('3:12', { exact: true }).waitFor();
    await row.getByText('1080p').waitFor();
    expect(await row.getByText('H.264 + AAC').count()).toBe(screen.width >= 1200 ? 1 : 0);
    expect(await seriousFindings(page)).toEqual([]);
  });
});
