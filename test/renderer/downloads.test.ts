import * as engineTexts from '#messages/engine-texts';
import * as downloadsTextsMessages from '#messages/downloads-texts';
import * as downloadsProblemsMessages from '#messages/downloads-problems';
import * as downloadsMessages from '#messages/downloads';
import * as partsMessages from '#messages/parts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Problem } from '../../services/contracts/problem.ts';
import { serviceChanged } from '../../services/contracts/control/api.ts';
import { noBrowser } from '../support/browser.ts';
import { fixtureMedia } from '../support/fixture-site/media.ts';
import { closeToasts } from './toasts.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('Downloads', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  const field = downloadsMessages.addressesOfVideos();

  function row(page: Page, title: string) {
    return page.getByRole('group').getByRole('listitem').filter({ hasText: title });
  }

  function order(page: Page): Promise<string[]> {
    return page.getByRole('listitem').getByRole('heading', { level: 3 }).allTextContents();
  }

  /** Adds five rows to the queue and waits until they are visible. */
  async function five(page: Page): Promise<void> {
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five'])
      pages.downloads.set(name.toLowerCase(), { title: name, state: 'waiting' });
    await page.reload();
    await page.getByRole('heading', { name: 'Five' }).waitFor();
  }

  it('offers the remedy when downloads are not possible', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByText(downloadsMessages.emptyTitle()).waitFor();
    pages.inbox.bus?.publish(serviceChanged, {
      id: 'downloads',
      title: 'Downloads',
      summary: 'Fetches.',
      state: 'degraded',
      detail: '',
      reason: 'nothing can be downloaded until yt-dlp is installed.',
      address: null,
      port: null,
      suggestedPort: null,
      listeners: [],
      grantable: [],
      remedy: { label: engineTexts.install({ engine: 'yt-dlp' }), to: '/settings/engines', adminOnly: true },
    });
    const alert = page.getByRole('alert').filter({ hasText: downloadsTextsMessages.ytDlpRequired() });
    await alert.getByRole('link', { name: engineTexts.install({ engine: 'yt-dlp' }) }).click();
    await page.getByRole('heading', { level: 1, name: downloadsMessages.engines() }).waitFor();
  });

  describe('adding', () => {
    it('adds an address that is typed on arrival and follows it to the file', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await page.getByText(downloadsMessages.emptyTitle()).waitFor();
      await page.keyboard.type('https://videos.example/harbour');
      await page.keyboard.press('Enter');
      await page.getByText(downloadsMessages.preparing()).waitFor();
      expect(await page.getByLabel(field).inputValue()).toBe('');
      pages.downloads.set('added-1', {
        title: 'Harbour at dawn',
        state: 'downloading',
        percent: 62.7,
        stream: 'video',
        speed: 3_140_000,
        eta: 42,
      });
      await page.getByText(downloadsMessages.timeLeft({ time: 'Video 62%, then audio · 3.1 MB/s · 0:42' })).waitFor();
      expect(
        await page
          .getByRole('progressbar', { name: downloadsMessages.progressOfName({ name: 'Harbour at dawn' }) })
          .getAttribute('value'),
      ).toBe('62.7');
      // The row has a chart of the recent speed.
      const curve = row(page, 'Harbour at dawn').locator('svg:has(polyline[points*=" "])');
      await curve.waitFor();
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await curve.isVisible()).toBe(true);
      await page.setViewportSize({ width: 1280, height: 800 });
      pages.downloads.set('added-1', { stream: 'audio', percent: 10 });
      await page.getByText(downloadsMessages.timeLeft({ time: 'Audio 10% · 3.1 MB/s · 0:42' })).waitFor();
      pages.downloads.set('added-1', { state: 'postprocessing', percent: null, activity: { kind: 'merging' } });
      await page.getByText(downloadsTextsMessages.merging()).waitFor();
      pages.downloads.set('added-1', {
        state: 'finished',
        message: null,
        filename: 'Harbour at dawn.mp4',
        size: 12_400_000,
        finishedAt: Date.now(),
      });
      await row(page, 'Harbour at dawn').getByText(/MP4$/).waitFor();
      expect(await row(page, 'Harbour at dawn').textContent()).toContain('12.4 MB');
      expect(await page.getByRole('heading', { name: downloadsMessages.queue() }).count()).toBe(0);
      expect(visit.complaints).toEqual([]);
    });

    it('adds many links with the selected quality and format, which are saved', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await page.getByRole('radio', { name: downloadsMessages.audio() }).check({ force: true });
      await page.getByRole('radio', { name: 'MP3' }).check({ force: true });
      await page
        .getByLabel(field)
        .fill('See https://videos.example/a\nand https://videos.example/b https://videos.example/a');
      await page.getByRole('button', { name: downloadsMessages.download(), exact: true }).click();
      await page.getByRole('heading', { name: 'Queue 2' }).waitFor();
      // Several requests run at the same time.
      expect(pages.downloads.added.toSorted((one, other) => one.url.localeCompare(other.url))).toEqual([
        { url: 'https://videos.example/a', download_type: 'audio', quality: 'best', format: 'mp3' },
        { url: 'https://videos.example/b', download_type: 'audio', quality: 'best', format: 'mp3' },
      ]);
      await page.reload();
      expect(await page.getByRole('radio', { name: 'MP3' }).isChecked()).toBe(true);
    });

    it.each([
      ['a link', { 'text/uri-list': '# a comment\r\nhttps://videos.example/dropped' }],
      ['text with a link in it', { 'text/plain': 'Look: https://videos.example/dropped' }],
      ['a link file', { 'dropped.url': '[InternetShortcut]\r\nURL=https://videos.example/dropped\r\n' }],
    ])('accepts %s that is dropped anywhere', async (_case, data) => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await page.getByText(downloadsMessages.emptyTitle()).waitFor();
      const transfer = await page.evaluateHandle(
        (handle) => {
          const transfer = new DataTransfer();
          for (const [type, text] of Object.entries(handle)) {
            if (type.includes('/')) transfer.setData(type, text);
            else transfer.items.add(new File([text], type));
          }
          return transfer;
        },
        data as Record<string, string>,
      );
      await page.dispatchEvent('h1', 'dragover', { dataTransfer: transfer });
      await page.getByText(downloadsMessages.dropToDownload()).waitFor();
      await page.dispatchEvent('h1', 'drop', { dataTransfer: transfer });
      await page.getByRole('heading', { name: 'https://videos.example/dropped' }).waitFor();
      expect(await page.getByText(downloadsMessages.dropToDownload()).count()).toBe(0);
    });

    it('keeps refused links and shows why', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await page.getByText(downloadsMessages.emptyTitle()).waitFor();
      await page.keyboard.type('not an address');
      await page.keyboard.press('Enter');
      await page.getByText('This is not an address. It begins with https:// or http://.').waitFor();
      expect(await page.getByLabel(field).inputValue()).toBe('not an address');
      expect(besidesRefusals(visit.complaints)).toEqual([]);
    });
  });

  describe('pausing and removing', () => {
    it('pauses and resumes one download, the selected ones and the whole queue', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await five(page);
      pages.downloads.set('one', { state: 'downloading', percent: 30 });
      await row(page, 'One').getByRole('button', { name: 'Pause One' }).click();
      await page.getByText(downloadsMessages.pausedAt({ share: '30%' })).waitFor();
      await row(page, 'One').getByRole('button', { name: 'Resume One' }).click();
      await row(page, 'One').getByText(downloadsMessages.waitingForTurn()).waitFor();
      for (const name of ['Two', 'Four'])
        await page.getByRole('checkbox', { name: downloadsMessages.chooseName({ name }) }).check({ force: true });
      await page.getByRole('button', { name: downloadsMessages.pauseChosen() }).click();
      await expect.poll(() => pages.downloads.all.get('four')?.state).toBe('paused');
      expect(pages.downloads.all.get('three')?.state).toBe('waiting');
      await page.getByRole('button', { name: downloadsMessages.pauseAll() }).click();
      await page.getByText(downloadsMessages.queueIsPaused()).waitFor();
      await row(page, 'Three').getByText(downloadsMessages.waitingForResume()).waitFor();
      await using other = await pages.visit('/downloads');
      await other.page.getByRole('button', { name: downloadsMessages.resumeAll() }).click();
      await page.getByRole('button', { name: downloadsMessages.pauseAll() }).waitFor();
      await row(page, 'Four').getByText(downloadsMessages.waitingForTurn()).waitFor();
      expect(visit.complaints).toEqual([]);
    });

    it('pauses and resumes in the details on a phone', async () => {
      await using visit = await pages.visit('/downloads', screens[0]);
      const { page } = visit;
      await five(page);
      pages.downloads.set('one', { state: 'downloading', percent: 30 });
      await page.getByRole('button', { name: 'One', exact: true }).click();
      const dialog = page.getByRole('dialog', { name: 'One' });
      await dialog.getByRole('button', { name: downloadsMessages.pause() }).click();
      await dialog.getByText(downloadsMessages.pausedAt({ share: '30%' })).waitFor();
      await dialog.getByRole('button', { name: downloadsMessages.resume() }).click();
      await dialog.getByText(downloadsMessages.waitingForTurn()).waitFor();
      expect(visit.complaints).toEqual([]);
    });

    /** Waits for a change of another row, which arrives in the same stream after all former events. */
    async function waitForChange(page: Page, title: string): Promise<void> {
      pages.downloads.set('five', { title });
      await page.getByRole('heading', { name: title }).waitFor();
    }

    it('sends requests in the order of clicks and ignores older events', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await five(page);
      pages.downloads.set('one', { state: 'downloading', percent: 30 });
      const requests: string[] = [];
      const release = Promise.withResolvers<undefined>();
      await page.route(/downloads\/(pause|resume)$/, async (route) => {
        requests.push(new URL(route.request().url()).pathname);
        if (requests.length === 1) await release.promise;
        await route.continue();
      });
      await row(page, 'One').getByRole('button', { name: 'Pause One' }).click();
      await page.getByText(downloadsMessages.pausedAt({ share: '30%' })).waitFor();
      pages.downloads.set('one', { percent: 40 });
      await waitForChange(page, 'Five, once more');
      await page.getByText(downloadsMessages.pausedAt({ share: '40%' })).waitFor();
      await row(page, 'One').getByRole('button', { name: 'Resume One' }).click();
      await row(page, 'One').getByText(downloadsMessages.waitingForTurn()).waitFor();
      pages.downloads.set('one', { percent: 50 });
      await waitForChange(page, 'Five, again');
      await row(page, 'One').getByText(downloadsMessages.waitingForTurn()).waitFor();
      expect(requests).toEqual(['/api/downloads/pause']);
      release.resolve(undefined);
      await expect.poll(() => pages.downloads.all.get('one')?.state).toBe('waiting');
      expect(requests).toEqual(['/api/downloads/pause', '/api/downloads/resume']);
      await waitForChange(page, 'Five at last');
      await row(page, 'One').getByText(downloadsMessages.waitingForTurn()).waitFor();
      expect(visit.complaints).toEqual([]);
    });

    it('shows changes by another client after the request is answered', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await five(page);
      pages.downloads.set('one', { state: 'downloading', percent: 30 });
      const release = Promise.withResolvers<undefined>();
      await page.route(/downloads\/pause$/, async (route) => {
        const response = await route.fetch();
        await release.promise;
        await route.fulfill({ response });
      });
      await page.getByRole('button', { name: downloadsMessages.pauseAll() }).click();
      await expect.poll(() => pages.downloads.all.get('one')?.state).toBe('paused');
      await using other = await pages.visit('/downloads');
      await other.page.getByRole('button', { name: downloadsMessages.resumeAll() }).click();
      await expect.poll(() => pages.downloads.all.get('one')?.state).toBe('waiting');
      await waitForChange(page, 'Five, once more');
      await page.getByText(downloadsMessages.queueIsPaused()).waitFor();
      release.resolve(undefined);
      await page.getByRole('button', { name: downloadsMessages.pauseAll() }).waitFor();
      await row(page, 'One').getByText(downloadsMessages.waitingForTurn()).waitFor();
      expect(visit.complaints).toEqual([]);
    });

    it('removes downloads with an undo, and permanently without it', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await five(page);
      const remove = async (name: string): Promise<void> => {
        await page.getByRole('button', { name: downloadsMessages.moreForName({ name }) }).click();
        await page.getByRole('menuitem', { name: downloadsMessages.remove() }).click();
        await row(page, name).waitFor({ state: 'detached' });
      };
      await remove('Two');
      await page.getByRole('button', { name: partsMessages.undo() }).click();
      await row(page, 'Two').waitFor();
      expect(await order(page)).toEqual(['One', 'Two', 'Three', 'Four', 'Five']);
      await remove('Three');
      const remaining = (): readonly string[] => [...pages.downloads.all.keys()];
      await expect.poll(() => closeToasts(page).then(remaining)).toEqual(['one', 'two', 'four', 'five']);
    });
  });

  describe('moving', () => {
    it('moves a row or all selected rows by mouse', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await five(page);
      const drag = async (from: string, to: string): Promise<void> => {
        const start = await page
          .getByRole('button', { name: downloadsMessages.moveName({ name: from }) })
          .boundingBox();
        const end = await row(page, to).boundingBox();
        if (start === null || end === null) throw new Error('a row is not drawn');
        await page.mouse.move(start.x + 10, start.y + 30);
        await page.mouse.down();
        await page.mouse.move(start.x + 20, end.y + 10, { steps: 5 });
        await page.locator('.slot.before').waitFor();
        await page.mouse.up();
      };
      await drag('Four', 'Two');
      expect(await order(page)).toEqual(['One', 'Four', 'Two', 'Three', 'Five']);
      await expect.poll(() => pages.downloads.moves).toEqual([{ uids: ['four'], before: 'two' }]);
      for (const name of ['Three', 'Five'])
        await page.getByRole('checkbox', { name: downloadsMessages.chooseName({ name }) }).check({ force: true });
      await drag('Five', 'One');
      expect(await order(page)).toEqual(['Three', 'Five', 'One', 'Four', 'Two']);
      await page.getByText(downloadsMessages.moved({ place: 1, count: 5 })).waitFor({ state: 'attached' });
    });

    it('moves rows by touch', async () => {
      await using visit = await pages.visit('/downloads', { width: 360, height: 740, touch: true });
      const { page } = visit;
      await five(page);
      await page.getByRole('button', { name: downloadsMessages.reorder() }).click();
      const start = await page
        .getByRole('button', { name: downloadsMessages.moveName({ name: 'Three' }) })
        .boundingBox();
      const end = await row(page, 'One').filter({ hasText: downloadsMessages.waitingForTurn() }).boundingBox();
      if (start === null || end === null) throw new Error('a row is not drawn');
      const session = await page.context().newCDPSession(page);
      const touch = async (type: 'touchStart' | 'touchMove' | 'touchEnd', y?: number): Promise<void> => {
        const touchPoints = y === undefined ? [] : [{ x: start.x + 10, y }];
        await session.send('Input.dispatchTouchEvent', { type, touchPoints });
      };
      await touch('touchStart', start.y + 20);
      await touch('touchMove', start.y - 30);
      await touch('touchMove', end.y + 10);
      await page.locator('.slot.before').waitFor();
      await touch('touchEnd');
      await expect.poll(() => pages.downloads.moves).toEqual([{ uids: ['three'], before: 'one' }]);
      expect(await order(page)).toEqual(['Three', 'One', 'Two', 'Four', 'Five']);
      await page.getByRole('button', { name: downloadsMessages.done() }).click();
      await page.getByRole('button', { name: 'Pause One' }).waitFor();
    });

    it('announces the position at each keyboard step and cancels the move', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await five(page);
      const handle = page.getByRole('button', { name: downloadsMessages.moveName({ name: 'Two' }) });
      await handle.focus();
      await page.keyboard.press('Space');
      await page
        .getByText(downloadsMessages.lifted({ name: 'Two', place: 2, count: 5 }))
        .waitFor({ state: 'attached' });
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowDown');
      await page
        .getByText(downloadsMessages.place({ place: 4, count: 5 }), { exact: true })
        .waitFor({ state: 'attached' });
      expect(await order(page)).toEqual(['One', 'Three', 'Four', 'Two', 'Five']);
      expect(pages.downloads.moves).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await order(page)).toEqual(['One', 'Two', 'Three', 'Four', 'Five']);
      await page.keyboard.press('Space');
      await page.keyboard.press('Home');
      await page.keyboard.press('Space');
      await page
        .getByText(downloadsMessages.putDown({ name: 'Two', place: 1, count: 5 }))
        .waitFor({ state: 'attached' });
      await expect.poll(() => pages.downloads.moves).toEqual([{ uids: ['two'], before: 'one' }]);
      expect(await handle.evaluate((element) => element === document.activeElement)).toBe(true);
    });

    it('restores the order and shows why when the API refuses the move', async () => {
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await five(page);
      pages.downloads.refusal = new Problem('downloads.no_such_place', 409, 'It went away meanwhile.');
      await page.getByRole('button', { name: downloadsMessages.moreForName({ name: 'Five' }) }).click();
      await page.getByRole('menuitem', { name: downloadsMessages.toTop() }).click();
      await page.getByText('It went away meanwhile.').waitFor();
      expect(await order(page)).toEqual(['One', 'Two', 'Three', 'Four', 'Five']);
    });

    it('updates the other window after a move', async () => {
      await using visit = await pages.visit('/downloads');
      await five(visit.page);
      await using other = await pages.visit('/downloads');
      await other.page.getByRole('heading', { name: 'Five' }).waitFor();
      await visit.page.getByRole('button', { name: downloadsMessages.moreForName({ name: 'Five' }) }).click();
      await visit.page.getByRole('menuitem', { name: downloadsMessages.toTop() }).click();
      await expect.poll(() => order(other.page)).toEqual(['Five', 'One', 'Two', 'Three', 'Four']);
    });
  });

  describe('the history', () => {
    it('shows advice about a failure and retries', async () => {
      pages.downloads.set('bad', {
        title: 'Gone',
        state: 'failed',
        finishedAt: Date.now(),
        message: 'ERROR: [generic] x: Unable to download webpage: HTTP Error 404: Not Found',
      });
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await page.getByText(downloadsProblemsMessages.videoNotFound()).waitFor();
      await page.getByRole('button', { name: 'Gone', exact: true }).click();
      await page.getByText('x: Unable to download webpage: HTTP Error 404: Not Found').waitFor();
      await page.keyboard.press('Escape');
      await row(page, 'Gone').getByRole('button', { name: downloadsMessages.tryAgain() }).click();
      await page.getByText(downloadsMessages.waitsForStart()).waitFor();
    });

    it('searches through the API by a URL that can be bookmarked', async () => {
      for (const title of ['Harbour', 'Lighthouse'])
        pages.downloads.set(title, { title, state: 'finished', filename: `${title}.mp4`, finishedAt: 1 });
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      await page.getByLabel(downloadsMessages.searchTheHistory()).fill('light');
      await row(page, 'Harbour').waitFor({ state: 'detached' });
      await page.waitForURL('**/downloads?q=light');
      expect(await order(page)).toEqual(['Lighthouse']);
      await page.getByLabel(downloadsMessages.searchTheHistory()).fill('nothing like it');
      await page.getByText(downloadsMessages.noSearchResult()).waitFor();
    });

    it('plays a file in the page, by ranges, and offers it for saving', async () => {
      pages.downloads.film = `${await fixtureMedia()}/vp9.webm`;
      pages.downloads.set('film', { title: 'Film', state: 'finished', filename: 'film.webm', size: 9, finishedAt: 1 });
      await using visit = await pages.visit('/downloads');
      const { page } = visit;
      const responsePromise = page.waitForResponse((response) => response.url().endsWith('/api/downloads/film/file'));
      await page.getByRole('button', { name: 'Play Film' }).click();
      expect((await responsePromise).status()).toBe(206);
      await expect
        .poll(() => page.locator('video').evaluate((video: HTMLVideoElement) => video.duration))
        .toBeGreaterThan(3);
      const saving = page.waitForEvent('download');
      await page.getByRole('link', { name: downloadsMessages.saveFile() }).click();
      expect((await saving).suggestedFilename()).toBe('film.webm');
      await expect.poll(() => new URL(page.url()).pathname).toBe('/downloads/queue/film');
      expect(visit.complaints).toEqual([]);
    });

    it('fills in the link of the desktop app without adding it', async () => {
      await using visit = await pages.visit('/downloads?add=https%3A%2F%2Fvideos.example%2Fv');
      await expect.poll(() => visit.page.locator('textarea').first().inputValue()).toBe('https://videos.example/v');
      expect(pages.downloads.all.has('added-1')).toBe(false);
    });

    it('opens the folder in the desktop app', async () => {
      pages.downloads.set('film', { title: 'Film', state: 'finished', filename: 'film.xyz', finishedAt: 1 });
      await using visit = await pages.visit('/');
      const { page } = visit;
      await page.addInitScript(() => {
        const revealedUids: string[] = [];
        Object.assign(globalThis, {
          shown: revealedUids,
          bridge: { showDownload: ({ uid }: { uid: string }) => Promise.resolve(revealedUids.push(uid) > 0) },
        });
      });
      await page.goto(`${pages.url}/downloads`);
      await page.getByRole('button', { name: downloadsMessages.moreForName({ name: 'Film' }) }).click();
      await page.getByRole('menuitem', { name: downloadsMessages.openFolder() }).click();
      expect(await page.evaluate(() => (globalThis as unknown as { shown: string[] }).shown)).toEqual(['film']);
    });
  });

  it('keeps rows under the pointer in place and moves them afterwards', async () => {
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await five(page);
    await page.getByRole('heading', { name: 'Two' }).hover();
    pages.downloads.set('one', { state: 'finished', filename: 'one.mp4', finishedAt: 1 });
    pages.downloads.set('six', { title: 'Six', state: 'waiting' });
    await row(page, 'One').getByText('MP4', { exact: true }).waitFor({ state: 'attached' });
    expect(await order(page)).toEqual(['One', 'Two', 'Three', 'Four', 'Five']);
    await page.mouse.move(5, 5);
    await expect.poll(() => order(page)).toEqual(['Two', 'Three', 'Four', 'Five', 'Six', 'One']);
    expect(visit.complaints).toEqual([]);
  });

  it('renders only the visible ones of a thousand rows and keeps the scroll position during changes', async () => {
    for (let index = 0; index < 1000; index += 1)
      pages.downloads.all.set(`d${index}`, { ...sample(`d${index}`), title: `Video ${index}`, state: 'waiting' });
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    await page.getByRole('heading', { name: 'Queue 1000' }).waitFor();
    const frame = page.getByRole('group', { name: downloadsMessages.listLabel() });
    await frame.evaluate((element) => (element.scrollTop = 30_000));
    await page.getByRole('heading', { name: 'Video 420', exact: true }).waitFor();
    expect(await page.getByRole('listitem').count()).toBeLessThan(60);
    for (let count = 0; count < 100; count += 1)
      pages.downloads.set(`d${count}`, { state: 'downloading', percent: count });
    pages.downloads.set('d420', { title: 'Changed' });
    await page.getByRole('heading', { name: 'Changed' }).waitFor();
    expect(await frame.evaluate((element) => element.scrollTop)).toBe(30_000);
    expect(visit.complaints).toEqual([]);
  });

  it('leaves rows that stay visible unchanged while the list is scrolled', async () => {
    for (let index = 0; index < 1000; index += 1)
      pages.downloads.all.set(`d${index}`, { ...sample(`d${index}`), title: `Video ${index}`, state: 'waiting' });
    await using visit = await pages.visit('/downloads');
    const { page } = visit;
    const frame = page.getByRole('group', { name: downloadsMessages.listLabel() });
    await frame.evaluate((element) => (element.scrollTop = 30_000));
    await page.getByRole('heading', { name: 'Video 420', exact: true }).waitFor();
    const changes = await frame.evaluate(async (element) => {
      const rows = [...element.querySelectorAll('li')];
      const observer = new MutationObserver(() => undefined);
      for (const row of rows)
        observer.observe(row, { attributes: true, characterData: true, childList: true, subtree: true });
      const getLast = () => element.querySelector('li:last-child')?.getAttribute('aria-posinset');
      const last = getLast();
      element.scrollTop += 3 * (rows[0]?.offsetHeight ?? 0);
      // The list renders further rows after the scroll event.
      while (getLast() === last) await new Promise(requestAnimationFrame);
      const staying = rows.filter((row) => row.isConnected);
      const changed = observer.takeRecords().filter(({ target }) => staying.some((row) => row.contains(target)));
      return { staying: staying.length, changed: changed.length };
    });
    expect(changes.staying).toBeGreaterThan(10);
    expect(changes.changed).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('scrolls with the page on a phone and renders only the visible rows', async () => {
    for (let index = 0; index < 1000; index += 1)
      pages.downloads.all.set(`d${index}`, { ...sample(`d${index}`), title: `Video ${index}`, state: 'waiting' });
    await using visit = await pages.visit('/downloads', { width: 360, height: 740, touch: true });
    const { page } = visit;
    await page.getByRole('heading', { name: 'Queue 1000' }).waitFor();
    await page.evaluate(() => scrollTo(0, 40_000));
    await page.getByRole('heading', { name: 'Video 415', exact: true }).waitFor();
    expect(await page.getByRole('listitem').count()).toBeLessThan(60);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.getByRole('heading', { name: 'Video 999', exact: true }).waitFor();
    expect(visit.complaints).toEqual([]);
  });
});

function sample(uid: string) {
  return {
    uid,
    url: `https://videos.example/${uid}`,
    quality: 'best',
    format: 'any',
    percent: null,
    stream: null,
    speed: null,
    eta: null,
    size: null,
    filename: null,
    message: null,
    thumbnail: false,
    createdAt: 1,
    finishedAt: null,
  };
}
