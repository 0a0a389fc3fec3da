import * as downloadsProblemsMessages from '#messages/downloads-problems';
import * as downloadsMessages from '#messages/downloads';
import * as partsMessages from '#messages/parts';
import type { FailureCode } from '../../services/contracts/downloads/causes.ts';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { fixtureMedia } from '../support/fixture-site/media.ts';
import { seriousFindings } from './axe.ts';
import { closeToasts } from './toasts.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('The history of downloads', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
    const ended = { finishedAt: 1, size: 9 };
    pages.downloads.set('film', { title: 'Film', kind: 'video', state: 'finished', filename: 'film.webm', ...ended });
    pages.downloads.set('song', { title: 'Song', kind: 'audio', state: 'finished', filename: 'song.m4a', ...ended });
    pages.downloads.set('lost', { title: 'Lost', kind: 'video', state: 'failed', message: 'HTTP Error 404', ...ended });
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  function row(page: Page, title: string) {
    return page.getByRole('group').getByRole('listitem').filter({ hasText: title });
  }
  async function act(page: Page, title: string, action: string): Promise<void> {
    await page.getByRole('button', { name: downloadsMessages.moreForName({ name: title }) }).click();
    await page.getByRole('menuitem', { name: action }).click();
  }

  it('filters by a URL that can be bookmarked, including downloads that end in the meantime', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByLabel(downloadsMessages.historyFilter()).selectOption(downloadsMessages.failedDownloads());
    await row(page, 'Film').waitFor({ state: 'detached' });
    await page.waitForURL('**/downloads?show=failed');
    expect(await page.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['Lost']);
    pages.downloads.set('late', { title: 'Late', kind: 'audio', state: 'finished', filename: 'l.mp3', finishedAt: 2 });
    pages.downloads.set('worse', { title: 'Worse', kind: 'audio', state: 'failed', message: 'x', finishedAt: 2 });
    await row(page, 'Worse').waitFor();
    expect(await row(page, 'Late').count()).toBe(0);
    await page.getByLabel(downloadsMessages.historyFilter()).selectOption(downloadsMessages.pictures());
    await page.getByText(downloadsMessages.noneOfKind()).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('searches on a phone, where search and filter replace each other', async () => {
    await using visit = await pages.visit('/downloads', screens[0]);
    const { page } = visit;
    const choice = page.getByLabel(downloadsMessages.historyFilter());
    await page.getByRole('button', { name: downloadsMessages.search(), exact: true }).click();
    await choice.waitFor({ state: 'hidden' });
    await page.keyboard.type('son');
    await row(page, 'Film').waitFor({ state: 'detached' });
    await page.getByLabel(downloadsMessages.searchTheHistory()).fill('');
    await row(page, 'Film').waitFor();
    await page.getByLabel(downloadsMessages.searchTheHistory()).blur();
    await choice.waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('uses the file name where a download has no title', async () => {
    pages.downloads.set('untitled', {
      title: '',
      state: 'finished',
      filename: 'clips/Sunset at sea.zip',
      size: 9,
      finishedAt: 2,
    });
    await using visit = await pages.visit('/downloads/queue/untitled');
    const { page } = visit;
    await page.getByRole('dialog', { name: 'Sunset at sea' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { level: 3, name: 'Sunset at sea' }).waitFor();
    await page.getByRole('button', { name: downloadsMessages.moreForName({ name: 'Sunset at sea' }) }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('deletes a file only when the deletion can no longer be undone', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await act(page, 'Film', downloadsMessages.deleteWithItsFile());
    await row(page, 'Film').waitFor({ state: 'detached' });
    expect(pages.downloads.deleted).toEqual([]);
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await row(page, 'Film').waitFor();
    await act(page, 'Film', downloadsMessages.deleteWithItsFile());
    await expect.poll(() => closeToasts(page).then(() => pages.downloads.deleted)).toEqual(['film']);
    await act(page, 'Song', downloadsMessages.forget());
    await expect.poll(() => closeToasts(page).then(() => pages.downloads.all.has('song'))).toBe(false);
    expect(pages.downloads.deleted).toEqual(['film']);
  });

  it('counts correctly without extra requests while a removal can be undone', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await act(page, 'Lost', downloadsMessages.forget());
    await page.getByRole('heading', { name: 'History 2' }).waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    // The API still has Lost, which matches as well.
    await page.getByLabel(downloadsMessages.searchTheHistory()).fill('o');
    await row(page, 'Film').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'History 1' }).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await page.getByRole('heading', { name: 'History 2' }).waitFor();
    await row(page, 'Lost').waitFor();
    expect(requests.filter((path) => path === '/api/downloads').length).toBeLessThan(4);
  });

  it('completes a removal when the page is closed', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await act(page, 'Song', downloadsMessages.forget());
    await row(page, 'Song').waitFor({ state: 'detached' });
    await page.goto('about:blank');
    await expect.poll(() => pages.downloads.all.has('song')).toBe(false);
  });

  it('retries from the details and closes them', async () => {
    await using visit = await pages.visit('/downloads/queue/lost');
    const { page } = visit;
    await page
      .getByRole('dialog', { name: 'Lost' })
      .getByRole('button', { name: downloadsMessages.tryAgain() })
      .click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row(page, 'Lost').getByText(downloadsMessages.waitsForStart()).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    expect(visit.complaints).toEqual([]);
  });

  it('downloads again, or fills in the link for another format', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await act(page, 'Song', 'Download again');
    await page.getByText(downloadsMessages.addedAgain()).waitFor();
    expect(pages.downloads.agains).toEqual(['song']);
    await act(page, 'Film', downloadsMessages.otherFormat());
    const field = page.getByLabel(downloadsMessages.addressesOfVideos());
    await expect.poll(() => field.inputValue()).toBe('https://videos.example/film');
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(visit.complaints).toEqual([]);
  });

  it('opens a download by URL regardless of its age and reports when it no longer exists', async () => {
    for (let index = 0; index < 300; index += 1)
      pages.downloads.set(`n${String(index)}`, { title: `New ${String(index)}`, state: 'failed', finishedAt: 5 });
    await using visit = await pages.visit('/downloads/queue/lost');
    await visit.page.getByRole('dialog', { name: 'Lost' }).waitFor();
    expect(visit.complaints).toEqual([]);
    await visit.page.goto(`${pages.url}/downloads?id=nobody`);
    await visit.page.getByRole('status').getByRole('heading', { name: downloadsMessages.downloadNotFound() }).waitFor();
  });

  it('shows a refused download with its address and the reason once', async () => {
    const url = 'http://127.0.0.1:9/film';
    const refused = { title: '127.0.0.1', state: 'failed', kind: 'video', finishedAt: 3 } as const;
    pages.downloads.set('refused', { ...refused, url, message: 'The site asks for a sign-in first.' });
    await using visit = await pages.visit('/downloads/queue/refused');
    const { page } = visit;
    const dialog = page.getByRole('dialog', { name: url });
    await dialog.waitFor();
    expect(await dialog.getByText('The site asks for a sign-in first.').count()).toBe(1);
    await dialog.getByRole('button', { name: partsMessages.close() }).click();
    await page.getByRole('heading', { level: 3, name: url }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('plays by keyboard with subtitles from separate files', async () => {
    pages.downloads.film = `${await fixtureMedia()}/vp9.webm`;
    pages.downloads.captions = [
      { language: 'de', cues: [{ from: 0, to: 4, text: 'Moin' }] },
      { language: 'en', cues: [{ from: 0, to: 4, text: 'Ahoy' }] },
    ];
    await using visit = await pages.visit('/downloads/queue/film');
    const { page } = visit;
    const video = page.locator('video');
    await expect
      .poll(() =>
        video.evaluate((element: HTMLVideoElement) =>
          [...element.textTracks].map(({ language, label, mode }) => [language, label, mode].join(' ')),
        ),
      )
      .toEqual(['de German disabled', 'en English showing']);
    await expect.poll(() => video.evaluate((element: HTMLVideoElement) => element.readyState)).toBeGreaterThan(1);
    await expect.poll(() => video.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('Space');
    await expect.poll(() => video.evaluate((element: HTMLVideoElement) => element.paused)).toBe(false);
    await page.keyboard.press('Escape');
    await video.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it.each([
    [
      'Refusing to fetch internal address "10.0.0.7" for host "nas"',
      downloadsProblemsMessages.internalAddress(),
      'Allow private addresses',
    ],
    ['ERROR: [x] 1: Sign in to confirm your age', downloadsProblemsMessages.signInRequired(), 'Cookies'],
    [
      'The disk is full: free some space, then retry.',
      downloadsProblemsMessages.diskFull(),
      'Download folder',
      'disk_full',
    ],
    ['ERROR: Postprocessing: ffprobe and ffmpeg not found.', downloadsProblemsMessages.ffmpegRequired(), 'Engines'],
    ['ERROR: Unsupported URL: https://a.example', downloadsProblemsMessages.noVideo(), 'Engines'],
  ] as const)('shows advice about “%s” with a link', async (message, advice, title, failure?: FailureCode) => {
    pages.downloads.set('bad', { title: 'Bad', state: 'failed', message, failure, finishedAt: 3 });
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await row(page, 'Bad').getByText(advice).waitFor();
    const link = row(page, 'Bad').getByRole('link', { name: title });
    expect(await link.getAttribute('href')).toMatch(
      /^\/(settings\/downloads\/\w+|settings\/engines|downloads\/cookies)$/,
    );
    await page.getByRole('button', { name: 'Bad', exact: true }).click();
    await page.getByRole('dialog').getByRole('link', { name: title }).waitFor();
    expect(visit.complaints).toEqual([]);
  });
});
