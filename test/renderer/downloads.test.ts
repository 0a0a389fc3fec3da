import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('Downloads', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  it('takes an address typed on arrival and follows it to the file', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByText('Nothing has been downloaded yet.').waitFor();
    await page.keyboard.type('https://videos.example/harbour');
    await page.keyboard.press('Enter');
    await page.getByText('Looking at the page').waitFor();
    expect(await page.getByLabel('Address of a video').inputValue()).toBe('');
    pages.downloads.set('added-1', {
      title: 'Harbour at dawn',
      state: 'downloading',
      percent: 62.7,
      speed: 3_140_000,
      eta: 42,
    });
    await page.getByText('Downloading 62 %, 3.1 MB/s, 0:42 left').waitFor();
    expect(await page.getByRole('progressbar', { name: 'Progress of Harbour at dawn' }).getAttribute('value')).toBe(
      '62.7',
    );
    pages.downloads.set('added-1', { state: 'postprocessing', percent: null });
    await page.getByText('Putting the file together').waitFor();
    pages.downloads.set('added-1', {
      state: 'finished',
      filename: 'Harbour at dawn.mp4',
      size: 12_400_000,
      finishedAt: Date.now(),
    });
    await page.getByText('Harbour at dawn.mp4 · 12.4 MB').waitFor();
    expect(await page.getByRole('heading', { name: /Queue/ }).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('keeps what was typed when it is refused, and says why', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByText('Nothing has been downloaded yet.').waitFor();
    await page.keyboard.type('not an address');
    await page.keyboard.press('Enter');
    await page.getByText('This is not an address. It begins with https:// or http://.').waitFor();
    expect(await page.getByLabel('Address of a video').inputValue()).toBe('not an address');
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('tries a failed one again and forgets it', async () => {
    pages.downloads.set('bad', {
      title: 'Gone',
      state: 'failed',
      message: 'The video was removed by its owner.',
      finishedAt: Date.now(),
    });
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByText('The video was removed by its owner.').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Waiting for its start').waitFor();
    pages.downloads.set('bad', { state: 'failed', message: 'Still removed.', finishedAt: Date.now() });
    await page.getByText('Still removed.').waitFor();
    await page.getByRole('button', { name: /Forget/ }).click();
    await page.getByText('Nothing has been downloaded yet.').waitFor();
  });

  it('cancels on a second press, and sees what another window cancels', async () => {
    pages.downloads.set('one', { title: 'One', state: 'downloading', percent: 5 });
    pages.downloads.set('two', { title: 'Two', state: 'waiting' });
    await using visit = await pages.visit('/downloads');
    await using other = await pages.visit('/downloads');
    const row = visit.page.getByRole('listitem').filter({ hasText: 'One' });
    await other.page.getByRole('heading', { name: 'One' }).waitFor();
    await row.getByRole('button', { name: 'Cancel' }).click();
    await row.getByRole('button', { name: 'Cancel this download' }).click();
    await row.waitFor({ state: 'detached' });
    await other.page.getByRole('heading', { name: 'One' }).waitFor({ state: 'detached' });
    expect(await other.page.getByRole('heading', { name: 'Two' }).count()).toBe(1);
  });
});
