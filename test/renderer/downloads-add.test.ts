import * as downloadsProblems from '#messages/downloads-problems';
import * as downloadsMessages from '#messages/downloads';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { startingWith } from '../support/message-patterns.ts';
import { seriousFindings } from './axe.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('Adding downloads', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  const field = downloadsMessages.addressesOfVideos();

  async function more(page: Page): Promise<void> {
    await page.getByRole('button', { name: startingWith(downloadsMessages.moreOptions()) }).click();
    await page.getByRole('group', { name: downloadsMessages.moreOptions() }).waitFor();
  }

  it('previews a link and selects an available quality with one click', async () => {
    pages.downloads.preview = {
      ...pages.downloads.preview,
      title: 'Harbour at dawn',
      author: 'Old Salt',
      duration: 754,
      heights: [1440, 720, 480],
      chapters: true,
      subtitles: ['en', 'es'],
      picture: 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==',
    };
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByLabel(field).fill('https://videos.example/harbour');
    const preview = page.getByRole('region', { name: downloadsMessages.previewLabel() });
    await preview.getByText('Harbour at dawn').waitFor();
    await preview.getByText('Old Salt · 12:34 · chapters · subtitles en es').waitFor();
    expect(await preview.getByRole('button').allTextContents()).toEqual(['1440p', '720p', '480p']);
    await page.getByRole('radio', { name: '4K' }).check({ force: true });
    await preview.getByText(downloadsMessages.maxHeightNote({ height: '1440' })).waitFor();
    await preview.getByRole('button', { name: '1440p' }).click();
    expect(await page.getByRole('radio', { name: '1440p' }).isChecked()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: downloadsMessages.download(), exact: true }).click();
    await expect
      .poll(() => pages.downloads.added)
      .toEqual([{ url: 'https://videos.example/harbour', download_type: 'video', quality: '1440', format: 'mp4' }]);
    await preview.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('shows why a link fails before it is added, and counts the entries of a playlist', async () => {
    pages.downloads.previewError = 'Unable to download webpage: HTTP Error 404: Not Found';
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByLabel(field).fill('https://videos.example/gone');
    await page.getByText('Unable to download webpage: HTTP Error 404: Not Found').waitFor();
    pages.downloads.previewError = '';
    pages.downloads.preview = { ...pages.downloads.preview, title: 'All of them', duration: null, entries: 24 };
    await page.getByLabel(field).fill('https://videos.example/list');
    await page.getByText(downloadsMessages.playlistLength({ count: 24 })).waitFor();
    await page.getByLabel(field).fill('https://videos.example/a https://videos.example/b');
    await page.getByText(downloadsMessages.linkCount({ count: 2 }), { exact: true }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('sends every option by its MeTube name and saves the selection', async () => {
    pages.downloads.folders = ['Music', 'Talks/2026'];
    pages.downloads.presets = ['thrifty'];
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await more(page);
    await expect.poll(() => page.locator('#add-folders option').count()).toBe(2);
    await page.getByLabel(downloadsMessages.videoCodec()).selectOption('h264');
    await page.getByLabel(downloadsMessages.folder(), { exact: true }).fill('Talks/2026');
    await page.getByLabel(downloadsMessages.beginItsNameWith()).fill('01');
    await page.getByLabel(downloadsMessages.onlyFrom()).fill('1:00');
    await page.getByLabel(downloadsMessages.until()).fill('2:30');
    await page.getByLabel(downloadsMessages.playlistLimit()).fill('5');
    for (const name of [
      downloadsMessages.splitChapters(),
      downloadsMessages.cutOutSponsors(),
      downloadsMessages.startLater(),
      downloadsMessages.presetName({ name: 'thrifty' }),
    ])
      await page.getByLabel(name).check();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel(field).fill('https://videos.example/talk');
    await page.keyboard.press('Enter');
    await expect.poll(() => pages.downloads.added.length).toBe(1);
    expect(pages.downloads.added[0]).toEqual({
      url: 'https://videos.example/talk',
      download_type: 'video',
      quality: 'best',
      format: 'mp4',
      codec: 'h264',
      folder: 'Talks/2026',
      custom_name_prefix: '01',
      playlist_item_limit: 5,
      auto_start: false,
      split_by_chapters: true,
      sponsorblock: true,
      clip_start: '1:00',
      clip_end: '2:30',
      ytdl_options_presets: ['thrifty'],
    });
    await page.reload();
    // Options of a single video are not saved.
    await page
      .getByRole('button', {
        name: /^More options.*H264, in Talks\/2026, split by chapter, without sponsor segments, first 5 videos in a playlist, thrifty, starts later$/,
      })
      .waitFor();
    await more(page);
    await page.getByRole('button', { name: downloadsMessages.resetOptions() }).click();
    await page.getByRole('button', { name: downloadsMessages.resetOptions() }).waitFor({ state: 'detached' });
    expect(await page.getByLabel(downloadsMessages.folder(), { exact: true }).inputValue()).toBe('');
    expect(visit.complaints).toEqual([]);
  });

  it('requests subtitles or the picture only', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await more(page);
    await page.getByLabel(downloadsMessages.fetch()).selectOption('captions');
    await page.getByLabel(downloadsMessages.language()).fill('de');
    await page.getByLabel(downloadsMessages.which()).selectOption('manual_only');
    await page.getByLabel(downloadsMessages.as(), { exact: true }).selectOption('vtt');
    await page.getByLabel(field).fill('https://videos.example/a');
    await page.keyboard.press('Enter');
    await expect.poll(() => pages.downloads.added.length).toBe(1);
    await page.getByLabel(downloadsMessages.fetch()).selectOption('thumbnail');
    await page.getByLabel(field).fill('https://videos.example/b');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => pages.downloads.added)
      .toEqual([
        {
          url: 'https://videos.example/a',
          download_type: 'captions',
          quality: 'best',
          format: 'vtt',
          subtitle_language: 'de',
          subtitle_mode: 'manual_only',
        },
        { url: 'https://videos.example/b', download_type: 'thumbnail', quality: 'best', format: 'jpg' },
      ]);
  });

  it('explains once why a link is refused and links to the setting that allows it', async () => {
    const extractorMessage =
      "ERROR: [generic] x: Unable to download webpage: HTTPConnection(host='a'): Connection refused";
    pages.downloads.refused.set('https://videos.example/gone', extractorMessage);
    pages.downloads.refused.set(
      'https://nas.example/film',
      'Refusing to fetch internal address "10.0.0.2" for host "nas.example"',
    );
    pages.downloads.previewError = extractorMessage;
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    const advice = page.getByText(downloadsProblems.siteUnreachable());
    await page.getByLabel(field).fill('https://videos.example/gone');
    await page.getByRole('region', { name: downloadsMessages.previewLabel() }).locator(advice).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ has: advice }).waitFor();
    expect(await advice.count()).toBe(1);
    expect(await page.getByText('HTTPConnection').count()).toBe(0);
    await page.getByLabel(field).fill('https://nas.example/film');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByRole('link', { name: downloadsMessages.allowPrivateAddresses() }).waitFor();
    pages.downloads.previewError = '';
  });

  it('returns every refused link of a batch with its reason', async () => {
    pages.downloads.refused.set('https://videos.example/b', 'The site wants a sign-in.');
    pages.downloads.refused.set('https://videos.example/d', 'There is no video.');
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByLabel(field).fill(['a', 'b', 'c', 'd'].map((name) => `https://videos.example/${name}`).join('\n'));
    await page.keyboard.press('Enter');
    await page.getByText(downloadsMessages.countRefused({ count: 2, total: 4 })).waitFor();
    const refused = page.getByRole('list', { name: downloadsMessages.refusedLinks() }).getByRole('listitem');
    expect((await refused.allTextContents()).toSorted()).toEqual([
      'https://videos.example/bThe site wants a sign-in.',
      'https://videos.example/dThere is no video.',
    ]);
    expect((await page.getByLabel(field).inputValue()).split('\n').toSorted()).toEqual([
      'https://videos.example/b',
      'https://videos.example/d',
    ]);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('fits a phone with everything open', async () => {
    pages.downloads.preview = { ...pages.downloads.preview, heights: [2160, 1440, 1080, 720, 480, 360, 240] };
    await using visit = await pages.visit('/downloads', { width: 360, height: 740, touch: true });
    const { page } = visit;
    await page.getByLabel(field).fill('https://videos.example/harbour');
    await page.getByText('A video').waitFor();
    await more(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await seriousFindings(page)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('offers copied video links in the desktop app', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.addInitScript(() => {
      const turned: boolean[] = [];
      Object.assign(globalThis, {
        turned,
        bridge: {
          watchesClipboard: () => Promise.resolve(false),
          watchClipboard: ({ on }: { on: boolean }) => Promise.resolve(void turned.push(on)),
        },
      });
    });
    await page.goto(`${pages.url}/downloads`);
    await more(page);
    const box = page.getByLabel(downloadsMessages.watchClipboard());
    expect(await box.isChecked()).toBe(false);
    await box.check();
    expect(await page.evaluate(() => (globalThis as unknown as { turned: boolean[] }).turned)).toEqual([true]);
  });
});
